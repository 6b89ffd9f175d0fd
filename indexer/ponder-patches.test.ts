import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from '../test/harness/database.ts';
import { assertPonderPatched, PATCHED_FILES } from './ponder-patches.ts';

const PATCHES = new URL('../patches/', import.meta.url);
const PONDER = import.meta.resolve('ponder');

describe('the build', () => {
  let copy: string;

  beforeEach(async () => {
    copy = await mkdtemp(join(tmpdir(), 'ponder-'));
    for (const file of PATCHED_FILES) {
      await mkdir(dirname(join(copy, file)), { recursive: true });
      await cp(fileURLToPath(new URL(file, PONDER)), join(copy, file));
    }
  });
  afterEach(() => rm(copy, { recursive: true }));

  test('accepts the Ponder that is installed', () => {
    expect(() => assertPonderPatched()).not.toThrow();
  });

  test.each(PATCHED_FILES)('refuses a Ponder whose %s is not patched', async (file) => {
    const path = join(copy, file);
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('// Patched', '//'));
    const message = `Ponder is installed without its patches (${file}): run "npm ci" without --ignore-scripts`;
    expect(() => assertPonderPatched(pathToFileURL(join(copy, 'index.js')).href)).toThrow(message);
  });

  test('looks at every file that a patch changes', async () => {
    const patches = await readdir(PATCHES);
    const texts = await Promise.all(patches.map((name) => readFile(new URL(name, PATCHES), 'utf8')));
    const changed = texts.flatMap((text) => [...text.matchAll(/^\+\+\+ b\/node_modules\/ponder\/dist\/esm\/(.+)$/gm)]);
    expect([...new Set(changed.map(([, file]) => file))].sort()).toEqual([...PATCHED_FILES].sort());
  });
});

test('Ponder commits to disk before it continues', async () => {
  const database = await createDatabase();
  const { createPool } = (await import(new URL('utils/pg.js', PONDER).href)) as {
    createPool: (config: pg.PoolConfig, logger: object) => pg.Pool & { Client: new (config: object) => pg.Client };
  };
  const pool = createPool({ connectionString: database.url, max: 1 }, {});
  const { rows } = await pool.query('SHOW synchronous_commit');
  await pool.end();
  const client = new pool.Client({ connectionString: database.url });
  await client.connect();
  const { rows: ofClient } = await client.query('SHOW synchronous_commit');
  await client.end();
  await database.drop();
  expect([rows, ofClient]).toEqual([[{ synchronous_commit: 'on' }], [{ synchronous_commit: 'on' }]]);
});
