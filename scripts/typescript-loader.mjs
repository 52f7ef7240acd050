// Module hooks that let a script import our TypeScript without a build: swc strips the types, `.js` resolves to `.ts`. See register-typescript.mjs.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const swc = JSON.parse(readFileSync(new URL('../.swcrc', import.meta.url), 'utf8'));

// The hooks return what `next` returns, a value (registerHooks) or a promise (register), without looking at it.
export function resolve(specifier, context, next) {
  const isOurs =
    specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL && !context.parentURL.includes('/node_modules/');
  if (!isOurs) return next(specifier, context);
  const typescript = new URL(`${specifier.slice(0, -3)}.ts`, context.parentURL);
  return next(existsSync(typescript) ? typescript.href : specifier, context);
}

export function load(url, context, next) {
  if (!url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context);
  const file = fileURLToPath(url);
  const { code } = transformSync(readFileSync(file, 'utf8'), { ...swc, filename: file, sourceMaps: 'inline', swcrc: false });
  return { format: 'module', source: code, shortCircuit: true };
}
