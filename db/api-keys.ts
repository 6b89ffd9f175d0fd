import { createHash, randomBytes } from 'node:crypto';
import { and, eq, getTableColumns, gt, isNull, or, sql } from 'drizzle-orm';
import type pg from 'pg';
import { queriesOn } from './query-builder.ts';
import { apiKeys } from './schema/operator.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/**
 * What is kept of a key, but for its hash: never the key itself. `keyId` is its visible start, by which people and logs
 * name it; `revokedAt` is when it ended or, after a rotation with a time of grace, will end; `replaces` names the key of
 * the same holder that it was made for.
 */
export type ApiKeyRecord = Omit<typeof apiKeys.$inferSelect, 'keyHash'>;

export type IssuedKey = { readonly keyId: string; readonly key: string };

const ID_BYTES = 6;
const SECRET_BYTES = 32;
const IN_USE = or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, sql`now()`));
const KEY_FORMAT = /^(ptd_[A-Za-z0-9]{8,12})_[A-Za-z0-9_-]{43}$/;

/** The visible part of a key; null when the text has not the form of a key, so that nothing needs to be looked up. */
export function keyIdOf(key: string): string | null {
  return KEY_FORMAT.exec(key)?.[1] ?? null;
}

/**
 * Makes a key of 256 random bits. Its text is returned this once: the table holds a hash of it.
 *
 * @param label what the operator calls its holder
 * @param replaces visible part of the key of the same holder that it is made for, if any
 */
export async function issueApiKey(
  database: Queryable,
  label: string,
  replaces: string | null = null,
): Promise<IssuedKey> {
  const keyId = `ptd_${randomBytes(ID_BYTES).toString('hex')}`;
  const key = `${keyId}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  await queriesOn(database)
    .insert(apiKeys)
    .values({ keyHash: hashKey(key), keyId, label, replaces });
  return { keyId, key };
}

/**
 * Makes a new key for the holder of one in use, which ends after `graceSecs`: 0 ends it at once. Of several at the same
 * time, one succeeds.
 *
 * @returns the new key; null when no key in use has this visible part, or it is being replaced already
 */
export function rotateApiKey(database: pg.Pool, keyId: string, graceSecs: number): Promise<IssuedKey | null> {
  return inTransaction(database, 'READ COMMITTED', async (client) => {
    const [ended] = await queriesOn(client)
      .update(apiKeys)
      .set({ revokedAt: sql`now() + make_interval(secs => ${graceSecs})` })
      .where(and(eq(apiKeys.keyId, keyId), isNull(apiKeys.revokedAt)))
      .returning({ label: apiKeys.label });
    return ended ? issueApiKey(client, ended.label, keyId) : null;
  });
}

/** Ends a key by its visible part at once, also in its time of grace. Returns whether there was one in use. */
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
 * Who holds a key: the visible part of the first key of the line that rotations made. The database sees the key's hash and
 * says who: the API may not read the table.
 *
 * @returns null when the key is unknown or has ended
 */
export async function holderOfKey(database: Queryable, key: string): Promise<string | null> {
  if (keyIdOf(key) === null) return null;
  const { rows } = await database.query<{ holder: string | null }>('SELECT operator.holder_of_key($1) AS holder', [
    hashKey(key),
  ]);
  return rows[0]?.holder ?? null;
}

/** Those of the keys, named by their visible parts, that have not ended. */
export async function keysInUse(database: Queryable, keyIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await database.query<{ keyId: string }>('SELECT operator.keys_in_use($1) AS "keyId"', [keyIds]);
  return new Set(rows.map(({ keyId }) => keyId));
}

/** One round suffices: there is nothing to guess in 256 random bits. */
function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
