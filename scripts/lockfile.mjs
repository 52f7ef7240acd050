// Checks that package-lock.json works for every user: with any registry, on any platform.
import { readFileSync } from 'node:fs';

/** The problems of package-lock.json. */
export function lockfileProblems(root) {
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
  const addresses = Object.entries(packages)
    .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
    .map(([name]) => `${name} has the URL of a registry. Run npm install again (.npmrc sets omit-lockfile-registry-resolved).`);
  const missing = Object.entries(packages).flatMap(([name, entry]) =>
    Object.keys(entry.optionalDependencies ?? {})
      .filter((dependency) => !isInstalled(packages, name, dependency))
      .map(
        (dependency) =>
          `${name} needs ${dependency}, which is not in the lock file: npm ci would fail. Use a version whose dependencies are all published.`,
      ),
  );
  return [...addresses, ...missing].map((problem) => `package-lock.json: ${problem}`);
}

/** Whether a dependency of `from` is in its own node_modules or in those of a folder above. */
function isInstalled(packages, from, dependency) {
  for (let at = from; ; at = at.includes('/node_modules/') ? at.slice(0, at.lastIndexOf('/node_modules/')) : '') {
    if (`${at === '' ? '' : `${at}/`}node_modules/${dependency}` in packages) return true;
    if (at === '') return false;
  }
}
