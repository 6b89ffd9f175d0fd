-- The oldest generation of pools (v0): its swaps among the trades, its volume among the days. What else is asked of a pool is
-- null, and no other view has these pools.

SET LOCAL check_function_bodies = off;

-- The index that serves now has no tables of them: empty views stand in for them until the next one serves.
DO $$
BEGIN
  IF to_regclass('live.swap') IS NULL OR to_regclass('live.v0_swap') IS NOT NULL THEN RETURN; END IF;
  SET LOCAL ROLE ptd_indexer;
  CREATE VIEW live.v0_pool AS
    SELECT NULL::int8 AS chain_id, NULL::text AS address, NULL::text AS token0, NULL::text AS token1,
           NULL::int8 AS block_number, NULL::int8 AS block_timestamp
    WHERE false;
  CREATE VIEW live.v0_swap AS
    SELECT NULL::int8 AS chain_id, NULL::int8 AS block_number, NULL::int8 AS block_timestamp, NULL::int4 AS log_index,
           NULL::text AS transaction_hash, NULL::text AS pool, NULL::text AS sender, NULL::text AS recipient,
           NULL::int4 AS transaction_index, NULL::text AS transaction_from, NULL::text AS transaction_to,
           NULL::boolean AS zero_for_one, NULL::boolean AS exact_input, NULL::numeric AS amount0_raw, NULL::numeric AS amount1_raw
    WHERE false;
  RESET ROLE;
END
$$;

CREATE FUNCTION read_model.v0_pool_rows()
RETURNS TABLE (
  chain_id int8, address text, token0 text, token1 text, token0_symbol text, token1_symbol text,
  token0_decimals int4, token1_decimals int4, created_block_number int8, created_timestamp int8
)
LANGUAGE sql STABLE AS $$
  SELECT p.chain_id, p.address, p.token0, p.token1,
         read_model.shown_text(t0.symbol), read_model.shown_text(t1.symbol),
         read_model.shown_decimals(t0.decimals), read_model.shown_decimals(t1.decimals), p.block_number, p.block_timestamp
  FROM live.v0_pool p
  LEFT JOIN live.token t0 ON t0.chain_id = p.chain_id AND t0.address = p.token0
  LEFT JOIN live.token t1 ON t1.chain_id = p.chain_id AND t1.address = p.token1
$$;

CREATE FUNCTION read_model.v0_swap_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  sender text, recipient text, zero_for_one boolean, exact_input boolean, amount0_raw numeric, amount1_raw numeric,
  transaction_from text, transaction_to text, transaction_index int4
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, block_number, block_timestamp, log_index, transaction_hash, pool,
         sender, recipient, zero_for_one, exact_input, amount0_raw, amount1_raw,
         transaction_from, transaction_to, transaction_index
  FROM live.v0_swap
$$;

-- The days (UTC) of a pool of v0 with a swap in [from_ts, to_ts), which are days. Its volume is not stored: in dollars it is by
-- the minute's prices, as in dex_trades, by the hour once minutes are dropped.
CREATE FUNCTION read_model.v0_pool_days(of_chain int8, of_pool text, from_ts int8, to_ts int8)
RETURNS TABLE (
  chain_id int8, pool text, day_ts int8, swap_count int8, swap_tx_count int8, sender_count int8,
  volume0_raw numeric, volume1_raw numeric, volume_usd float8, is_final boolean
)
LANGUAGE sql STABLE AS $$
  WITH mark AS MATERIALIZED (
    SELECT history.trades_until(of_chain) AS until_ts
  ), swaps AS MATERIALIZED (
    SELECT block_timestamp - block_timestamp % 86400 AS start_ts, block_timestamp - block_timestamp % 60 AS minute_ts,
           transaction_hash, sender, amount0_raw, amount1_raw
    FROM read_model.v0_swap_rows()
    WHERE chain_id = of_chain AND pool = of_pool AND block_timestamp >= from_ts AND block_timestamp < to_ts
  ), valued AS (
    SELECT m.start_ts,
           CASE WHEN m.in0_raw = 0 THEN 0 ELSE (m.in0_raw / 10::numeric ^ p.token0_decimals)::float8
             * history.usd_at(of_chain, p.token0, m.minute_ts) END
           + CASE WHEN m.in1_raw = 0 THEN 0 ELSE (m.in1_raw / 10::numeric ^ p.token1_decimals)::float8
             * history.usd_at(of_chain, p.token1, m.minute_ts) END AS usd
    FROM (
      SELECT start_ts, minute_ts, sum(greatest(amount0_raw, 0)) AS in0_raw, sum(greatest(amount1_raw, 0)) AS in1_raw
      FROM swaps GROUP BY start_ts, minute_ts
    ) m, read_model.v0_pool_rows() p
    WHERE p.chain_id = of_chain AND p.address = of_pool
  ), dollars AS (
    SELECT start_ts, CASE WHEN count(usd) = count(*) THEN sum(usd) END AS usd FROM valued GROUP BY start_ts
  )
  SELECT of_chain, of_pool, d.start_ts, d.swaps, d.transactions, d.senders, d.volume0, d.volume1,
         CASE WHEN d.start_ts + 86400 <= mark.until_ts THEN dollars.usd END, d.start_ts + 86400 <= mark.until_ts
  FROM (
    SELECT start_ts, count(*) AS swaps, count(DISTINCT transaction_hash) AS transactions, count(DISTINCT sender) AS senders,
           sum(abs(amount0_raw)) AS volume0, sum(abs(amount1_raw)) AS volume1
    FROM swaps GROUP BY start_ts
  ) d
  JOIN dollars ON dollars.start_ts = d.start_ts, mark
$$;

