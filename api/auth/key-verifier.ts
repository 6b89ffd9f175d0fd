import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { findKey, keyIdOf } from '../../db/api-keys.ts';
import { isTemporaryFailure } from '../../db/failure.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Clock } from '../../runtime/clock.ts';
import { clientLimit } from '../../runtime/rate-window.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { tooManyRequests, unavailable } from '../errors.ts';
import type { KeyIdentity, VerifyKey } from './authenticate.ts';

/** What the database says of a key is used this long, so a new or revoked key counts everywhere within 3 seconds. */
const FRESH_MS = 2_000;
/** How long the last verdict is used while the database is unreachable: no key can be revoked meanwhile. */
const KEPT_MS = 10 * 60_000;
/** A client with a known key waits at most this long for a database that hangs. */
const TIMEOUT_MS = 200;

/** How many keys not known to be valid a client address may try; further ones do not reach the database. */
const KEY_TRIES = { requests: 50, windowSecs: 10 };

/** How many keys have a remembered verdict. */
const MAX_KEYS = 10_000;

/** Whether a key is valid, as the database said: the identity of an invalid key is null. */
type Verdict = { readonly identity: KeyIdentity | null; readonly at: number };

/**
 * Checks keys in the database. It queries each key at most every `FRESH_MS`, and none for a client that tries key after
 * key. Such a client does not hold up a key of the same address that was valid at its last check.
 */
export function createKeyVerifier(database: Queryable, now: Clock): VerifyKey {
  const verdicts = new LRUCache<string, Verdict>({ max: MAX_KEYS, ttl: KEPT_MS });
  const countTry = clientLimit(KEY_TRIES, now);
  const lookUp = async (key: string, keyId: string, digest: string): Promise<Verdict> => {
    const at = now();
    const found = await findKey(database, key);
    const verdict = { identity: found && { keyId, ...found }, at };
    if ((verdicts.peek(digest)?.at ?? at) <= at) verdicts.set(digest, verdict);
    return verdict;
  };
  return async (key, client) => {
    const keyId = keyIdOf(key);
    if (keyId === null) return null;
    // Memory holds digests only, so that a core dump reveals no key.
    const digest = createHash('sha256').update(key).digest('base64');
    const known = verdicts.get(digest);
    if (known && now() - known.at < FRESH_MS) return known.identity;
    // If the address is not known, tries count per key, so that only clients with the same key limit each other.
    if (!known?.identity) {
      const { rejected, msBeforeNext } = countTry(client() ?? digest);
      if (rejected) throw tooManyRequests(msBeforeNext);
    }
    // One request queries again. Others use the last verdict meanwhile, and for another `FRESH_MS` if no answer comes.
    if (known) verdicts.set(digest, { ...known, at: now() }, { noUpdateTTL: true });
    const { identity } = await answerOr(known, lookUp(key, keyId, digest), database);
    return identity;
  };
}

/** @returns the database's answer; while it is unreachable or hangs, the last verdict: a late answer counts later */
async function answerOr(known: Verdict | undefined, answer: Promise<Verdict>, database: Queryable): Promise<Verdict> {
  try {
    return await (known ? withTimeout(answer, TIMEOUT_MS) : answer);
  } catch (error) {
    if (!(await isTemporaryFailure(error, database))) throw error;
    if (known) return known;
    throw unavailable(error);
  }
}
