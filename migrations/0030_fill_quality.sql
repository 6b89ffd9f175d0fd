-- As before (0005), by the days of trades: a condition on pools and days reads their swaps alone. Fills are kept for ever, so
-- that all together took longer each day.
CREATE OR REPLACE VIEW read_model.fill_quality AS
  SELECT t.chain_id, t.pool::text AS pool, t.start_ts AS day_ts, t.swap_count, d.compared_count, d.median_bps, d.worst_bps,
         d.within_1bp_share, d.worse_share, 1 - d.compared_count::float8 / t.swap_count AS unknown_share
  FROM history.trade_bar t
  CROSS JOIN LATERAL (
    SELECT count(f.vs_quote_bps) AS compared_count,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY f.vs_quote_bps::float8) AS median_bps,
           min(f.vs_quote_bps)::float8 AS worst_bps,
           avg((abs(f.vs_quote_bps) <= 1)::int4)::float8 AS within_1bp_share,
           -- An exact output takes up to a unit of input more than its quote needs.
           avg((f.quoted_out_raw - f.out_raw > f.quoted_out_raw / f.in_raw)::int4) FILTER (WHERE f.vs_quote_bps IS NOT NULL)::float8
             AS worse_share
    FROM read_model.swap_fills() f
    WHERE f.chain_id = t.chain_id AND f.pool = t.pool::text
      AND f.block_timestamp >= t.start_ts AND f.block_timestamp < t.start_ts + 86400 AND f.is_final
    HAVING count(*) > 0
  ) d
  WHERE t.index_schema = (SELECT read_model.served_schema()) AND t.secs = 86400 AND t.swap_count >= d.compared_count;
