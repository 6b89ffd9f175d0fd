import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { and, eq, getTableColumns, gt, isNull, or, sql } from 'drizzle-orm';
import type pg from 'pg';
import { queriesOn } from './query-builder.ts';
import { apiKeys } from './schema/operator.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/**
 * The stored row of a key, without its hash. The key itself is never stored. `keyId` is its visible start, by which
 * people and logs name it. `revokedAt` is when it ended, or will end after a rotation with a grace period. `replaces`
 * is the `keyId` of the previous key of the same holder, if any. `publishesQuotes`: its quote updates may become live
 * quotes of this service.
 */
export type ApiKeyRecord = Omit<typeof apiKeys.$inferSelect, 'keyHash'>;

/** What a valid key stands for: see {@link findKey}. */
export type FoundKey = { readonly holder: string; readonly publishesQuotes: boolean };

export type IssuedKey = { readonly keyId: string; readonly key: string };

const ID_BYTES = 6;
const SECRET_BYTES = 32;
const IN_USE = or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, sql`now()`));
/** Keys issued before 0.2.0 have no checksum. docs/run/operate.md gives secret scanners the present form. */
const KEY_FORMAT = /^((ptd_[A-Za-z0-9]{8,12})_[A-Za-z0-9_-]{43})(_[0-9a-f]{8})?$/;

/** The visible part of a key. Null when its form or checksum is wrong: such a key needs no query. */
export function keyIdOf(key: string): string | null {
  const [, text = '', keyId = null, checksum] = KEY_FORMAT.exec(key) ?? [];
  return checksum === undefined || checksum === checksumOf(text) ? keyId : null;
}

/** The checksum detects typing mistakes. It proves nothing, since anyone can compute it. */
const checksumOf = (text: string) => `_${crc32(text).toString(16).padStart(8, '0')}`;

/**
 * Makes a key of 256 random bits. Its text is returned only here: the table holds a hash of it.
 *
 * @param label what the operator calls its holder
 * @param options `replaces`: visible part of the previous key of the same holder, by default none.
 * `publishesQuotes`: by default false
 */
export async function issueApiKey(
  database: Queryable,
  label: string,
  options: Partial<Pick<ApiKeyRecord, 'replaces' | 'publishesQuotes'>> = {},
): Promise<IssuedKey> {
  const keyId = `ptd_${randomBytes(ID_BYTES).toString('hex')}`;
  const text = `${keyId}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  const key = text + checksumOf(text);
  await queriesOn(database)
    .insert(apiKeys)
    .values({ keyHash: hashKey(key), keyId, label, ...options });
  return { keyId, key };
}

/**
 * Makes a new key for the holder of a key in use, which publishes quotes if the old one does. The old key ends after
 * `graceSecs`; 0 ends it at once. Of concurrent rotations of a key, only one succeeds.
 *
 * @returns the new key; null when no key in use has this visible part, or when it has been rotated already
 */
export function rotateApiKey(database: pg.Pool, keyId: string, graceSecs: number): Promise<IssuedKey | null> {
  return inTransaction(database, 'READ COMMITTED', async (client) => {
    const [ended] = await queriesOn(client)
      .update(apiKeys)
      .set({ revokedAt: sql`now() + make_interval(secs => ${graceSecs})` })
      .where(and(eq(apiKeys.keyId, keyId), isNull(apiKeys.revokedAt)))
      .returning({ label: apiKeys.label, publishesQuotes: apiKeys.publishesQuotes });
    if (!ended) return null;
    return issueApiKey(client, ended.label, { replaces: keyId, publishesQuotes: ended.publishesQuotes });
  });
}

/** Ends a key at once, even in its grace period. Returns whether a key with this visible part was in use. */
export async function revokeApiKey(database: Queryable, keyId: string): Promise<boolean> {
  const { rowCount } = await queriesOn(database)
    .update(apiKeys)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(apiKeys.keyId, keyId), IN_USE));
  return (rowCount ?? 0) > 0;
}

/** All keys ever issued, oldest first. */
export async function listApiKeys(database: Queryable): Promise<ApiKeyRecord[]> {
  const { keyHash: _, ...shown } = getTableColumns(apiKeys);
  return queriesOn(database).select(shown).from(apiKeys).orderBy(apiKeys.createdAt, apiKeys.keyId);
}

/**
 * Finds the holder of a key, and whether its quote updates may be published. A holder is named by the visible part of
 * the first key, from which rotations led to this one. A function of the database looks up the hash,
 * because the API may not read the table.
 *
 * @returns null when the key is unknown or has ended
 */
export async function findKey(database: Queryable, key: string): Promise<FoundKey | null> {
  if (keyIdOf(key) === null) return null;
  const { rows } = await database.query<{ found: FoundKey | null }>('SELECT operator.find_key($1) AS found', [
    hashKey(key),
  ]);
  return rows[0]?.found ?? null;
}

/** Which of the given keys have not ended. Arguments and result are the visible parts of keys. */
export async function keysInUse(database: Queryable, keyIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await database.query<{ keyId: string }>('SELECT operator.keys_in_use($1) AS "keyId"', [keyIds]);
  return new Set(rows.map(({ keyId }) => keyId));
}

/** One round of SHA-256 suffices: nobody can guess 256 random bits. */
function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
