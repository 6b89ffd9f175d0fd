import type { Address } from 'viem';
import { isExhaustedBudget, RpcFailure } from '../../chain/rpc-failure.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { HeadContext } from '../../quoting/types.ts';
import type { QuotedCurve, ReadQuote } from '../quote-reader.ts';

/** What pools quoted at one block: null of a pool that did not trade, absent of one that was not read. */
export type QuotesRead = ReadonlyMap<Address, QuotedCurve | null>;

/**
 * Reads pools together. Those are absent that need a call when the budget has none left, and those whose own calls
 * failed: a pool whose search takes too long hides no other.
 *
 * @throws RpcFailure when nodes did not give the block's state: no pool was read
 */
export async function readQuotes(
  readQuote: ReadQuote,
  at: HeadContext,
  pools: readonly ServedPool[],
): Promise<QuotesRead> {
  const outcomes = await Promise.allSettled(pools.map((pool) => readQuote(at, pool).catch(unlessExhausted)));
  const quotes = new Map<Address, QuotedCurve | null>();
  const failures: unknown[] = [];
  for (const [index, { address }] of pools.entries()) {
    const outcome = outcomes[index];
    if (outcome?.status === 'rejected') failures.push(outcome.reason);
    else if (outcome?.value !== undefined) quotes.set(address, outcome.value);
  }
  const defect = failures.find((failure) => !(failure instanceof RpcFailure));
  if (defect !== undefined) throw defect;
  if (failures.length > 0 && failures.length === pools.length) throw failures[0];
  return quotes;
}

function unlessExhausted(error: unknown): undefined {
  if (!isExhaustedBudget(error)) throw error;
}