CREATE OR REPLACE VIEW read_model.pool_day AS
  SELECT d.* FROM read_model.pool p, LATERAL read_model.pool_days(p.chain_id, p.address, 1099511627776, 1000000) d
  UNION ALL
  -- By the pool's own columns, so that conditions choose pools before their days are computed.
  SELECT p.chain_id, p.address, d.day_ts, d.swap_count, d.swap_tx_count, d.sender_count, d.volume0_raw, d.volume1_raw, d.volume_usd,
         NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, d.is_final, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM read_model.v0_pool_rows() p, LATERAL read_model.v0_pool_days(p.chain_id, p.address, 0, 1099511627776) d;
COMMENT ON VIEW read_model.pool_day IS
  'Days (UTC) of each pool with a log, of the serving index; of the oldest generation those with a swap, and its volume alone';

-- `named` has the name of each chain with a listed pool.
CREATE OR REPLACE VIEW read_model.dex_trades AS
  WITH named AS MATERIALIZED (
    SELECT w.chain_id, (SELECT l.record::json ->> 'chain' FROM operator.listed_pool l WHERE l.chain_id = w.chain_id LIMIT 1) AS name
    FROM operator.listing_window w
  )
  SELECT named.name AS blockchain, NULL::text AS project, coalesce(s.version, l.contract_version) AS version,
         (to_timestamp(s.block_timestamp) AT TIME ZONE 'UTC')::date AS block_date,
         date_trunc('month', to_timestamp(s.block_timestamp) AT TIME ZONE 'UTC')::date AS block_month,
         to_timestamp(s.block_timestamp) AS block_time, s.block_number,
         t.bought_symbol AS token_bought_symbol, t.sold_symbol AS token_sold_symbol,
         CASE WHEN (lower(s.token0_symbol) COLLATE "C", s.token0_symbol COLLATE "C") <= (lower(s.token1_symbol), s.token1_symbol)
              THEN s.token0_symbol || '-' || s.token1_symbol ELSE s.token1_symbol || '-' || s.token0_symbol END AS token_pair,
         read_model.whole_tokens(t.bought_raw, t.bought_decimals) AS token_bought_amount,
         read_model.whole_tokens(t.sold_raw, t.sold_decimals) AS token_sold_amount,
         t.bought_raw AS token_bought_amount_raw, t.sold_raw AS token_sold_amount_raw,
         CASE WHEN greatest(s.amount0_raw, s.amount1_raw) <= 0 THEN 0
              ELSE (t.sold_raw / 10::numeric ^ t.sold_decimals)::float8
                * history.usd_at(s.chain_id, t.sold, s.block_timestamp - s.block_timestamp % 60) END AS amount_usd,
         t.bought AS token_bought_address, t.sold AS token_sold_address, s.recipient AS taker, NULL::text AS maker,
         s.pool AS project_contract_address, s.transaction_hash AS tx_hash, s.transaction_from AS tx_from, s.transaction_to AS tx_to,
         s.log_index AS evt_index, s.chain_id, s.block_timestamp
  FROM (
    SELECT s.chain_id, s.block_number, s.block_timestamp, s.log_index, s.transaction_hash, s.pool, s.recipient, s.zero_for_one,
           s.amount0_raw, s.amount1_raw, s.transaction_from, s.transaction_to, p.token0, p.token1, p.token0_symbol,
           p.token1_symbol, p.token0_decimals, p.token1_decimals, NULL::text AS version
    FROM read_model.sent_swap_rows() s
    JOIN read_model.pool_rows() p ON p.chain_id = s.chain_id AND p.address = s.pool
    UNION ALL
    SELECT s.chain_id, s.block_number, s.block_timestamp, s.log_index, s.transaction_hash, s.pool, s.recipient, s.zero_for_one,
           s.amount0_raw, s.amount1_raw, s.transaction_from, s.transaction_to, p.token0, p.token1, p.token0_symbol,
           p.token1_symbol, p.token0_decimals, p.token1_decimals, 'v0'
    FROM read_model.v0_swap_rows() s
    JOIN read_model.v0_pool_rows() p ON p.chain_id = s.chain_id AND p.address = s.pool
  ) s
  LEFT JOIN operator.pool_listing l ON l.chain_id = s.chain_id AND l.pool::text = s.pool
  LEFT JOIN named ON named.chain_id = s.chain_id
  CROSS JOIN LATERAL (
    SELECT CASE WHEN s.zero_for_one THEN s.token0 WHEN NOT s.zero_for_one THEN s.token1 END AS sold,
           CASE WHEN s.zero_for_one THEN s.token1 WHEN NOT s.zero_for_one THEN s.token0 END AS bought,
           CASE WHEN s.zero_for_one THEN s.token0_symbol WHEN NOT s.zero_for_one THEN s.token1_symbol END AS sold_symbol,
           CASE WHEN s.zero_for_one THEN s.token1_symbol WHEN NOT s.zero_for_one THEN s.token0_symbol END AS bought_symbol,
           CASE WHEN s.zero_for_one THEN s.token0_decimals ELSE s.token1_decimals END AS sold_decimals,
           CASE WHEN s.zero_for_one THEN s.token1_decimals ELSE s.token0_decimals END AS bought_decimals,
           CASE WHEN s.zero_for_one THEN s.amount0_raw WHEN NOT s.zero_for_one THEN s.amount1_raw END AS sold_raw,
           -CASE WHEN s.zero_for_one THEN s.amount1_raw WHEN NOT s.zero_for_one THEN s.amount0_raw END AS bought_raw
  ) t;
COMMENT ON COLUMN read_model.dex_trades.version IS
  'contract_version of pool_listing, v0 of pools of the oldest generation; null for other pools that are not listed';
