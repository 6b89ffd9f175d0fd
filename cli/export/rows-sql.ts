import type { Column } from './columns.ts';

/** Views that can be exported, each with the column that has the time of a row, Unix seconds. */
export const VIEWS = {
  trade_candle: 'minute_ts',
  quote_sample: 'block_timestamp',
  pool_day: 'day_ts',
  fill_quality: 'day_ts',
  quote_persistence: 'day_ts',
  fiat_price_history: 'ts',
  dex_trades: 'block_timestamp',
  pool_yields: 'to_ts',
} as const;
export type View = keyof typeof VIEWS;

/** Views of the index alone. Rows of other views are dropped with age, or cannot be made again. */
export const OF_INDEX: ReadonlySet<View> = new Set(['trade_candle', 'pool_day', 'dex_trades']);

/** Order within a day of views whose second column is neither a pool nor a token. */
const ORDERS: Partial<Record<View, string>> = {
  dex_trades: 'block_number, evt_index',
  pool_yields: 'pool',
  quote_persistence: 'pool, day_ts, side, horizon',
};

const DAY = 86_400;
export const ROWS_PER_FETCH = 20_000;
export const FETCH_ROWS = `FETCH ${ROWS_PER_FETCH} FROM exported`;
export const CLOSE_ROWS = 'CLOSE exported';

export interface RowsRequest {
  readonly view: View;
  readonly columns: readonly Column[];
  readonly chainId: number;
  /** Unix seconds: from the first, before the second. */
  readonly from: number;
  readonly to: number;
}

/**
 * Opens a cursor on the rows of some days, in their order, with the start of the day in the last column. The second
 * column of most views is the pool or token. The fourth distinguishes prices of minutes and of hours.
 */
export function openRows({ view, columns, chainId, from, to }: RowsRequest): string {
  const time = VIEWS[view];
  return `DECLARE exported NO SCROLL CURSOR FOR
    SELECT ${columns.map(({ sql }) => sql).join()}, ${time} / ${DAY} * ${DAY} FROM read_model.${view}
    WHERE chain_id = ${chainId} AND ${time} >= ${from} AND ${time} < ${to}
    ORDER BY ${columns.length + 1}, ${ORDERS[view] ?? `${columns[1]?.sql}, ${time}, 4`}`;
}
