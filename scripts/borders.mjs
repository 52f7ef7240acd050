// Checks which room may import what: reads the imports of every file with TypeScript's parser and explains each violation.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

// What every folder of src may use besides its own files.
const SHARED = ['check-argument.ts', 'duration.ts', 'errors.ts', 'nearest.ts', 'module-options.ts', 'provided-values.ts'];

/** Folders of src, and which others (or files of them) each may use. Its files outside of folders may use them all. */
const FOLDERS = {
  config: [],
  database: ['config'],
  events: ['config'],
  flows: ['config', 'database'],
  tasks: ['config'],
  execution: ['config', 'database', 'events', 'flows', 'tasks'],
  signal: ['config', 'database', 'events'],
  scheduler: ['execution'],
  http: [],
  boot: ['config', 'database', 'flows', 'tasks'],
  worker: ['boot', 'config', 'database', 'events', 'flows', 'tasks'],
  // The command line is a user of the services, and of the settings.
  cli: [
    'rhythm.module.ts',
    'config',
    'database/database.host.ts',
    'database/refused-boot.ts',
    'database/unreachable.ts',
    'events',
    'execution/execution.ts',
    'execution/execution.service.ts',
    'execution/inspect-run.ts',
    'execution/list-page.ts',
    'execution/start-options.ts',
    'execution/target.resolver.ts',
    'flows/allow-list-change.ts',
    'flows/definition.service.ts',
    'flows/flow-files.ts',
    'flows/flow.registry.ts',
    'signal/signal.service.ts',
    'tasks/task-decorator.ts',
    'tasks/task.registry.ts',
  ],
};

// What every folder of libs/flow may use: plain types, limits and names that belong to no folder.
const FLOW_SHARED = ['call-options.ts', 'duration.ts', 'error-kinds.ts', 'errors.ts', 'limits.ts', 'nearest-name.ts', 'turn.ts'];

/** Folders of libs/flow, in the order in which a source passes through them. */
const FLOW_FOLDERS = {
  diagnostics: [],
  parse: ['diagnostics'],
  check: ['diagnostics', 'parse'],
  scope: ['diagnostics', 'parse'],
  compile: ['diagnostics', 'parse', 'scope'],
  // The one cycle: the registry merges the built-ins, and the built-ins use the machine.
  vm: ['builtins/index.ts', 'compile', 'diagnostics'],
  builtins: ['vm'],
  snapshot: ['compile', 'vm'],
};

/**
 * For each room, the doors of other rooms and the packages that it may use. `built` rooms are published as ESM and as CommonJS.
 * Specs may also use the test kit and any package.
 */
const ROOMS = {
  'libs/flow': {
    doors: [],
    packages: ['moo', 'nearley'],
    folders: FLOW_FOLDERS,
    shared: FLOW_SHARED,
    built: true,
    why: 'the language is pure and synchronous: no Nest, no database, no clock, not even node: modules, so that a turn can be repeated anywhere',
  },
  'libs/errors': {
    doors: [],
    packages: [],
    built: true,
    why: 'the other rooms extend its error class, so it may not depend on them',
  },
  'libs/store': {
    doors: ['libs/errors/index.ts', 'migrations/index.ts'],
    refused: /^@nestjs\//,
    built: true,
    why: 'the store depends on PostgreSQL and nothing else: no Nest and no flow, so that it can be read, measured and used alone',
  },
  'libs/isolation': {
    doors: ['libs/errors/index.ts', 'libs/flow/index.ts', 'libs/flow/runtime.ts'],
    packages: [],
    node: true,
    built: true,
    why: 'the process that runs code nobody trusts loads the language and nothing else: no Nest, no database driver',
  },
  'libs/engine': {
    doors: ['libs/errors/index.ts', 'libs/flow/index.ts', 'libs/isolation/index.ts', 'libs/store/index.ts'],
    refused: /^(@nestjs\/|pg$)/,
    built: true,
    noSql: true,
    why: 'the engine takes what it needs from the app through interfaces and leaves SQL to the store, so that it runs without Nest',
  },
  'libs/embedded': {
    doors: ['libs/errors/index.ts'],
    packages: ['pg'],
    node: true,
    built: true,
    why: 'the server from npm must be usable without the other rooms',
  },
  migrations: {
    doors: [],
    packages: ['typeorm'],
    built: true,
    why: 'a migration must keep its meaning, so it imports no code of ours that could change',
  },
  src: {
    doors: [
      'libs/embedded/index.ts',
      'libs/engine/index.ts',
      'libs/errors/index.ts',
      'libs/flow/index.ts',
      'libs/isolation/index.ts',
      'libs/store/index.ts',
    ],
    folders: FOLDERS,
    shared: SHARED,
    built: true,
    noSql: true,
    why: 'the module uses the rooms below through their doors, so that the code behind a door can change',
  },
  'sample-app': {
    doors: ['src/index.ts'],
    why: 'the sample uses the package as its users do: through its public entry',
  },
  test: { doors: ['*'], why: '' },
  bench: { doors: ['*'], why: '' },
};

