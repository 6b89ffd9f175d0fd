import type { Queryable } from '../../db/transaction.ts';
import { DEPTH_BPS } from '../../protocol/depth-within.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { DepthSample } from './depth-declaration.ts';

const FROM = {
  '1m': `block_timestamp AS ts, block_number, status, bid_x64::text AS bid, ask_x64::text AS ask FROM history.quote_minute`,
  '1h': `hour_ts AS ts, NULL AS block_number, 'healthy' AS status, trunc(close_bid_x64)::text AS bid,
         trunc(close_ask_x64)::text AS ask FROM history.quote_hour`,
} as const;

/** Reads the newest samples of a pool before a time, or the last ones of its hours, newest first. */
export async function selectDepth(
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  interval: keyof typeof FROM,
  beforeTs: number,
  limit: number,
): Promise<DepthSample[]> {
  const { rows } = await database.query<SelectedSample>(
    `SELECT bid_depth_raw::text[] AS bids, ask_depth_raw::text[] AS asks, ${FROM[interval]}
     WHERE chain_id = $1 AND pool = $2 AND ${interval === '1m' ? 'block_timestamp' : 'hour_ts'} < $3 ORDER BY ts DESC LIMIT $4`,
    [chainId, address, beforeTs, limit],
  );
  return rows.map(({ ts, block_number, status, bid, ask, bids, asks }) => ({
    ts: Number(ts),
    blockNumber: block_number === null ? null : Number(block_number),
    status,
    bidX64: bid,
    askX64: ask,
    depth:
      bids || asks ? DEPTH_BPS.map((bps, n) => ({ bps, bidRaw: bids?.[n] ?? null, askRaw: asks?.[n] ?? null })) : null,
  }));
}

interface SelectedSample {
  readonly ts: string;
  readonly block_number: string | null;
  readonly status: DepthSample['status'];
  readonly bid: string | null;
  readonly ask: string | null;
  readonly bids: readonly string[] | null;
  readonly asks: readonly string[] | null;
}
