// The documentation lists every setting as the schema has it.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { settingsTable } from './settings-table.js';

describe('docs/configuration.md', () => {
  it('contains the table of all settings', () => {
    const text = readFileSync('docs/configuration.md', 'utf8');
    const [, table] = /<!-- settings -->\n([\s\S]*?)<!-- \/settings -->/.exec(text) ?? [];
    expect(table?.trim()).toBe(settingsTable());
  });
});
