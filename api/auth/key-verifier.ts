import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { holderOfKey, keyIdOf } from '../../db/api-keys.ts';
import { isTemporaryFailure } from '../../db/failure.ts';
import type { Queryable } from '../../db/transaction.ts';
import { clientLimit } from '../../runtime/rate-window.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { tooManyRequests, unavailable } from '../errors.ts';
import type { KeyIdentity, VerifyKey } from './authenticate.ts';

/** An answer is used this long, so a new or revoked key counts everywhere within 3 seconds. */
const FRESH_MS = 2_000;
/** While the database is unreachable no key can be revoked: the last answer stands this long. */
const KEPT_MS = 10 * 60_000;
/** A client whose key is known waits no longer than this for a database that hangs. */
const TIMEOUT_MS = 200;

/** Keys not known to be valid that a client address may try; further ones do not reach the database. */
const KEY_TRIES = { requests: 50, windowSecs: 10 };

/** Keys whose validity is remembered. */
const MAX_KEYS = 10_000;

/** The identity is null of a key that is not valid. */
type Verdict = { readonly identity: KeyIdentity | null; readonly at: number };

/**
 * Checks keys against the database, asking at most once in a while for each key, and not at all for a client that tries
 * key after key. A key that was valid when last looked at is not held up by others behind the same address.
 */
export function createKeyVerifier(database: Queryable, now: () => number = Date.now): VerifyKey {
  const verdicts = new LRUCache<string, Verdict>({ max: MAX_KEYS, ttl: KEPT_MS });
  const countTry = clientLimit(KEY_TRIES, now);
  const lookUp = async (key: string, keyId: string, digest: string): Promise<Verdict> => {
    const at = now();
    const holder = await holderOfKey(database, key);
    const verdict = { identity: holder === null ? null : { keyId, holder }, at };
    if ((verdicts.peek(digest)?.at ?? at) <= at) verdicts.set(digest, verdict);
    return verdict;
  };
  return async (key, client) => {
    const keyId = keyIdOf(key);
    if (keyId === null) return null;
    // Memory holds no key that could be read out of a core dump.
    const digest = createHash('sha256').update(key).digest('base64');
    const known = verdicts.get(digest);
    if (known && now() - known.at < FRESH_MS) return known.identity;
    // Where the client is not known, only those who present the same key wait for each other.
    if (!known?.identity) {
      const { rejected, msBeforeNext } = countTry(client() ?? digest);
      if (rejected) throw tooManyRequests(msBeforeNext);
    }
    // One request asks again; the others go by the last answer meanwhile, and as long again if no answer comes.
    if (known) verdicts.set(digest, { ...known, at: now() }, { noUpdateTTL: true });
    const { identity } = await answerOr(known, lookUp(key, keyId, digest), database);
    return identity;
  };
}

/** @returns the verdict known so far while the database is unreachable or hangs; its answer counts when it comes */
async function answerOr(known: Verdict | undefined, answer: Promise<Verdict>, database: Queryable): Promise<Verdict> {
  try {
    return await (known ? withTimeout(answer, TIMEOUT_MS) : answer);
  } catch (error) {
    if (!(await isTemporaryFailure(error, database))) throw error;
    if (known) return known;
    throw unavailable(error);
  }
}
