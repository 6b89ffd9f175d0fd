-- Adds the swaps after block $3 and before time $4 to the bars of the intervals $5, and updates the mark. A minute that the
-- served index has with the same trades keeps its dollars, since the prices of that time may be gone; those of fees where
-- these are the same, too: an index may have lacked parts of bins. A value in dollars is null when the price or the decimals
-- of its token are unknown. Block numbers grow with time. Thus the key of `swap` bounds at both ends what the query reads.
WITH swaps AS MATERIALIZED (
  SELECT pool, block_timestamp - block_timestamp % 60 AS minute_ts, block_number, log_index, amount0_raw,
         amount1_raw, zero_for_one, lp_fee_scaled, history.price_pair(amount0_raw, amount1_raw) AS price
  FROM :"schema".swap
  WHERE chain_id = $2 AND block_number > $3 AND block_timestamp < $4 AND block_number < coalesce((
    SELECT block_number FROM :"schema".swap WHERE chain_id = $2 AND block_number > $3 AND block_timestamp >= $4
    ORDER BY block_number LIMIT 1), 9223372036854775807)
), minutes AS (
  SELECT pool, minute_ts,
         history.first_price(price ORDER BY block_number, log_index) AS open_price,
         history.highest_price(price ORDER BY block_number, log_index) AS high_price,
         history.lowest_price(price ORDER BY block_number, log_index) AS low_price,
         history.last_price(price ORDER BY block_number, log_index) AS close_price,
         sum(abs(amount0_raw)) AS volume0_raw, sum(abs(amount1_raw)) AS volume1_raw,
         sum(greatest(amount0_raw, 0)) AS in0_raw, sum(greatest(amount1_raw, 0)) AS in1_raw, count(*) AS swap_count,
         count(lp_fee_scaled) AS fee_count, sum(CASE WHEN zero_for_one THEN lp_fee_scaled ELSE 0 END) AS fee0_scaled,
         sum(CASE WHEN zero_for_one THEN 0 ELSE lp_fee_scaled END) AS fee1_scaled
  FROM swaps GROUP BY pool, minute_ts
), valued AS MATERIALIZED (
  SELECT m.pool, m.minute_ts, m.open_price, m.high_price, m.low_price, m.close_price, m.volume0_raw, m.volume1_raw,
         CASE WHEN known.pool IS NOT NULL THEN known.volume_usd ELSE
           CASE WHEN m.in0_raw = 0 THEN 0 ELSE (m.in0_raw / 10::numeric ^ read_model.shown_decimals(token0.decimals))::float8
             * history.usd_at($2, p.token0, m.minute_ts) END
           + CASE WHEN m.in1_raw = 0 THEN 0 ELSE (m.in1_raw / 10::numeric ^ read_model.shown_decimals(token1.decimals))::float8
             * history.usd_at($2, p.token1, m.minute_ts) END
         END AS volume_usd, m.swap_count,
         CASE WHEN known.pool IS NOT NULL AND (had.fee0_scaled, had.fee1_scaled) IS NOT DISTINCT FROM (m.fee0_scaled, m.fee1_scaled)
           THEN known.lp_fee_usd WHEN m.fee_count = m.swap_count THEN
           CASE WHEN m.fee0_scaled / p.token0_scale_multiplier = 0 THEN 0 ELSE (m.fee0_scaled / p.token0_scale_multiplier / 10::numeric ^ read_model.shown_decimals(token0.decimals))::float8
             * history.usd_at($2, p.token0, m.minute_ts) END
           + CASE WHEN m.fee1_scaled / p.token1_scale_multiplier = 0 THEN 0 ELSE (m.fee1_scaled / p.token1_scale_multiplier / 10::numeric ^ read_model.shown_decimals(token1.decimals))::float8
             * history.usd_at($2, p.token1, m.minute_ts) END
         END AS lp_fee_usd
  FROM minutes m
  JOIN :"schema".pool p ON p.chain_id = $2 AND p.address = m.pool
  LEFT JOIN :"schema".token token0 ON token0.chain_id = $2 AND token0.address = p.token0
  LEFT JOIN :"schema".token token1 ON token1.chain_id = $2 AND token1.address = p.token1
  LEFT JOIN history.trade_bar known ON known.index_schema = (SELECT nullif(read_model.served_schema(), $1))
    AND known.chain_id = $2 AND known.pool = m.pool AND known.secs = 60 AND known.start_ts = m.minute_ts
    AND (known.volume0_raw, known.volume1_raw, known.swap_count) = (m.volume0_raw, m.volume1_raw, m.swap_count)
  LEFT JOIN LATERAL (
    SELECT sum(CASE WHEN s.zero_for_one THEN s.lp_fee_scaled ELSE 0 END) AS fee0_scaled,
           sum(CASE WHEN s.zero_for_one THEN 0 ELSE s.lp_fee_scaled END) AS fee1_scaled
    FROM :"served".swap s
    WHERE known.pool IS NOT NULL AND s.chain_id = $2 AND s.pool = m.pool
      AND s.block_timestamp >= m.minute_ts AND s.block_timestamp < m.minute_ts + 60
  ) had ON true
), written AS (
  INSERT INTO history.trade_bar AS r (index_schema, chain_id, pool, secs, start_ts, open_price, high_price, low_price,
    close_price, volume0_raw, volume1_raw, volume_usd, lp_fee_usd, swap_count)
  SELECT $1, $2, pool, secs, minute_ts - minute_ts % secs,
         history.first_price(open_price ORDER BY minute_ts), history.highest_price(high_price ORDER BY minute_ts),
         history.lowest_price(low_price ORDER BY minute_ts), history.last_price(close_price ORDER BY minute_ts),
         sum(volume0_raw), sum(volume1_raw), CASE WHEN count(volume_usd) = count(*) THEN sum(volume_usd) END,
         CASE WHEN count(lp_fee_usd) = count(*) THEN sum(lp_fee_usd) END, sum(swap_count)
  FROM valued, unnest($5::int4[]) secs
  GROUP BY pool, secs, minute_ts - minute_ts % secs
  ON CONFLICT (index_schema, chain_id, pool, secs, start_ts) DO UPDATE SET
    open_price = coalesce(r.open_price, excluded.open_price),
    high_price = coalesce(history.keep_high(r.high_price, excluded.high_price), r.high_price, excluded.high_price),
    low_price = coalesce(history.keep_low(r.low_price, excluded.low_price), r.low_price, excluded.low_price),
    close_price = coalesce(excluded.close_price, r.close_price),
    volume0_raw = r.volume0_raw + excluded.volume0_raw, volume1_raw = r.volume1_raw + excluded.volume1_raw,
    volume_usd = r.volume_usd + excluded.volume_usd, lp_fee_usd = r.lp_fee_usd + excluded.lp_fee_usd, swap_count = r.swap_count + excluded.swap_count
), marked AS (
  UPDATE history.trade_mark
  SET until_ts = $4, until_block = greatest(until_block, coalesce((SELECT max(block_number) FROM swaps), -1))
  WHERE index_schema = $1 AND chain_id = $2
)
SELECT count(*) AS swaps FROM swaps
