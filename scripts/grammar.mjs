// Checks that the generated parser matches grammar.ne.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Null if it does (or if there is no grammar); otherwise what to do. */
export function grammarDiffers(root) {
  const source = new URL('libs/flow/parse/grammar.ne', root);
  const generated = new URL('libs/flow/parse/grammar.ts', root);
  if (!existsSync(source)) return null;
  const compiler = new URL('node_modules/nearley/bin/nearleyc.js', root);
  const fresh = execFileSync(process.execPath, [compiler, source].map(toPath), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (existsSync(generated) && plain(readFileSync(generated, 'utf8')) === plain(fresh)) return null;
  return 'libs/flow/parse/grammar.ts is not what libs/flow/parse/grammar.ne generates. Run: npm run grammar, and commit both.';
}

function toPath(url) {
  return decodeURIComponent(url.pathname);
}

function plain(text) {
  return text.replaceAll('\r\n', '\n').trim();
}
