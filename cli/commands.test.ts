import { execa } from 'execa';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { findKey, keyIdOf } from '../db/api-keys.ts';
import { ownEnvironment, ownMain } from '../local/services/own-process.ts';
import { createMigratedDatabase } from '../test/harness/database.ts';
import { createOnchainTables, setIndexedBlock } from '../test/harness/onchain-tables.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { openSeeder, type Seeder, seedPools } from '../test/harness/seed-pools.ts';

// Each command is a process of its own, which a busy machine takes seconds to start.
vi.setConfig({ testTimeout: 180_000 });

const ADMIN = '0x00000000000000000000000000000000000000Aa';
const POOL = '0x00000000000000000000000000000000000000bb';

const database = startedWorld(createMigratedDatabase);
let client: pg.Pool;
let seeder: Seeder;

beforeAll(async () => {
  client = new pg.Pool({ connectionString: database.url, max: 2 });
  await createOnchainTables(client);
  seeder = openSeeder(database.url);
});

afterAll(() => Promise.all([client.end(), seeder.end()]));

const holderOfKey = async (key: string) => (await findKey(client, key))?.holder ?? null;

async function keyWith(label: string) {
  const keys: { label: string; keyId: string; revokedAt: string }[] = JSON.parse(
    (await cli('keys', 'list', '--json')).stdout,
  );
  const found = keys.find((key) => key.label === label);
  if (found === undefined) throw new Error(`no key of ${label} is listed`);
  return found;
}

async function cli(name: string, ...parameters: string[]) {
  const env = ownEnvironment(name, { DATABASE_URL: database.url });
  const args = [...ownMain(name), ...parameters];
  const { exitCode, stdout, stderr } = await execa('node', args, { env, reject: false });
  return { exitCode, stdout, stderr };
}

test('a key is issued once, listed by its visible part, and revoked', async () => {
  const { stdout: key } = await cli('keys', 'issue', 'Alice & Co');
  const listed = await keyWith('Alice & Co');
  expect(await holderOfKey(key)).toBe(listed.keyId);
  expect(listed).toMatchObject({ revokedAt: null, replaces: null });
  expect(key.startsWith(listed.keyId)).toBe(true);
  const revoked = await cli('keys', 'revoke', listed.keyId, '--json');
  expect([revoked.exitCode, JSON.parse(revoked.stdout)]).toEqual([0, { keyId: listed.keyId, revoked: true }]);
  expect(await holderOfKey(key)).toBeNull();
  const again = await cli('keys', 'revoke', listed.keyId);
  expect(again).toEqual({ exitCode: 1, stdout: '', stderr: `no key in use has the id ${listed.keyId}` });
});

test('a key is rotated, with and without a time of grace', async () => {
  const first = JSON.parse((await cli('keys', 'issue', 'Bob', '--json')).stdout);
  const rotated = await cli('keys', 'rotate', first.keyId, '--grace', '24h', '--json');
  const second = JSON.parse(rotated.stdout);
  expect(second).toMatchObject({ replaces: first.keyId, graceSecs: 86_400 });
  for (const { key } of [first, second]) expect(await holderOfKey(key)).toBe(first.keyId);
  const { revokedAt } = await keyWith('Bob');
  expect(Math.abs(Date.parse(revokedAt) - Date.now() - 86_400_000)).toBeLessThan(60_000);

  const twice = await cli('keys', 'rotate', first.keyId);
  expect(twice).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('rotated already') });
  const { stdout: third } = await cli('keys', 'rotate', second.keyId);
  expect(await Promise.all([first.key, second.key, third].map((key) => holderOfKey(key)))).toEqual([
    first.keyId,
    null,
    first.keyId,
  ]);
  expect((await cli('keys', 'revoke', first.keyId)).exitCode).toBe(0);
  expect(await holderOfKey(first.key)).toBeNull();
  expect((await cli('keys', 'list')).stdout).toMatch(
    new RegExp(`^${keyIdOf(third)}  Bob .* -  +${second.keyId}$`, 'm'),
  );
});

test('a key publishes quotes if it was issued so, and after a rotation', async () => {
  const { keyId } = JSON.parse((await cli('keys', 'issue', 'Maker', '--publish-quotes', '--json')).stdout);
  const rotated = JSON.parse((await cli('keys', 'rotate', keyId, '--json')).stdout);
  const { stdout: other } = await cli('keys', 'issue', 'Other');
  expect(await findKey(client, rotated.key)).toEqual({ holder: keyId, publishesQuotes: true });
  expect(await findKey(client, other)).toMatchObject({ publishesQuotes: false });
  const listed = (await cli('keys', 'list')).stdout;
  expect(listed).toMatch(new RegExp(`^${rotated.keyId}  Maker +yes `, 'm'));
  expect(listed).toMatch(new RegExp(`^${keyIdOf(other)}  Other +no `, 'm'));
});

