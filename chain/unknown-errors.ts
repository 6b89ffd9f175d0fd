import { LRUCache } from 'lru-cache';
import type { Address, Hex } from 'viem';
import type { CallResult } from '../protocol/bounded-calls/bounded-calls.ts';
import { unknownError } from '../protocol/pool-errors.ts';
import type { Logger } from '../runtime/logger.ts';

/** Logs an error of a pool that is not in `POOL_ERRORS`, once for each selector and pool. */
export type LogUnknownError = (pool: Address, result: CallResult | null | undefined) => void;

/** Pairs of pool and selector that are remembered as logged. */
const MAX_LOGGED = 10_000;

/** @param logger of one chain */
export function unknownErrorLog(logger: Pick<Logger, 'warn'>): LogUnknownError {
  const logged = new LRUCache<`${Address}:${Hex}`, true>({ max: MAX_LOGGED });
  return (pool, result) => {
    const selector = result ? unknownError(result) : null;
    if (!selector || logged.has(`${pool}:${selector}`)) return;
    logged.set(`${pool}:${selector}`, true);
    logger.warn({ pool, selector }, 'a pool reverted with an unknown error');
  };
}
