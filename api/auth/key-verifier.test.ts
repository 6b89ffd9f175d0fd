import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import pg from 'pg';
import { expect, test } from 'vitest';
import { issueApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../../db/api-keys.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { migratedDatabase } from '../../test/harness/migrated-database.ts';
import { ApiError } from '../errors.ts';
import { authenticate } from './authenticate.ts';
import { createKeyVerifier } from './key-verifier.ts';

const database = migratedDatabase();

/** A verifier that one client asks, unless told otherwise. */
function verifier(now: () => number = Date.now, over = database.pool) {
  const verify = createKeyVerifier(over, now);
  return (key: string, client = '10.0.0.1') => verify(key, () => client);
}

const unknownKey = (n: number) => `ptd_${String(n).padStart(12, '0')}_${'x'.repeat(43)}`;

test('a key is valid from its issue to its revocation, and no longer than 3 seconds after', async () => {
  let now = 0;
  const verify = verifier(() => now);
  const { keyId, key } = await issueApiKey(database.pool, 'a market maker');
  expect(await verify(key)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
  expect(await revokeApiKey(database.pool, keyId)).toBe(true);
  now = 3_000;
  // A slow answer of the database comes after the last one was given.
  await expect.poll(() => verify(key)).toBeNull();
});

test('a rotated key has the holder of the first one, however often it was rotated', async () => {
  const verify = verifier();
  const first = await issueApiKey(database.pool, 'a market maker');
  const keys = [first];
  for (let rotations = 0; rotations < 3; rotations++) {
    const next = await rotateApiKey(database.pool, keys.at(-1)?.keyId ?? '', 3_600);
    if (next === null) throw new Error('the key is not in use');
    keys.push(next);
  }
  for (const { keyId, key } of keys)
    expect(await verify(key)).toEqual({ keyId, holder: first.keyId, publishesQuotes: false });
  const namesake = await issueApiKey(database.pool, 'a market maker');
  expect(await verify(namesake.key)).toMatchObject({ holder: namesake.keyId });
});

test('a rotated key publishes quotes if the first one does', async () => {
  const verify = verifier();
  const publishing = await issueApiKey(database.pool, 'a market maker', { publishesQuotes: true });
  const next = await rotateApiKey(database.pool, publishing.keyId, 3_600);
  for (const key of [publishing.key, next?.key ?? ''])
    expect(await verify(key)).toMatchObject({ publishesQuotes: true });
});

test('a key that is issued after it was tried works within 3 seconds', async () => {
  let now = 0;
  const verify = verifier(() => now);
  const { keyId, key } = await issueApiKey(database.pool, 'late');
  await database.pool.query('UPDATE operator.api_key SET revoked_at = now() WHERE key_id = $1', [keyId]);
  expect(await verify(key)).toBeNull();
  await database.pool.query('UPDATE operator.api_key SET revoked_at = NULL WHERE key_id = $1', [keyId]);
  now = 3_000;
  await expect.poll(() => verify(key)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
});

test('a key with the right visible part and a wrong secret is refused', async () => {
  const verify = verifier();
  const { keyId } = await issueApiKey(database.pool, 'victim');
  expect(await verify(`${keyId}_${'x'.repeat(43)}`)).toBeNull();
});

test('a key with one wrong, missing or further character is refused without a query', async () => {
  const { key } = await issueApiKey(database.pool, 'hasty');
  const closed = new pg.Pool();
  await closed.end();
  const verify = verifier(Date.now, closed);
  for (let at = 0; at < key.length; at++) {
    const [before, after] = [key.slice(0, at), key.slice(at + 1)];
    for (const wrong of [key[at] === 'b' ? 'c' : 'b', '', `${key[at]}b`]) {
      expect([at, wrong, await verify(before + wrong + after)]).toEqual([at, wrong, null]);
    }
  }
  await expect(verify(key)).rejects.toMatchObject({ status: 503 });
});

test('the pattern that is documented for scanners of secrets finds a key', async () => {
  const page = readFileSync(join(PROJECT_ROOT, 'docs/run/operate.md'), 'utf8');
  const [, pattern = ''] = /`(ptd_\S+)`/.exec(page) ?? [];
  const { key } = await issueApiKey(database.pool, 'leaked');
  expect(new RegExp(pattern).exec(`KEY='${key}'`)?.[0]).toBe(key);
});

test('a key without a checksum, issued before there was one, stays valid', async () => {
  const { keyId, key } = await issueApiKey(database.pool, 'of 0.1.0');
  const old = key.slice(0, -9);
  await database.pool.query('UPDATE operator.api_key SET key_hash = sha256($1::bytea) WHERE key_id = $2', [old, keyId]);
  expect(await verifier()(old)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
});

test.each(['', 'YOUR_API_KEY', 'ptd_x', `ptd_${'0'.repeat(12)}_${'x'.repeat(43)}`])('%j is no key', async (text) => {
  expect(await verifier()(text)).toBeNull();
});

test('the table holds no key', async () => {
  const { key } = await issueApiKey(database.pool, 'secret');
  const { rows } = await database.pool.query('SELECT row_to_json(k)::text AS text FROM operator.api_key k');
  const secret = key.slice(-52, -9);
  const forms = [secret, Buffer.from(secret).toString('hex')];
  expect(rows.filter(({ text }) => forms.some((form) => text.includes(form)))).toEqual([]);
  expect((await listApiKeys(database.pool)).map(({ label }) => label)).toContain('secret');
});

test('without the database a known key stays valid and an unknown one is 503', async () => {
  const unreachable = new pg.Pool({ connectionString: database.url });
  let now = 0;
  const verify = verifier(() => now, unreachable);
  const { keyId, key } = await issueApiKey(database.pool, 'known');
  const { key: other } = await issueApiKey(database.pool, 'unknown');
  expect(await verify(key)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
  await unreachable.end();
  now = 60_000;
  expect(await verify(key)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
  await expect(verify(other)).rejects.toMatchObject({ status: 503 });
});

test('a known key is not held up by a database that hangs', async () => {
  let now = 0;
  const verify = verifier(() => now);
  const { keyId, key } = await issueApiKey(database.pool, 'in a hurry');
  expect(await verify(key)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
  const holder = await database.pool.connect();
  await holder.query('BEGIN; LOCK TABLE operator.api_key IN ACCESS EXCLUSIVE MODE');
  now = 3_000;
  expect(await verify(key)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
  await holder.query('ROLLBACK');
  holder.release();
});

test('however many requests carry a known key, one at a time asks for it, also of a database that hangs', async () => {
  let now = 0;
  let queries = 0;
  const counted = new Proxy(database.pool, {
    get(target, name) {
      if (name === 'query') queries += 1;
      return Reflect.get(target, name);
    },
  });
  const verify = verifier(() => now, counted);
  const { keyId, key } = await issueApiKey(database.pool, 'busy');
  const askOften = () => Promise.all(Array.from({ length: 50 }, () => verify(key)));
  expect(await verify(key)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
  now = 2_000;
  expect((await askOften()).every((identity) => identity?.keyId === keyId)).toBe(true);
  expect(queries).toBe(2);
  const holder = await database.pool.connect();
  await holder.query('BEGIN; LOCK TABLE operator.api_key IN ACCESS EXCLUSIVE MODE');
  now = 4_000;
  await askOften();
  await askOften();
  expect(queries).toBe(3);
  await revokeApiKey(holder, keyId);
  await holder.query('COMMIT');
  holder.release();
  // Late as it comes, the answer counts.
  await expect.poll(() => verify(key)).toBeNull();
  expect(queries).toBe(3);
});

test('a client that tries key after key is held up without the database; others and known keys are not', async () => {
  let now = 0;
  const verify = verifier(() => now);
  const { keyId, key } = await issueApiKey(database.pool, 'behind the same address');
  const { key: late } = await issueApiKey(database.pool, 'late, behind the same address');
  expect(await verify(key)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
  for (let tries = 1; tries < 50; tries++) expect(await verify(unknownKey(tries))).toBeNull();
  const held = { status: 429, headers: { 'Retry-After': '10' } };
  await expect(verify(unknownKey(50))).rejects.toMatchObject(held);
  await expect(verify(late)).rejects.toMatchObject(held);
  expect(await verify(unknownKey(51), '10.0.0.2')).toBeNull();
  now = 5_000;
  expect(await verify(key)).toEqual({ keyId, holder: keyId, publishesQuotes: false });
  now = 10_000;
  expect(await verify(late)).not.toBeNull();
});

test('clients of a proxy that is not counted do not lock out each other, only a key itself', async () => {
  const keys = createKeyVerifier(database.pool, () => 0);
  const app = new Hono().use(authenticate(keys, 0)).get('/', (c) => c.text(''));
  app.onError((error, c) => c.text('', error instanceof ApiError ? error.status : 500));
  const env = { incoming: { socket: { remoteAddress: '10.0.0.9', remotePort: 1, remoteFamily: 'IPv4' } } };
  const ask = async (key: string, headers: Record<string, string>) =>
    (await app.request('/', { headers: { Authorization: `Bearer ${key}`, ...headers } }, env)).status;
  const forwarded = { 'X-Forwarded-For': '6.6.6.6' };
  const { key } = await issueApiKey(database.pool, 'behind the proxy');
  for (let tries = 0; tries < 60; tries++) expect(await ask(unknownKey(tries), forwarded)).toBe(401);
  expect(await ask(key, forwarded)).toBe(200);
  // The key whose first answer is still on its way: each request asks the database.
  const atOnce = await Promise.all(Array.from({ length: 60 }, () => ask(unknownKey(99), forwarded)));
  expect(atOnce.filter((status) => status === 429)).toHaveLength(10);
  // Without the header there is no proxy: the address is the client's.
  for (let tries = 100; tries < 150; tries++) expect(await ask(unknownKey(tries), {})).toBe(401);
  expect(await ask(unknownKey(150), {})).toBe(429);
});
