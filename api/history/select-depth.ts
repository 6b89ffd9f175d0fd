import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import { DEPTH_BPS } from '../../protocol/depth-within.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { DepthSample } from './depth-declaration.ts';

type SelectedSample = Omit<DepthSample, 'depth'> & {
  readonly bids: readonly string[] | null;
  readonly asks: readonly string[] | null;
};

const SAMPLES = {
  '1m': loadStatement<SelectedSample>('./depth-of-minutes.sql', import.meta.url),
  '1h': loadStatement<SelectedSample>('./depth-of-hours.sql', import.meta.url),
};

/** Reads the newest samples of a pool before a time, or the last ones of its hours, newest first. */
export async function selectDepth(
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  { interval, beforeTs, limit }: { interval: keyof typeof SAMPLES; beforeTs: number; limit: number },
): Promise<DepthSample[]> {
  const rows = await SAMPLES[interval](database, [chainId, address, beforeTs, limit]);
  return rows.map(({ bids, asks, ...sample }) => ({
    ...sample,
    depth:
      bids || asks ? DEPTH_BPS.map((bps, n) => ({ bps, bidRaw: bids?.[n] ?? null, askRaw: asks?.[n] ?? null })) : null,
  }));
}
