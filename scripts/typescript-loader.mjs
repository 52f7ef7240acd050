// Lets a script import our TypeScript as it stands: swc strips the types, `.js` endings find their `.ts` files. See register-typescript.mjs.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

// The hooks return what `next` returns, a value (registerHooks) or a promise (register), without looking at it.
export function resolve(specifier, context, next) {
  const ours = specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL && !context.parentURL.includes('/node_modules/');
  if (!ours) return next(specifier, context);
  const typescript = new URL(`${specifier.slice(0, -3)}.ts`, context.parentURL);
  return next(existsSync(typescript) ? typescript.href : specifier, context);
}

export function load(url, context, next) {
  if (!url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context);
  const file = fileURLToPath(url);
  const { code } = transformSync(readFileSync(file, 'utf8'), {
    filename: file,
    sourceMaps: 'inline',
    module: { type: 'es6' },
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      keepClassNames: true,
    },
    swcrc: false,
  });
  return { format: 'module', source: code, shortCircuit: true };
}
