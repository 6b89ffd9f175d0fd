import type { Address } from 'viem';
import { isExhaustedBudget } from '../../chain/rpc-failure.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { HeadContext } from '../../quoting/types.ts';
import type { QuotedCurve, ReadQuote } from '../quote-reader.ts';

/** What pools quoted at one block: null of a pool that did not trade, absent of one that was not read. */
export type QuotesRead = ReadonlyMap<Address, QuotedCurve | null>;

/**
 * Reads pools together. When the budget has no call left, those are absent that need one.
 *
 * @throws RpcFailure when nodes did not give the block's state
 */
export async function readQuotes(
  readQuote: ReadQuote,
  at: HeadContext,
  pools: readonly ServedPool[],
): Promise<QuotesRead> {
  const reads = pools.map(async (pool) => [pool.address, await readQuote(at, pool).catch(unlessExhausted)] as const);
  const quotes = new Map<Address, QuotedCurve | null>();
  for (const [address, quote] of await Promise.all(reads)) if (quote !== undefined) quotes.set(address, quote);
  return quotes;
}

function unlessExhausted(error: unknown): undefined {
  if (!isExhaustedBudget(error)) throw error;
}
