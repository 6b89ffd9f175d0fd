-- For analysts: who sent a swap's transaction, fees of seven days, and null where a price or yield could mislead.

SET LOCAL check_function_bodies = off;

-- An index of before this file has no transactions: names that its table lacks are those of `older`.
CREATE FUNCTION read_model.sent_swap_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  sender text, recipient text, zero_for_one boolean, exact_input boolean, amount0_raw numeric, amount1_raw numeric,
  lp_fee_scaled numeric, protocol_fee_scaled numeric, notional_fee_scaled numeric,
  cur_bin_idx int4, cur_pos_in_bin numeric, transaction_from text, transaction_to text
)
LANGUAGE sql STABLE AS $$
  SELECT s.chain_id, s.block_number, s.block_timestamp, s.log_index, s.transaction_hash, s.pool,
         s.sender, s.recipient, s.zero_for_one, s.exact_input, s.amount0_raw, s.amount1_raw,
         s.lp_fee_scaled, s.protocol_fee_scaled, s.notional_fee_scaled, s.cur_bin_idx, s.cur_pos_in_bin,
         sent.transaction_from, sent.transaction_to
  FROM live.swap s
  CROSS JOIN (SELECT NULL::text AS transaction_from, NULL::text AS transaction_to) older
  CROSS JOIN LATERAL (SELECT transaction_from, transaction_to FROM (SELECT s.*) own) sent
$$;
CREATE OR REPLACE VIEW read_model.swap AS SELECT * FROM read_model.sent_swap_rows();
COMMENT ON COLUMN read_model.swap.transaction_from IS 'Who sent the transaction; null in an index of before release 0.3';
COMMENT ON COLUMN read_model.swap.transaction_to IS 'Contract that the transaction called; null when it created one';

-- `named` has the name of each chain with a listed pool.
CREATE OR REPLACE VIEW read_model.dex_trades AS
  WITH named AS MATERIALIZED (
    SELECT w.chain_id, (SELECT l.record::json ->> 'chain' FROM operator.listed_pool l WHERE l.chain_id = w.chain_id LIMIT 1) AS name
    FROM operator.listing_window w
  )
  SELECT named.name AS blockchain, NULL::text AS project, l.contract_version AS version,
         (to_timestamp(s.block_timestamp) AT TIME ZONE 'UTC')::date AS block_date,
         date_trunc('month', to_timestamp(s.block_timestamp) AT TIME ZONE 'UTC')::date AS block_month,
         to_timestamp(s.block_timestamp) AS block_time, s.block_number,
         t.bought_symbol AS token_bought_symbol, t.sold_symbol AS token_sold_symbol,
         CASE WHEN (lower(p.token0_symbol) COLLATE "C", p.token0_symbol COLLATE "C") <= (lower(p.token1_symbol), p.token1_symbol)
              THEN p.token0_symbol || '-' || p.token1_symbol ELSE p.token1_symbol || '-' || p.token0_symbol END AS token_pair,
         read_model.whole_tokens(t.bought_raw, t.bought_decimals) AS token_bought_amount,
         read_model.whole_tokens(t.sold_raw, t.sold_decimals) AS token_sold_amount,
         t.bought_raw AS token_bought_amount_raw, t.sold_raw AS token_sold_amount_raw,
         CASE WHEN greatest(s.amount0_raw, s.amount1_raw) <= 0 THEN 0
              ELSE (t.sold_raw / 10::numeric ^ t.sold_decimals)::float8
                * history.usd_at(s.chain_id, t.sold, s.block_timestamp - s.block_timestamp % 60) END AS amount_usd,
         t.bought AS token_bought_address, t.sold AS token_sold_address, s.recipient AS taker, NULL::text AS maker,
         s.pool AS project_contract_address, s.transaction_hash AS tx_hash, s.transaction_from AS tx_from, s.transaction_to AS tx_to,
         s.log_index AS evt_index, s.chain_id, s.block_timestamp
  FROM read_model.sent_swap_rows() s
  JOIN read_model.pool_rows() p ON p.chain_id = s.chain_id AND p.address = s.pool
  LEFT JOIN operator.pool_listing l ON l.chain_id = s.chain_id AND l.pool::text = s.pool
  LEFT JOIN named ON named.chain_id = s.chain_id
  CROSS JOIN LATERAL (
    SELECT CASE WHEN s.zero_for_one THEN p.token0 WHEN NOT s.zero_for_one THEN p.token1 END AS sold,
           CASE WHEN s.zero_for_one THEN p.token1 WHEN NOT s.zero_for_one THEN p.token0 END AS bought,
           CASE WHEN s.zero_for_one THEN p.token0_symbol WHEN NOT s.zero_for_one THEN p.token1_symbol END AS sold_symbol,
           CASE WHEN s.zero_for_one THEN p.token1_symbol WHEN NOT s.zero_for_one THEN p.token0_symbol END AS bought_symbol,
           CASE WHEN s.zero_for_one THEN p.token0_decimals ELSE p.token1_decimals END AS sold_decimals,
           CASE WHEN s.zero_for_one THEN p.token1_decimals ELSE p.token0_decimals END AS bought_decimals,
           CASE WHEN s.zero_for_one THEN s.amount0_raw WHEN NOT s.zero_for_one THEN s.amount1_raw END AS sold_raw,
           -CASE WHEN s.zero_for_one THEN s.amount1_raw WHEN NOT s.zero_for_one THEN s.amount0_raw END AS bought_raw
  ) t;
COMMENT ON COLUMN read_model.dex_trades.tx_from IS 'transaction_from of swap: the trader, also behind a router';
COMMENT ON COLUMN read_model.dex_trades.tx_to IS 'transaction_to of swap';

-- Nothing else calls it.
DROP FUNCTION read_model.swap_rows();

