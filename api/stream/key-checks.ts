import { keysInUse } from '../../db/api-keys.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import type { ConnectionLimits } from './connection-limits.ts';

export interface KeyChecksDeps {
  readonly limits: ConnectionLimits;
  readonly database: Queryable;
  readonly logger: Logger;
  readonly everyMs: number;
}

/**
 * Looks the keys of open connections up again every so often, all in one query, and ends the connections of those that
 * were revoked. While the database does not answer, keys stay valid.
 *
 * @returns stops it
 */
export function startKeyChecks({ limits, database, logger, everyMs }: KeyChecksDeps): () => void {
  const check = async () => {
    const keyIds = limits.keyIds;
    if (keyIds.length === 0) return;
    const inUse = await keysInUse(database, keyIds);
    for (const keyId of keyIds) if (!inUse.has(keyId)) limits.revoke(keyId);
  };
  const guarded = () => check().catch((error) => logger.warn({ err: error }, 'keys of streams could not be checked'));
  return startRepeating(guarded, everyMs);
}
