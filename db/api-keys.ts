import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queryable } from './transaction.ts';

/** What is kept of a key: never the key itself. */
export type ApiKeyRecord = {
  /** The visible start of the key, by which people and logs name it. */
  readonly keyId: string;
  readonly label: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
};

const ID_BYTES = 6;
const SECRET_BYTES = 32;
const KEY_FORMAT = /^(ptd_[A-Za-z0-9]{8,12})_[A-Za-z0-9_-]{43}$/;

/** The visible part of a key; null when the text has not the form of a key, so that nothing needs to be looked up. */
export function keyIdOf(key: string): string | null {
  return KEY_FORMAT.exec(key)?.[1] ?? null;
}

/**
 * Makes a key of 256 random bits. Its text is returned this once: the table holds a hash of it.
 *
 * @param label what the operator calls its holder
 */
export async function issueApiKey(database: Queryable, label: string): Promise<{ keyId: string; key: string }> {
  const keyId = `ptd_${randomBytes(ID_BYTES).toString('hex')}`;
  const key = `${keyId}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  await database.query('INSERT INTO operator.api_key (key_hash, key_id, label) VALUES ($1, $2, $3)', [
    hashKey(key),
    keyId,
    label,
  ]);
  return { keyId, key };
}

/** Revokes a key by its visible part. Returns whether there was one in use. */
export async function revokeApiKey(database: Queryable, keyId: string): Promise<boolean> {
  const revoked = await database.query(
    'UPDATE operator.api_key SET revoked_at = now() WHERE key_id = $1 AND revoked_at IS NULL',
    [keyId],
  );
  return (revoked.rowCount ?? 0) > 0;
}

/** All keys ever issued, oldest first. */
export async function listApiKeys(database: Queryable): Promise<ApiKeyRecord[]> {
  const { rows } = await database.query<ApiKeyRecord>(
    `SELECT key_id AS "keyId", label, created_at AS "createdAt", revoked_at AS "revokedAt"
     FROM operator.api_key ORDER BY created_at, key_id`,
  );
  return rows;
}

/** Whether a key is known and not revoked. It is found by its visible part and compared in constant time. */
export async function isApiKeyValid(database: Queryable, key: string): Promise<boolean> {
  const keyId = keyIdOf(key);
  if (keyId === null) return false;
  const { rows } = await database.query<{ keyHash: Buffer }>(
    'SELECT key_hash AS "keyHash" FROM operator.api_key WHERE key_id = $1 AND revoked_at IS NULL',
    [keyId],
  );
  const known = rows[0]?.keyHash;
  return known !== undefined && timingSafeEqual(known, hashKey(key));
}

/** One round suffices: there is nothing to guess in 256 random bits. */
function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
