import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isApiKeyValid, keyIdOf } from '../../db/api-keys.ts';
import { isDatabaseAway } from '../../db/failure.ts';
import type { Queryable } from '../../db/transaction.ts';
import { unavailable } from '../errors.ts';
import type { VerifyKey } from './authenticate.ts';

/** An answer is used this long, so a new or revoked key counts everywhere within 3 seconds. */
const FRESH_MS = 2_000;
/** While the database is away no key can be revoked: the last answer stands this long. */
const KEPT_MS = 10 * 60_000;
const MAX_KEYS = 10_000;

type Verdict = { readonly valid: boolean; readonly at: number };

/** Checks keys against the database, asking at most once in a while for each key. */
export function createKeyVerifier(database: Queryable, now: () => number = Date.now): VerifyKey {
  const verdicts = new LRUCache<string, Verdict>({ max: MAX_KEYS, ttl: KEPT_MS });
  return async (key) => {
    const keyId = keyIdOf(key);
    if (keyId === null) return null;
    const valid = await judge(database, verdicts, key, now);
    return valid ? { keyId } : null;
  };
}

async function judge(database: Queryable, verdicts: LRUCache<string, Verdict>, key: string, now: () => number) {
  // Memory holds no key that could be read out of a core dump.
  const digest = createHash('sha256').update(key).digest('base64');
  const known = verdicts.get(digest);
  const at = now();
  if (known && at - known.at < FRESH_MS) return known.valid;
  try {
    const valid = await isApiKeyValid(database, key);
    verdicts.set(digest, { valid, at });
    return valid;
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    if (known) return known.valid;
    throw unavailable(error);
  }
}