test('a curator is named, verified step by step, and forgotten', async () => {
  const list = async () => JSON.parse((await cli('curators', 'list', '--json')).stdout);
  await cli('curators', 'set', '1', ADMIN, '--name', 'Alice');
  expect(await list()).toEqual([{ chainId: 1, address: ADMIN.toLowerCase(), username: 'Alice', verified: false }]);
  await cli('curators', 'set', '1', ADMIN, '--verified');
  expect(await list()).toMatchObject([{ username: 'Alice', verified: true }]);
  await cli('curators', 'set', '1', ADMIN, '--no-name');
  expect(await list()).toMatchObject([{ username: null, verified: true }]);
  const removed = await cli('curators', 'remove', '1', ADMIN, '--json');
  expect(JSON.parse(removed.stdout)).toEqual({ chainId: 1, address: ADMIN.toLowerCase(), removed: true });
  expect((await cli('curators', 'remove', '1', ADMIN)).exitCode).toBe(1);
  expect(await list()).toEqual([]);
  expect((await cli('curators', 'set', '1', '0x12')).stderr).toContain('not a 20-byte 0x-prefixed address');
});

test('a pool is delisted and listed again', async () => {
  await seedPools(seeder.db, [{ pool: { chainId: 1, address: POOL } }]);
  const { stdout } = await cli('delist', 'add', '1', POOL, '--reason', 'rug');
  expect(stdout).toBe(`delisted ${POOL} on chain 1`);
  expect((await cli('delist', 'list')).stdout).toMatch(new RegExp(`^CHAIN .*\n1 +${POOL} .* rug$`));
  expect((await cli('delist', 'remove', '1', POOL)).exitCode).toBe(0);
  expect(await cli('delist', 'remove', '1', POOL)).toMatchObject({ exitCode: 1 });
});

test('a delisted address of which no pool is indexed may be mistyped: that is said', async () => {
  const other = await cli('delist', 'add', '2', POOL);
  expect(other.stdout).toBe(`delisted ${POOL} on chain 2, of which no such pool is indexed`);
  const unindexed = await createMigratedDatabase();
  onTestFinished(unindexed.drop);
  const env = ownEnvironment('delist', { DATABASE_URL: unindexed.url });
  const { stdout } = await execa('node', [...ownMain('delist'), 'add', '1', POOL, '--json'], { env });
  expect(JSON.parse(stdout)).toEqual({ chainId: 1, pool: POOL, delisted: true, indexed: false });
});

test('status shows how far each chain is', async () => {
  await setIndexedBlock(client, { chainId: 7, number: 42, timestamp: Math.floor(Date.now() / 1000) - 5 });
  expect((await cli('status')).stdout).toMatch(/^7 +42 +\d+ +0 +0 +0 +- +- *$/m);
  const [chain] = JSON.parse((await cli('status', '--json')).stdout);
  expect(chain).toMatchObject({ chainId: 7, indexedBlock: 42, pools: 0, priceAgeSecs: null, listingAgeSecs: null });
  expect(chain.indexedAgeSecs).toBeGreaterThanOrEqual(4);
});

test('status says which factories are not served, and why', async () => {
  await client.query(
    `INSERT INTO operator.layout_calibration VALUES (7, $1, 'storage', 'none', '{}', 'job', now() - interval '9 s', 1)`,
    [POOL],
  );
  expect((await cli('status')).stdout).toMatch(new RegExp(`FACTORY NOT SERVED.*\n7 +${POOL} +storage: none +\\d+ *$`));
  const notServed = [{ factory: POOL, reason: 'storage: none' }];
  expect(JSON.parse((await cli('status', '--json')).stdout)).toMatchObject([{ chainId: 7, notServed }]);
  await client.query("UPDATE operator.layout_calibration SET decided = 'packedHead'");
  expect((await cli('status')).stdout).not.toContain('FACTORY NOT SERVED');
});

test('an unreachable database ends a command with one line', async () => {
  const env = { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' };
  const { exitCode, stderr } = await execa('node', ownMain('status'), { env, reject: false });
  expect(exitCode).toBe(75);
  expect(stderr).toMatch(/^DATABASE_URL: the database is unreachable[^\n]*$/);
  expect(stderr).not.toContain('secret');
});

test('calibrate needs a chain and a factory', async () => {
  expect((await cli('calibrate', '--chain', '1')).stderr).toContain("required option '--factory <address>'");
});

test.each(['keys', 'curators', 'delist', 'status', 'config-check'])(
  '%s has help with examples and exit codes, and refuses what it does not know',
  async (name) => {
    const [help, wrong] = await Promise.all([cli(name, '--help'), cli(name, '--unknown')]);
    expect(help).toMatchObject({ exitCode: 0, stderr: '' });
    expect(help.stdout).toMatch(/Examples:\n +npm run [\s\S]+--json[\s\S]+Exit codes: 0 /);
    expect(wrong).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringContaining("unknown option '--unknown'") });
  },
);