-- LP fees of the listing's two windows at its prices, US dollars; null when unknown.
ALTER TABLE operator.pool_listing ADD COLUMN lp_fees_fiat float8, ADD COLUMN lp_fees_fiat_7d float8;
CREATE OR REPLACE VIEW read_model.pool_listing AS
  SELECT l.chain_id, l.pool::text AS pool, l.contract_version, l.created_block_number, l.tier,
         coalesce(c.reason_codes, '{}') AS reason_codes, l.shown_tvl_fiat AS tvl_usd, l.shown_volume_fiat AS volume_24h_usd,
         (r.analytics::json ->> 'aprBps')::float8 AS apr_bps, (r.record::json ->> 'aprBps7d')::float8 AS apr_bps_7d,
         l.locked_pricing, l.deposit_allowlist, l.lp_fees_fiat AS lp_fees_24h_usd, l.lp_fees_fiat_7d AS lp_fees_7d_usd
  FROM operator.pool_listing l
  LEFT JOIN operator.listed_pool r USING (chain_id, pool)
  LEFT JOIN operator.pool_classification c USING (chain_id, pool);
COMMENT ON COLUMN read_model.pool_listing.lp_fees_7d_usd IS
  'Fees of liquidity providers in the seven days until the listing''s window ends; of packed pools too, once they are interpreted';

-- A yield of a window in which the pool did not live to the end would be too small.
CREATE OR REPLACE VIEW read_model.pool_yields AS
  SELECT l.pool::text AS pool, r.record::json ->> 'chain' AS chain, NULL::text AS project,
         p.token0_symbol || '-' || p.token1_symbol AS symbol, l.shown_tvl_fiat AS "tvlUsd",
         CASE WHEN p.created_timestamp <= w.to_ts - 86400 THEN (r.analytics::json ->> 'aprBps')::float8 / 100 END AS "apyBase",
         CASE WHEN p.created_timestamp <= w.to_ts - 604800 THEN (r.record::json ->> 'aprBps7d')::float8 / 100 END AS "apyBase7d",
         ARRAY[r.token0::text, r.token1::text] AS "underlyingTokens", l.shown_volume_fiat AS "volumeUsd1d",
         CASE WHEN v.swap_in0_raw = 0 THEN 0 ELSE (v.swap_in0_raw / 10::numeric ^ p.token0_decimals)::float8 * p0.usd END
           + CASE WHEN v.swap_in1_raw = 0 THEN 0 ELSE (v.swap_in1_raw / 10::numeric ^ p.token1_decimals)::float8 * p1.usd END
           AS "volumeUsd7d",
         l.chain_id, w.to_ts
  FROM operator.pool_listing l
  JOIN operator.listed_pool r USING (chain_id, pool)
  JOIN operator.listing_window w USING (chain_id)
  LEFT JOIN read_model.pool_rows() p ON p.chain_id = l.chain_id AND p.address = l.pool::text
  LEFT JOIN operator.listing_price p0 ON p0.chain_id = l.chain_id AND p0.token = r.token0
  LEFT JOIN operator.listing_price p1 ON p1.chain_id = l.chain_id AND p1.token = r.token1
  -- OFFSET 0 keeps the planner from computing the window of every pool to pick some of them.
  LEFT JOIN LATERAL (
    SELECT swap_in0_raw, swap_in1_raw FROM read_model.pool_window(w.to_ts - 604800, w.to_ts) e
    WHERE e.chain_id = l.chain_id AND e.pool = l.pool::text OFFSET 0
  ) v ON true
  WHERE l.tier <> 'black';
COMMENT ON COLUMN read_model.pool_yields."apyBase" IS
  'Percent per year, not compounded: 100 * 365 * (fees of liquidity providers in 24 hours, USD) / tvlUsd, rounded down to 0.01; '
  'null when fees or TVL are unknown, TVL is zero, or the pool is younger than the 24 hours';
COMMENT ON COLUMN read_model.pool_yields."apyBase7d" IS
  'The same of 7 days: 100 * 365 / 7 * (fees of liquidity providers in 7 days, USD) / tvlUsd; null for a pool younger than that';

-- Prices at which nobody can trade are null.
CREATE OR REPLACE VIEW read_model.price_health AS
  SELECT chain_id, pool::text AS pool, status,
         CASE WHEN status = 'healthy' THEN sell_price_x64 END::numeric(39, 0) AS sell_price_x64,
         CASE WHEN status = 'healthy' THEN buy_price_x64 END::numeric(39, 0) AS buy_price_x64, block_number, block_timestamp, captured_at, basis
  FROM operator.price_health;
CREATE OR REPLACE VIEW read_model.quote_sample AS
  SELECT s.chain_id, s.pool::text AS pool, s.block_timestamp, s.block_number, s.status, q.bid_x64, q.ask_x64,
         -- A division would round.
         (q.bid_x64 + q.ask_x64) * 0.5 AS mid_x64, s.is_change,
         q.bid_depth_raw[1] AS bid_depth_10bps_raw, q.bid_depth_raw[2] AS bid_depth_25bps_raw,
         q.bid_depth_raw[3] AS bid_depth_50bps_raw, q.bid_depth_raw[4] AS bid_depth_100bps_raw,
         q.ask_depth_raw[1] AS ask_depth_10bps_raw, q.ask_depth_raw[2] AS ask_depth_25bps_raw,
         q.ask_depth_raw[3] AS ask_depth_50bps_raw, q.ask_depth_raw[4] AS ask_depth_100bps_raw, s.basis
  FROM history.quote_minute s
  LEFT JOIN LATERAL (
    SELECT s.bid_x64, s.ask_x64, s.bid_depth_raw, s.ask_depth_raw WHERE s.status = 'healthy') q ON true;
