import { storedSecs } from '../../db/history/trade-minutes.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { TradedAmounts } from '../trades/average-price.ts';

/** A bar as the database has it. All prices are null when no trade has a price. */
export interface BarRow {
  readonly startTs: number;
  readonly open: TradedAmounts | null;
  readonly high: TradedAmounts | null;
  readonly low: TradedAmounts | null;
  readonly close: TradedAmounts | null;
  readonly volume0Raw: string;
  readonly volume1Raw: string;
  readonly volumeUsd: number | null;
  readonly swapCount: number;
  readonly isFinal: boolean;
}

export interface Bars {
  /** Newest first. */
  readonly bars: readonly BarRow[];
  /** All bars that end by this time are final, Unix seconds. */
  readonly finalUntilTs: number;
}

/**
 * Reads the newest bars of a pool before a time. It first finds the start of the oldest bar, from the keys of stored
 * bars and from swaps that are not yet final. Then it reads only rows of these bars.
 *
 * @param secs a value of `INTERVALS`
 * @param beforeTs Unix seconds, exclusive
 */
export async function selectBars(
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  secs: number,
  beforeTs: number,
  limit: number,
): Promise<Bars> {
  const stored = storedSecs(secs);
  const range = await database.query<{ from_ts: string | null; until_ts: string }>({
    name: `bar-starts-${stored}`,
    text: `WITH mark AS (
       SELECT history.trades_until($1) AS until_ts
     ), starts AS (
       SELECT block_timestamp - block_timestamp % $3::int8 AS start_ts FROM live.swap
       WHERE chain_id = $1 AND pool = $2 AND block_timestamp >= (SELECT until_ts FROM mark) AND block_timestamp < $4
       UNION
       SELECT start_ts - start_ts % $3::int8 FROM (
         SELECT start_ts FROM history.trade_bar
         WHERE index_schema = (SELECT read_model.served_schema()) AND chain_id = $1 AND pool = $2 AND secs = ${stored}
           AND start_ts < least($4::int8, (SELECT until_ts FROM mark))
         ORDER BY 1 DESC LIMIT $5::int8
       ) newest
     )
     SELECT until_ts, (SELECT min(start_ts) FROM (SELECT start_ts FROM starts ORDER BY 1 DESC LIMIT $6::int8) page) AS from_ts
     FROM mark`,
    values: [chainId, address, secs, beforeTs, limit * (secs / stored), limit],
  });
  const { from_ts, until_ts } = range.rows[0] ?? { from_ts: null, until_ts: '0' };
  if (from_ts === null) return { bars: [], finalUntilTs: Number(until_ts) };
  const pair = (name: string) => `${name}_price::text[] AS ${name}`;
  const { rows } = await database.query<SelectedBar>({
    name: 'bars',
    text: `SELECT start_ts, ${['open', 'high', 'low', 'close'].map(pair).join()}, volume0_raw::text, volume1_raw::text,
            volume_usd, swap_count, is_final
     FROM read_model.trade_bars($1, $2, $3, $4, $5) ORDER BY start_ts DESC LIMIT $6`,
    values: [chainId, address, secs, from_ts, beforeTs, limit],
  });
  return { bars: rows.map(toBar), finalUntilTs: Number(until_ts) };
}

/** A row as Postgres gives it, with numbers that may be large as texts. */
interface SelectedBar {
  readonly start_ts: string;
  readonly open: SelectedPair;
  readonly high: SelectedPair;
  readonly low: SelectedPair;
  readonly close: SelectedPair;
  readonly volume0_raw: string;
  readonly volume1_raw: string;
  readonly volume_usd: number | null;
  readonly swap_count: string;
  readonly is_final: boolean;
}
type SelectedPair = readonly [string, string] | null;

const toBar = (row: SelectedBar): BarRow => ({
  startTs: Number(row.start_ts),
  open: toPair(row.open),
  high: toPair(row.high),
  low: toPair(row.low),
  close: toPair(row.close),
  volume0Raw: row.volume0_raw,
  volume1Raw: row.volume1_raw,
  volumeUsd: row.volume_usd,
  swapCount: Number(row.swap_count),
  isFinal: row.is_final,
});

const toPair = (pair: SelectedPair): TradedAmounts | null => pair && [BigInt(pair[0]), BigInt(pair[1])];
