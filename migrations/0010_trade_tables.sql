-- Trades and yields with the columns of public tables, for analysts who bring queries from there. What no row stores is null.

SET LOCAL check_function_bodies = off;

-- A raw amount in whole tokens, exactly: a division would round. Null without decimals.
CREATE FUNCTION read_model.whole_tokens(raw numeric, decimals int4) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT trim_scale(raw * ('1e-' || decimals::text)::numeric)
$$;

-- `named` has the name of each chain with a listed pool.
CREATE VIEW read_model.dex_trades AS
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
         s.pool AS project_contract_address, s.transaction_hash AS tx_hash, NULL::text AS tx_from, NULL::text AS tx_to,
         s.log_index AS evt_index, s.chain_id, s.block_timestamp
  FROM read_model.swap_rows() s
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
COMMENT ON VIEW read_model.dex_trades IS 'One row per swap of the serving index, with the columns of public trade tables';
COMMENT ON COLUMN read_model.dex_trades.blockchain IS 'Name of the chain in pool records; null until a pool of it is listed';
COMMENT ON COLUMN read_model.dex_trades.project IS 'Null: no row names the protocol';
COMMENT ON COLUMN read_model.dex_trades.version IS 'contract_version of pool_listing; null unless the pool is listed';
COMMENT ON COLUMN read_model.dex_trades.block_date IS 'Day of block_time, UTC';
COMMENT ON COLUMN read_model.dex_trades.block_month IS 'First day of its month, UTC';
COMMENT ON COLUMN read_model.dex_trades.token_pair IS
  'Both symbols in alphabetical order, in any case, with a hyphen; null when one is unknown';
COMMENT ON COLUMN read_model.dex_trades.token_bought_symbol IS 'Bought and sold are the taker''s; null when nothing moved';
COMMENT ON COLUMN read_model.dex_trades.token_bought_amount IS 'What the pool paid out, whole tokens, exact; null without decimals';
COMMENT ON COLUMN read_model.dex_trades.token_sold_amount IS 'What the pool received, fees included, whole tokens, exact; null without decimals';
COMMENT ON COLUMN read_model.dex_trades.amount_usd IS
  'The sold amount at the price in force when its minute began, as in trade_bars(), by the hour once minutes are dropped; '
  '0 when nothing moved, null when the price is unknown';
COMMENT ON COLUMN read_model.dex_trades.taker IS 'recipient of swap: who received the bought token';
COMMENT ON COLUMN read_model.dex_trades.maker IS 'Null: a pool has no account on the other side';
COMMENT ON COLUMN read_model.dex_trades.tx_from IS 'Null: transactions are not stored';
COMMENT ON COLUMN read_model.dex_trades.tx_to IS 'Null: transactions are not stored';
COMMENT ON COLUMN read_model.dex_trades.block_timestamp IS 'block_time in Unix seconds; conditions on it and chain_id use indexes';

CREATE VIEW read_model.pool_yields AS
  SELECT l.pool::text AS pool, r.record::json ->> 'chain' AS chain, NULL::text AS project,
         p.token0_symbol || '-' || p.token1_symbol AS symbol, l.tvl_fiat AS "tvlUsd",
         l.apr_bps / 100 AS "apyBase", l.apr_bps_7d / 100 AS "apyBase7d",
         ARRAY[r.token0::text, r.token1::text] AS "underlyingTokens", l.volume_fiat AS "volumeUsd1d",
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
COMMENT ON VIEW read_model.pool_yields IS
  'Yield of each listed pool without delisted ones, as of the last refresh of the listing, with the columns of public yield tables';
COMMENT ON COLUMN read_model.pool_yields.chain IS 'Name of the chain in pool records';
COMMENT ON COLUMN read_model.pool_yields.project IS 'Null: no row names the protocol';
COMMENT ON COLUMN read_model.pool_yields.symbol IS 'Symbols of token0 and token1, with a hyphen; null when one is unknown';
COMMENT ON COLUMN read_model.pool_yields."tvlUsd" IS
  'What liquidity providers own, at the listing''s prices, US dollars; null when a price or decimals are unknown';
COMMENT ON COLUMN read_model.pool_yields."apyBase" IS
  'Percent per year, not compounded: 100 * 365 * (fees of liquidity providers in 24 hours, USD) / tvlUsd, rounded down to 0.01; '
  'null when fees or TVL are unknown, or TVL is zero';
COMMENT ON COLUMN read_model.pool_yields."apyBase7d" IS
  'The same of 7 days: 100 * 365 / 7 * (fees of liquidity providers in 7 days, USD) / tvlUsd';
COMMENT ON COLUMN read_model.pool_yields."volumeUsd1d" IS
  'Input tokens of the swaps in 24 hours at the listing''s prices, US dollars; null when one is unknown';
COMMENT ON COLUMN read_model.pool_yields."volumeUsd7d" IS 'The same of the 7 days until the listing''s window ends';
COMMENT ON COLUMN read_model.pool_yields.to_ts IS 'When the listing''s window ends, Unix seconds: the time that the row is of';
