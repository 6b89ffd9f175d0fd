import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { execa } from 'execa';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { hideUrlSecrets } from '../config/url-secrets.ts';
import { createDatabase } from '../test/harness/database.ts';
import { assertPonderPatched, PATCHED_FILES } from './ponder-patches.ts';

const PATCHES = new URL('../patches/', import.meta.url);
const PONDER = import.meta.resolve('ponder');

describe('the start', () => {
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

// What the patch of `sync-realtime` does is tested by test/indexer-new-pools.test.ts.

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

test("Ponder's log lines go to standard error and show of a URL no more than its host", async () => {
  const message =
    'call to https://user:pass@node.example/v3/key?token=other failed\n\nDetails: "wss://h/key-2"; db: postgres://u:p@db/x';
  const script = `
    const { createLogger } = await import(${JSON.stringify(new URL('internal/logger.js', PONDER).href)});
    const log = createLogger({ level: 'info', mode: 'json' });
    log.warn({ msg: ${JSON.stringify(message)}, error: new Error(${JSON.stringify(message)}) });`;
  const { stdout, stderr } = await execa(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toBe('');
  expect(JSON.parse(stderr)).toMatchObject({
    level: 40,
    msg: hideUrlSecrets(message),
    error: { message: hideUrlSecrets(message) },
  });
  expect(stderr).not.toMatch(/pass|key|other|u:p/);
});

test('Ponder asks nodes without fetch, unpacks answers and gives up in time', async () => {
  const node = createServer(async (incoming, response) => {
    const { method } = JSON.parse(Buffer.concat(await incoming.toArray()).toString());
    if (method === 'hang') return;
    const answer = method === 'refuse' ? { error: { code: -32_000, message: 'no' } } : { result: '0xé' };
    const status = method === 'fail' ? 503 : 200;
    response.writeHead(status, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify({ id: 1, ...answer })));
  });
  await once(node.listen(0, '127.0.0.1'), 'listening');
  const fetched = vi.spyOn(globalThis, 'fetch');
  try {
    const { getHttpRpcClient } = (await import(new URL('rpc/http.js', PONDER).href)) as {
      getHttpRpcClient: (
        url: string,
        options: object,
      ) => { request: (of: { body: { method: string } }) => Promise<unknown> };
    };
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    const client = getHttpRpcClient(url, { timeout: 300 });
    expect(await client.request({ body: { method: 'ask' } })).toBe('0xé');
    const failures = { refuse: 'RpcRequestError', fail: 'HttpRequestError', hang: 'TimeoutError' };
    for (const [method, name] of Object.entries(failures)) {
      await expect(client.request({ body: { method } })).rejects.toMatchObject({ name });
    }
    expect(fetched).not.toHaveBeenCalled();
  } finally {
    fetched.mockRestore();
    node.closeAllConnections();
    node.close();
  }
});
