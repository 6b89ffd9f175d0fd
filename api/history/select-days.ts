import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { PoolDay } from './days-declaration.ts';

/** Reads the newest days of a pool that start before a time, newest first. */
export async function selectDays(
  database: Queryable,
  { chainId, address }: Pick<ServedPool, 'chainId' | 'address'>,
  beforeTs: number,
  limit: number,
): Promise<PoolDay[]> {
  const { rows } = await database.query({
    name: 'days',
    text: `SELECT d.day_ts, d.swap_count, d.sender_count, d.volume0_raw::text, d.volume1_raw::text, d.volume_usd,
            d.balance0_raw::text, d.balance1_raw::text, d.is_final, d.lp_fee0_raw::text, d.lp_fee1_raw::text, d.lp_fee_usd,
            d.tvl0_raw::text, d.tvl1_raw::text, d.tvl_usd, d.lp_return,
            q.compared_count, q.median_bps, q.worst_bps, q.within_1bp_share, q.worse_share, q.unknown_share
     FROM read_model.pool_days($1, $2, $3, $4) d
     LEFT JOIN read_model.fill_quality q ON q.chain_id = d.chain_id AND q.pool = d.pool AND q.day_ts = d.day_ts
     ORDER BY d.day_ts DESC`,
    values: [chainId, address, beforeTs, limit],
  });
  return rows.map((row) => ({
    dayTs: Number(row.day_ts),
    swapCount: Number(row.swap_count),
    senderCount: Number(row.sender_count),
    volume0Raw: row.volume0_raw,
    volume1Raw: row.volume1_raw,
    volumeUsd: row.volume_usd,
    balance0Raw: row.balance0_raw,
    balance1Raw: row.balance1_raw,
    lpFee0Raw: row.lp_fee0_raw,
    lpFee1Raw: row.lp_fee1_raw,
    lpFeesUsd: row.lp_fee_usd,
    tvl0Raw: row.tvl0_raw,
    tvl1Raw: row.tvl1_raw,
    tvlUsd: row.tvl_usd,
    lpReturn: row.lp_return,
    fillQuality:
      row.compared_count === null
        ? null
        : {
            comparedCount: Number(row.compared_count),
            medianBps: row.median_bps,
            worstBps: row.worst_bps,
            within1BpShare: row.within_1bp_share,
            worseShare: row.worse_share,
            unknownShare: row.unknown_share,
          },
    final: row.is_final,
  }));
}
