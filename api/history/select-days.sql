SELECT d.day_ts::float8 AS "dayTs", d.swap_count::float8 AS "swapCount", d.sender_count::float8 AS "senderCount",
  d.volume0_raw::text AS "volume0Raw", d.volume1_raw::text AS "volume1Raw", d.volume_usd AS "volumeUsd",
  -- Events that pay out what came without one may leave less than nothing.
  greatest(d.balance0_raw, 0)::text AS "balance0Raw", greatest(d.balance1_raw, 0)::text AS "balance1Raw",
  d.lp_fee0_raw::text AS "lpFee0Raw", d.lp_fee1_raw::text AS "lpFee1Raw", d.lp_fee_usd AS "lpFeesUsd",
  d.tvl0_raw::text AS "tvl0Raw", d.tvl1_raw::text AS "tvl1Raw", d.tvl_usd AS "tvlUsd", d.lp_return AS "lpReturn",
  CASE WHEN q.compared_count IS NOT NULL THEN json_build_object(
    'comparedCount', q.compared_count, 'medianBps', q.median_bps, 'worstBps', q.worst_bps,
    'within1BpShare', q.within_1bp_share, 'worseShare', q.worse_share, 'unknownShare', q.unknown_share) END AS "fillQuality",
  json_build_object('committedShare', e.committed_share, 'liveShare', e.live_share, 'ownLandedShare', e.own_landed_share,
    'sealedShare', e.sealed_share) AS executability,
  (SELECT coalesce(json_agg(json_build_object(
      'side', p.side, 'horizon', p.horizon, 'sampleCount', p.sample_count, 'medianBps', p.median_bps, 'p95Bps', p.p95_bps,
      'worse1BpShare', p.worse_1bp_share, 'worse5BpsShare', p.worse_5bps_share, 'withdrawnShare', p.withdrawn_share,
      'betterShare', p.better_share, 'goneShare', p.gone_share)
      ORDER BY p.side DESC, array_position(ARRAY['1_block', '2_blocks', '5_blocks', '200_ms'], p.horizon)), '[]')
    FROM history.persistence_day p WHERE p.chain_id = d.chain_id AND p.pool = d.pool AND p.day_ts = d.day_ts) AS persistence,
  d.is_final AS final
FROM read_model.pool_days($1, $2, $3, $4) d
LEFT JOIN LATERAL (
  -- OFFSET 0 keeps the planner from comparing all that was ever traded to pick the days of the page.
  SELECT * FROM read_model.fill_quality f WHERE f.chain_id = d.chain_id AND f.pool = d.pool AND f.day_ts = d.day_ts OFFSET 0
) q ON true
CROSS JOIN LATERAL read_model.executability(d.chain_id, d.pool, d.day_ts, d.day_ts + 86400) e
ORDER BY d.day_ts DESC
