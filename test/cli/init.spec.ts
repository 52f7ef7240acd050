// The project that `rhythm init` writes compiles under strict TypeScript, and a worker runs it.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../support/index.js';
import { compiledPackage } from './compiled-package.js';
import { rhythm, startRhythm } from './spawn-cli.js';

const database = useTestDatabase();
let folder: string;
let home: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rhythm-init-'));
  home = join(folder, 'My App');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('rhythm init', () => {
  it('writes a project and prints what to do next', async () => {
    const { code, out, err } = await rhythm(['init', 'My App'], { cwd: folder });
    expect(code).toBe(0);
    expect(out.trim().split('\n')).toEqual(
      [
        'package.json',
        'tsconfig.json',
        '.gitignore',
        'rhythm.toml',
        'flows/greeting.flow',
        'src/app.module.ts',
        'src/greeting.tasks.ts',
      ].map((file) => `written  My App/${file}`),
    );
    expect(err).toMatch(/Next:\n {2}cd My App\n {2}npm install\n/);
    const { name, dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect({ name, rhythm: dependencies['nestjs-rhythm'] }).toEqual({ name: 'my-app', rhythm: `^${version}` });
  });

  it('takes the package from where --package says, relative to the new folder', async () => {
    writeFileSync(join(folder, 'rhythm.tgz'), '');
    const { code, err } = await rhythm(['init', 'apps/one', '--package', 'file:rhythm.tgz'], { cwd: folder });
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('npm install\n') });
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'apps/one/package.json'), 'utf8'));
    expect(dependencies['nestjs-rhythm']).toBe('file:../../rhythm.tgz');
    const again = await rhythm(['init', 'apps/one', '--package', 'file:rhythm.tgz'], { cwd: folder });
    expect(again.err).toContain('npm install nestjs-rhythm@file:../../rhythm.tgz @nestjs/common');
    expect(await rhythm(['init', 'apps/two', '--package', 'file:gone.tgz'], { cwd: folder })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--package: .*gone\.tgz does not exist/),
    });
  });

  it('keeps existing files', async () => {
    writeFileSync(join(home, 'flows/greeting.flow'), `${readFileSync(join(home, 'flows/greeting.flow'), 'utf8')}// mine\n`);
    const { out, err } = await rhythm(['init'], { cwd: home });
    expect(out).not.toContain('written');
    expect(out).toContain('kept     flows/greeting.flow');
    expect(err).toContain('npm install nestjs-rhythm @nestjs/common');
    expect(readFileSync(join(home, 'flows/greeting.flow'), 'utf8')).toMatch(/\/\/ mine\n$/);
  });

  it('writes flows that compile and settings that are valid', async () => {
    expect(await rhythm(['check', 'flows'], { cwd: home })).toMatchObject({ code: 0, err: 'No errors in 1 file.\n' });
    const { out } = await rhythm(['doctor', '--config'], { cwd: home });
    expect(out).toMatch(/^database\.url +embedded +database\.url in .*rhythm\.toml$/m);
  });

  it('writes code that compiles under strict TypeScript and runs', async () => {
    const modules = join(home, 'node_modules');
    mkdirSync(modules);
    for (const name of ['@nestjs', '@types', 'reflect-metadata', 'rxjs', 'typeorm'])
      symlinkSync(resolve('node_modules', name), join(modules, name));
    symlinkSync(compiledPackage(), join(modules, 'nestjs-rhythm'));
    const paths = { 'nestjs-rhythm': [resolve('src/index.ts')] };
    writeFileSync(
      join(home, 'tsconfig.spec.json'),
      JSON.stringify({ extends: './tsconfig.json', compilerOptions: { paths, lib: ['ES2023'], noEmit: true, rootDir: '/' } }),
    );
    const tsc = (...args: string[]) =>
      spawnSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), ...args], { cwd: home, encoding: 'utf8' });
    // Only errors in the project's own files; the package is checked elsewhere.
    expect(
      tsc('-p', 'tsconfig.spec.json')
        .stdout.split('\n')
        .filter((line) => line.startsWith('src/')),
    ).toEqual([]);
    expect(tsc('-p', '.', '--noCheck')).toMatchObject({ status: 0, stdout: '' });

    const env = { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema };
    const worker = startRhythm(['worker', 'dist/app.module.js', '--json'], { cwd: home, env });
    await worker.prints(/\{"ok":true,"command":"worker","data":\{"pid":\d+,"ready":true\}\}/);
    const { code, out } = await rhythm(['start', 'greeting', '--input', '{"name":"Ada"}', '--wait', '20s'], { cwd: home, env });
    expect([code, JSON.parse(out)]).toEqual([0, { greeting: 'Hello, Ada', workflow: 'greeting' }]);
    worker.signal('SIGINT');
    expect(await worker.ended).toMatchObject({
      code: 130,
      out: expect.stringMatching(/^\{.*\}\n$/),
      err: expect.stringMatching(/Worker \S+ serves queue "default"\./),
    });
  }, 120_000);

  it('writes an app that also runs from CommonJS, by the name of an export', async () => {
    writeFileSync(
      join(home, 'app.cjs'),
      `const { AppModule } = require('./dist/app.module.js');\nmodule.exports = { Root: AppModule, port: 3000 };\n`,
    );
    const env = { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema };
    expect(await rhythm(['worker', 'app.cjs', '--module', 'Rot'], { cwd: home, env })).toMatchObject({
      code: 2,
      err: expect.stringContaining('exports no Nest module named "Rot". Modules it exports: "Root". Choose one with --module.'),
    });
    for (const more of [[], ['--module', 'Root']]) {
      const worker = startRhythm(['worker', 'app.cjs', ...more], { cwd: home, env });
      await worker.prints(/Worker ready/);
      worker.signal('SIGTERM');
      expect((await worker.ended).code).toBe(0);
    }
  });
});
