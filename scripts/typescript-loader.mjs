// Lets a script import our TypeScript as it stands: swc strips the types, `.js` endings find their `.ts` files.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

export async function resolve(specifier, context, next) {
  const ours = specifier.startsWith('.') && specifier.endsWith('.js') && !context.parentURL?.includes('/node_modules/');
  if (!ours) return next(specifier, context);
  try {
    return await next(`${specifier.slice(0, -3)}.ts`, context);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return next(specifier, context);
  }
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context);
  const file = fileURLToPath(url);
  const { code } = await transform(await readFile(file, 'utf8'), {
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
