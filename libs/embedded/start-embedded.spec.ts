// A throwaway server starts, works, and leaves nothing behind.
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startEmbedded } from './start-embedded.js';

describe('a throwaway server', () => {
  it('is a real PostgreSQL that leaves no folder behind', async () => {
    const before = throwaways();
    const server = await startEmbedded({ durable: false });
    const mine = throwaways().filter((name) => !before.includes(name));
    expect(mine.length).toBeGreaterThanOrEqual(1);
    expect(await ask(server.url, 'show fsync')).toBe('off');
    expect(await ask(server.url, 'show listen_addresses')).toBe('127.0.0.1');
    await server.stop();
    expect(existsSync(join(tmpdir(), mine[0] as string))).toBe(false);
    await expect(ask(server.url, 'select 1')).rejects.toThrow(/ECONNREFUSED/);
  });
});

function throwaways(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('rhythm-pg-'));
}

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(sql);
    return Object.values(rows[0] as object)[0];
  } finally {
    await client.end();
  }
}
