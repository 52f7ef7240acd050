// The lock file must serve every user: any registry, any platform.
import { readFileSync } from 'node:fs';

/** What is wrong with package-lock.json, in words. */
export function lockfileProblems(root) {
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
  const addresses = Object.entries(packages)
    .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
    .map(([name]) => `${name} names the address of a registry. Run npm install again (.npmrc sets omit-lockfile-registry-resolved).`);
  const missing = Object.entries(packages).flatMap(([name, entry]) =>
    Object.keys(entry.optionalDependencies ?? {})
      .filter((wanted) => !has(packages, name, wanted))
      .map(
        (wanted) =>
          `${name} wants ${wanted}, which is not in the lock file: npm ci would fail. Take a version all of whose parts can be had.`,
      ),
  );
  return [...addresses, ...missing].map((problem) => `package-lock.json: ${problem}`);
}

/** Is it installed beside or above the one who wants it? */
function has(packages, from, wanted) {
  for (let at = from; ; at = at.includes('/node_modules/') ? at.slice(0, at.lastIndexOf('/node_modules/')) : '') {
    if (`${at === '' ? '' : `${at}/`}node_modules/${wanted}` in packages) return true;
    if (at === '') return false;
  }
}
