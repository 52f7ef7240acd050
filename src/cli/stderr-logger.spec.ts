// The log of a worker: messages, stacks and what they quote cannot control the terminal.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { compiledPackage } from '../../test/cli/compiled-package.js';

describe('the log of a worker', () => {
  it('goes to stderr with control characters as escapes, line by line', () => {
    const logger = pathToFileURL(join(compiledPackage(), 'src/cli/stderr-logger.js')).href;
    const script = `import 'reflect-metadata'; import { StderrLogger } from ${JSON.stringify(logger)};
      const logger = new StderrLogger({ colors: false });
      logger.warn('queue "a\\u001b[2J\\u009b" waits\\nsecond line');
      logger.error('failed', 'Error: b\\u001b[2J\\n    at place (file.js:1:2)', 'Con\\u001b[2Jtext');`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });
    expect(stdout).toBe('');
    expect(stderr).toContain('queue "a\\x1b[2J\\x9b" waits\nsecond line');
    expect(stderr).toContain('Error: b\\x1b[2J\n    at place (file.js:1:2)');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none must be left
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});
