import { keysInUse } from '../../db/api-keys.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import type { ConnectionLimits } from './connection-limits.ts';

/** A revoked key counts no longer after this time: it was valid when the connection opened. */
const CHECK_EVERY_MS = 60_000;

/**
 * Looks the keys of open connections up again every so often, all in one query, and ends the connections of those that
 * were revoked. While the database is unavailable, keys stay valid.
 *
 * @returns stops it
 */
export function startKeyChecks(
  limits: ConnectionLimits,
  database: Queryable,
  logger: Logger,
  everyMs = CHECK_EVERY_MS,
): () => void {
  const check = async () => {
    const keyIds = limits.keyIds;
    if (keyIds.length === 0) return;
    const inUse = await keysInUse(database, keyIds);
    for (const keyId of keyIds) if (!inUse.has(keyId)) limits.revoke(keyId);
  };
  const guarded = () => check().catch((error) => logger.warn({ err: error }, 'failed to check the keys of streams'));
  return startRepeating(guarded, everyMs);
}
