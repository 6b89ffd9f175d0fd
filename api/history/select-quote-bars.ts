import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { type BarRange, type FoundBars, mapPrices, type Prices } from '../bars/bar-rows.ts';

/** Prices that bars of samples are made from. */
export type QuoteSeries = 'bid' | 'ask' | 'mid';

/** A bar of samples. Prices are Q64.64 and doubled, since a mid price may end with a half. */
export interface QuoteBarRow extends Prices<bigint> {
  readonly startTs: number;
  readonly sampleCount: number;
}

/** A row as Postgres gives it. The one row of a result without bars has null in all columns of a bar. */
interface SelectedBar extends Prices<string> {
  readonly finalUntil: string | null;
  readonly startTs: string | null;
  readonly count: string;
}

const barsBefore = loadStatement<SelectedBar>('./select-quote-bars.sql', import.meta.url);

/**
 * Reads the newest bars of a pool's quotes before a time.
 *
 * 1. Bars of an hour or more come from stored bars of hours, and from later samples.
 * 2. Shorter bars come from samples alone, which are kept for fewer days.
 * 3. Samples of a pool come in the order of their times, so none is added before the newest one.
 *
 * @param range before a multiple of its `secs`
 */
export async function selectQuoteBars(
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  series: QuoteSeries,
  { secs, beforeTs, limit }: BarRange,
): Promise<FoundBars<QuoteBarRow>> {
  const ofHour = (price: string) => `${price}_${series}_x64`;
  const hourly = { open: ofHour('open'), high: ofHour('high'), low: ofHour('low'), close: ofHour('close') };
  const rows = await barsBefore(database, [chainId, address, secs, beforeTs, limit, series], hourly);
  return { bars: rows.flatMap(toBar), finalUntilTs: Number(rows[0]?.finalUntil ?? 0) };
}

const toBar = ({ startTs, count, ...prices }: SelectedBar): QuoteBarRow[] =>
  startTs === null ? [] : [{ startTs: Number(startTs), ...mapPrices(prices, BigInt), sampleCount: Number(count) }];
