import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isApiKeyValid } from '../db/api-keys.ts';
import { migrate } from '../db/migrate.ts';
import { createDatabase, type TestDatabase } from '../test/harness/database.ts';
import { createOnchainTables, setIndexedBlock } from '../test/harness/onchain-tables.ts';

const ADMIN = '0x00000000000000000000000000000000000000Aa';
const POOL = '0x00000000000000000000000000000000000000bb';

let database: TestDatabase;
let client: pg.Pool;

beforeAll(async () => {
  database = await createDatabase();
  await migrate(database.url);
  client = new pg.Pool({ connectionString: database.url, max: 2 });
  await createOnchainTables(client);
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

async function cli(name: string, ...parameters: string[]) {
  const main = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const env = { DATABASE_URL: database.url };
  const { exitCode, stdout, stderr } = await execa('node', ['--import', 'tsx', main, ...parameters], {
    env,
    reject: false,
  });
  return { exitCode, stdout, stderr };
}

test('a key is issued once, listed by its visible part, and revoked', async () => {
  const { stdout: key } = await cli('keys', 'issue', 'Alice & Co');
  expect(await isApiKeyValid(client, key)).toBe(true);
  const [listed] = JSON.parse((await cli('keys', 'list', '--json')).stdout);
  expect(listed).toMatchObject({ label: 'Alice & Co', revokedAt: null });
  expect(key.startsWith(listed.keyId)).toBe(true);
  expect((await cli('keys', 'revoke', listed.keyId)).exitCode).toBe(0);
  expect(await isApiKeyValid(client, key)).toBe(false);
  const again = await cli('keys', 'revoke', listed.keyId);
  expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no key in use') });
});

test('a curator is named, verified step by step, and forgotten', async () => {
  const list = async () => JSON.parse((await cli('curators', 'list', '--json')).stdout);
  await cli('curators', 'set', '1', ADMIN, '--name', 'Alice');
  expect(await list()).toEqual([{ chain_id: '1', address: ADMIN.toLowerCase(), username: 'Alice', verified: false }]);
  await cli('curators', 'set', '1', ADMIN, '--verified');
  expect(await list()).toMatchObject([{ username: 'Alice', verified: true }]);
  await cli('curators', 'set', '1', ADMIN, '--no-name');
  expect(await list()).toMatchObject([{ username: null, verified: true }]);
  expect((await cli('curators', 'remove', '1', ADMIN)).exitCode).toBe(0);
  expect(await list()).toEqual([]);
  expect((await cli('curators', 'set', '1', '0x12')).stderr).toContain('not a 20-byte 0x-prefixed address');
});

test('a pool is delisted and listed again', async () => {
  await cli('delist', 'add', '1', POOL, '--reason', 'rug');
  expect((await cli('delist', 'list')).stdout).toMatch(new RegExp(`^CHAIN .*\n1 +${POOL} .* rug$`));
  expect((await cli('delist', 'remove', '1', POOL)).exitCode).toBe(0);
  expect(await cli('delist', 'remove', '1', POOL)).toMatchObject({ exitCode: 1 });
});

test('status tells how far each chain is', async () => {
  await setIndexedBlock(client, { chainId: 7, number: 42, timestamp: Math.floor(Date.now() / 1000) - 5 });
  const [chain] = JSON.parse((await cli('status', '--json')).stdout);
  expect(chain).toMatchObject({ chainId: '7', indexedBlock: '42', pools: 0, priceAgeSecs: null, listingAgeSecs: null });
  expect(chain.indexedAgeSecs).toBeGreaterThanOrEqual(4);
});

test('a database that is away ends a command with one line', async () => {
  const main = fileURLToPath(new URL('./status.ts', import.meta.url));
  const env = { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' };
  const { exitCode, stderr } = await execa('node', ['--import', 'tsx', main], { env, reject: false });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^DATABASE_URL: the database is away[^\n]*$/);
  expect(stderr).not.toContain('secret');
});