const SQL =
  /^\s*(select\b[\s\S]+\bfrom\b|insert\s+into\b|update\s+\S+\s+set\b|delete\s+from\b|(create|alter|drop)\s+(table|index|schema|database|view)\b|with\s+\w+\s+as\s*\()/i;

/** Every violation in the tree under `root`, as `{ file, line, message }`. */
export function findViolations(root) {
  const found = [];
  for (const [room, rules] of Object.entries(ROOMS)) {
    for (const file of sourcesIn(join(root, room))) inspect(root, room, rules, file, found);
  }
  return found;
}

function inspect(root, room, rules, file, found) {
  const name = toName(root, file);
  const source = ts.createSourceFile(name, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const spec = /\.spec\.ts$/.test(name);
  const report = (node, message) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push({ file: name, line: line + 1, message });
  };

  const visit = (node) => {
    const target = importedBy(node);
    if (target) {
      const message = target.text.startsWith('.')
        ? judgeFile(root, room, rules, file, target.text, spec)
        : judgePackage(root, room, rules, target.text, spec);
      if (message) report(node, message);
    }
    if (rules.built && !spec) {
      const message = judgeModuleSyntax(node);
      if (message) report(node, message);
    }
    if (
      rules.noSql &&
      !spec &&
      (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateHead(node)) &&
      SQL.test(node.text)
    ) {
      report(node, `${room} must not contain SQL: put each statement in its own file in libs/store, with the reason for its shape.`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function judgeFile(root, room, rules, file, specifier, spec) {
  const target = relative(root, resolve(dirname(file), specifier))
    .split(sep)
    .join('/');
  if (!/\.(js|mjs|json)$/.test(specifier)) return `'${specifier}' needs its extension: write '${specifier}.js' (required by ESM in Node).`;
  const asSource = target.replace(/\.js$/, '.ts');
  if (asSource.startsWith(`${room}/`)) return spec ? null : judgeFolder(room, rules, toName(root, file), asSource);
  if (spec && (asSource.startsWith('test/') || asSource === 'migrations/index.ts')) return null;
  if (rules.doors.includes('*') || rules.doors.includes(asSource)) return null;
  const owner = Object.keys(ROOMS).find((other) => asSource.startsWith(`${other}/`));
  if (!owner) return `${room} may not import ${asSource}: it is outside every room.`;
  const door = rules.doors.find((candidate) => candidate.startsWith(`${owner}/`));
  if (door) return `${room} may use ${owner} only through its door ${door}, not ${asSource}: ${rules.why}.`;
  const allowed = rules.doors.length > 0 ? `it may use ${rules.doors.join(' and ')}` : 'it may use no other room';
  return `${room} may not import from ${owner} (${asSource}); ${allowed}: ${rules.why}.`;
}

function judgeFolder(room, { folders, shared }, from, target) {
  const [folder, ...rest] = from.slice(room.length + 1).split('/');
  if (!folders || rest.length === 0) return null;
  const allowed = folders[folder];
  if (!allowed) return `${room}/${folder} has no row in the table of folders in scripts/borders.mjs: say there which folders it may use.`;
  const inside = target.slice(room.length + 1);
  const fits = (entry) => inside === entry || inside.startsWith(`${entry}/`);
  if ([folder, ...shared, ...allowed].some(fits)) return null;
  const list = allowed.length > 0 ? `${allowed.join(', ')}` : 'no other folder';
  return `${room}/${folder} may not import ${target}; it may use ${list} (scripts/borders.mjs), so that no two folders depend on each other.`;
}

function judgePackage(root, room, rules, specifier, spec) {
  if (!rules.built || spec) return null;
  const name = specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : specifier.split('/')[0];
  if (rules.packages && !rules.packages.includes(name) && !(rules.node && specifier.startsWith('node:'))) {
    return `${room} may import ${rules.packages.length > 0 ? `only ${rules.packages.join(' and ')}` : 'no package'}, not '${specifier}': ${rules.why}.`;
  }
  if (rules.refused?.test(name)) return `${room} may not import '${specifier}': ${rules.why}.`;
  if (specifier.startsWith('node:')) return null;
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (name in dependencies || name in peerDependencies) return null;
  return `${room} is published and imports '${specifier}', which is missing in dependencies and peerDependencies of package.json: users would not have it.`;
}

function judgeModuleSyntax(node) {
  if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword) {
    return 'import.meta does not exist in the CommonJS build of this file.';
  }
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'require') {
    return 'require does not exist in the ESM build of this file: write import.';
  }
  if (ts.isAwaitExpression(node) && !insideFunction(node)) return 'await at the top level cannot be built as CommonJS.';
  return null;
}

function insideFunction(node) {
  for (let at = node.parent; at; at = at.parent) if (ts.isFunctionLike(at)) return true;
  return false;
}

/** The module specifier of an import, a re-export, `import(…)` or `import('…').Type`. */
function importedBy(node) {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) return node.moduleSpecifier;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return textOf(node.arguments[0]);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return textOf(node.argument.literal);
  return null;
}

function textOf(node) {
  return node && ts.isStringLiteralLike(node) ? node : null;
}

function sourcesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (name === 'node_modules' || name === 'dist') return [];
    if (statSync(path).isDirectory()) return sourcesIn(path);
    return /\.(ts|mts|cts)$/.test(name) && !name.endsWith('.d.ts') ? [path] : [];
  });
}

function toName(root, file) {
  return relative(root, file).split(sep).join('/');
}
