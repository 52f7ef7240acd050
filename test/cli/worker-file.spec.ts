// The files that `rhythm worker` accepts, and its errors for others; as real processes, since jest would load TypeScript that Node refuses.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { rhythm } from './spawn-cli.js';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const BUILD_FIRST =
  /\.module\.ts is TypeScript that Node v[\d.]+ cannot run \(.+\)\. Build it first and give the JavaScript, e\.g\. dist\/app\.module\.js\.\n/;

describe('rhythm worker', () => {
  it.each([
    [['worker', 'dist/gone.module.js'], /gone\.module\.js does not exist\. Give the built JavaScript/],
    [['worker', 'sample-app/app.module.ts'], BUILD_FIRST],
    [['worker', 'test/support/exit-with-parent.mjs'], /exports no Nest module/],
    [['worker'], /missing required argument 'file'/],
  ])('refuses %j', async (args, message) => {
    expect(await rhythm(args)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
  });

  it.each([
    ['decorators', 'decorated.module.ts', 'Invalid or unexpected token'],
    ['an import of JavaScript that is not built', 'unbuilt-import.module.ts', 'Cannot find module'],
  ])('says to build TypeScript that has %s, even if Node strips types', async (_, file, reason) => {
    const { code, err } = await rhythm(['worker', join(FIXTURES, file)], { env: strippingTypes() });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(BUILD_FIRST) });
    expect(err).toContain(reason);
  });

  it('does not blame TypeScript for an error that the file itself throws', async () => {
    const { code, err } = await rhythm(['worker', join(FIXTURES, 'throwing.module.ts')], { env: strippingTypes() });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^error: .*JSON/) });
  });
});

// From 22.18 on, Node strips types; before that, hooks pass these fixtures, which have no types, to V8 unchanged.
function strippingTypes(): Record<string, string> {
  if ((process.features as { typescript?: unknown }).typescript) return {};
  const hooks = pathToFileURL(join(FIXTURES, 'typescript-as-is.mjs')).href;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(hooks)});`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(register)}` };
}
