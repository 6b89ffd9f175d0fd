import type { Address } from 'viem';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import { quoteFailure } from '../errors.ts';
import type { LatestQuote } from '../latest/latest-quotes.ts';
import { quoteJson } from '../quotes/quote-body.ts';

/** Most characters of one message. Only a single quote may take more. */
const PART_LENGTH = 60 * 1024;

/** A pool to be sent. A pool without a quote is not served. */
export interface PoolToSend {
  readonly pool: Address;
  /** Its place among the pools of the connection. */
  readonly index?: number;
  readonly quote?: LatestQuote;
}

/**
 * Divides pools into parts of bounded length, each pool with its quote or why it has none. A quote's text is made once
 * for all connections.
 */
export function* messageParts(pools: readonly PoolToSend[]) {
  let part = { pools: [] as PoolToSend[], quotes: [] as string[], errors: [] as string[] };
  let length = 0;
  for (const each of pools) {
    const outcome = each.quote?.outcome;
    const isQuote = outcome !== undefined && !(outcome instanceof SnapshotError);
    const text = isQuote ? quoteJson(outcome) : errorJson(each.pool, outcome);
    if (length > 0 && length + text.length > PART_LENGTH) {
      yield { ...part, isLast: false };
      part = { pools: [], quotes: [], errors: [] };
      length = 0;
    }
    length += text.length;
    part.pools.push(each);
    (isQuote ? part.quotes : part.errors).push(text);
  }
  if (length > 0) yield { ...part, isLast: true };
}

function errorJson(poolAddress: Address, error: SnapshotError | undefined): string {
  const { status, message } = quoteFailure(poolAddress, error);
  return JSON.stringify({ poolAddress, status, error: message });
}
