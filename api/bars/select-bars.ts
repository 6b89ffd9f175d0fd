import { storedSecs } from '../../db/history/trade-minutes.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { TradedAmounts } from './average-price.ts';
import { type BarRange, type FoundBars, mapPrices, type Prices } from './bar-rows.ts';

/** A bar as the database has it. All prices are null when no trade has a price. */
export interface BarRow extends Prices<TradedAmounts | null> {
  readonly startTs: number;
  readonly volume0Raw: string;
  readonly volume1Raw: string;
  readonly volumeUsd: number | null;
  readonly swapCount: number;
  readonly isFinal: boolean;
}

type SelectedPair = readonly [string, string] | null;
type SelectedBar = Omit<BarRow, keyof Prices<unknown>> & Prices<SelectedPair>;

const barStarts = loadStatement<{ readonly untilTs: string; readonly fromTs: string | null }>(
  './bar-starts.sql',
  import.meta.url,
  'bar-starts',
);
const barsBetween = loadStatement<SelectedBar>('./select-bars.sql', import.meta.url, 'bars');

/**
 * Reads the newest bars of a pool before a time. It first finds the start of the oldest bar, from the keys of stored
 * bars and from swaps that are not yet final. Then it reads only rows of these bars.
 */
export async function selectBars(
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  { secs, beforeTs, limit }: BarRange,
): Promise<FoundBars<BarRow>> {
  const stored = storedSecs(secs);
  const read = limit * (secs / stored);
  const [range] = await barStarts(database, [chainId, address, secs, beforeTs, read, limit, stored]);
  const finalUntilTs = Number(range?.untilTs ?? 0);
  if (!range?.fromTs) return { bars: [], finalUntilTs };
  const rows = await barsBetween(database, [chainId, address, secs, range.fromTs, beforeTs, limit]);
  return { bars: rows.map((row) => ({ ...row, ...mapPrices(row, toPair) })), finalUntilTs };
}

const toPair = (pair: SelectedPair): TradedAmounts | null => pair && [BigInt(pair[0]), BigInt(pair[1])];
