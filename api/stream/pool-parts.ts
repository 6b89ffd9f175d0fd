import type { Address } from 'viem';
import { quoteJson } from '../quotes/quote-body.ts';
import { quoteFailure } from '../quotes/quotes.ts';
import { SnapshotError } from '../snapshots/types.ts';
import type { PoolOutcome } from './latest-quotes.ts';

/** What one message says of pools, as JSON each. */
export interface PoolPart {
  readonly pools: readonly Address[];
  readonly quotes: readonly string[];
  readonly errors: readonly string[];
}

/** Most of one message, in characters: a single quote may take more. */
const PART_LENGTH = 60 * 1024;

/**
 * Pools in parts of bounded length, each with its quote or why it has none. A quote's text is made once, however many
 * connections are sent it.
 *
 * @param outcomeOf undefined for a pool that is not served
 */
export function* poolParts(
  pools: readonly Address[],
  outcomeOf: (pool: Address) => PoolOutcome | undefined,
): Iterable<PoolPart> {
  for (let next = 0; next < pools.length; ) {
    const part = { pools: [] as Address[], quotes: [] as string[], errors: [] as string[] };
    for (let length = 0; next < pools.length; next++) {
      const pool = pools[next] as Address;
      const outcome = outcomeOf(pool);
      const isQuote = outcome !== undefined && !(outcome instanceof SnapshotError);
      const text = isQuote ? quoteJson(outcome) : errorJson(pool, outcome);
      if (length > 0 && length + text.length > PART_LENGTH) break;
      length += text.length;
      part.pools.push(pool);
      (isQuote ? part.quotes : part.errors).push(text);
    }
    yield part;
  }
}

function errorJson(poolAddress: Address, outcome: SnapshotError | undefined): string {
  const { status, message } = quoteFailure(poolAddress, outcome);
  return JSON.stringify({ poolAddress, status, error: message });
}
