-- The last price of each step of `secs` in [from_ts, to_ts), which are multiples of `secs`: the middle of a quote, or else the
-- price of a trade. Rounded down, Q64.64, token1 per whole token0; null for a step without either. Each step is one look-up
-- in an index; trades are read only where a step has no quote.
CREATE FUNCTION read_model.price_steps(of_chain int8, of_pool text, secs int8, from_ts int8, to_ts int8)
RETURNS TABLE (step_ts int8, price_x64 numeric)
LANGUAGE sql STABLE AS $$
  WITH quoted AS MATERIALIZED (
    SELECT step.ts, (
      SELECT div(q.bid_x64 + q.ask_x64, 2) FROM history.quote_minute q
      WHERE q.chain_id = of_chain AND q.pool = of_pool AND q.status = 'healthy' AND q.bid_x64 + q.ask_x64 IS NOT NULL
        AND q.block_timestamp >= step.ts AND q.block_timestamp < step.ts + secs
      ORDER BY q.block_timestamp DESC LIMIT 1
    ) AS price
    FROM generate_series(from_ts, to_ts - secs, secs) step (ts)
  )
  SELECT quoted.ts, coalesce(quoted.price, traded.price)
  FROM quoted LEFT JOIN (
    SELECT b.start_ts,
           div(b.close_price[2] * p.token1_scale_multiplier * 2::numeric ^ 64, b.close_price[1] * p.token0_scale_multiplier) AS price
    FROM read_model.pool_rows() p, read_model.trade_bars(of_chain, of_pool, price_steps.secs, from_ts, to_ts) b
    WHERE p.chain_id = of_chain AND p.address = of_pool AND EXISTS (SELECT FROM quoted WHERE price IS NULL)
  ) traded ON traded.start_ts = quoted.ts
$$;

-- The newest depth of a pool within 100 bps that was sampled since a time, raw units; no row without one.
CREATE FUNCTION read_model.newest_depth(of_chain int8, of_pool text, from_ts int8)
RETURNS TABLE (bid_raw numeric, ask_raw numeric)
LANGUAGE sql STABLE AS $$
  SELECT bid_depth_raw[4], ask_depth_raw[4] FROM history.quote_minute
  WHERE chain_id = of_chain AND pool = of_pool AND block_timestamp >= from_ts
    AND (bid_depth_raw IS NOT NULL OR ask_depth_raw IS NOT NULL)
  ORDER BY block_timestamp DESC LIMIT 1
$$;
