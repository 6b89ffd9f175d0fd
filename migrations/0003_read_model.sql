-- Views for SQL readers, in one schema that keeps its name while the indexer moves from one schema to the next.
--
-- The indexer publishes its tables as views of schema `live`, and drops and recreates them when a new index is complete.
-- A view on them would forbid that, so each one here goes through a function whose body is text: Postgres records no
-- dependency, resolves the names at each call, and inlines the body, so that conditions reach the tables' indexes.

CREATE SCHEMA IF NOT EXISTS live;
CREATE SCHEMA read_model;
-- The tables of `live` need not exist yet.
SET LOCAL check_function_bodies = off;

CREATE FUNCTION read_model.token_rows()
RETURNS TABLE (chain_id int8, address text, symbol text, name text, decimals int4)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, address, symbol, name, decimals FROM live.token
$$;

CREATE FUNCTION read_model.pool_rows()
RETURNS TABLE (
  chain_id int8, address text, factory text, pool_idx numeric, pair text, token0 text, token1 text,
  token0_symbol text, token1_symbol text, token0_decimals int4, token1_decimals int4,
  token0_scale_multiplier numeric, token1_scale_multiplier numeric, lowest_bin int4, highest_bin int4,
  creator text, created_block_number int8, created_timestamp int8, created_transaction_hash text,
  admin text, pending_admin text, admin_fee_destination text,
  protocol_spread_fee_e6 int4, admin_spread_fee_e6 int4, protocol_notional_fee_e8 int4, admin_notional_fee_e8 int4,
  price_provider text, price_provider_since_block int8, price_provider_timelock_secs numeric,
  pending_price_provider text, pending_price_provider_block int8, pending_price_provider_execute_after numeric
)
LANGUAGE sql STABLE AS $$
  SELECT p.chain_id, p.address, p.factory, p.pool_idx,
         coalesce(t0.symbol, p.token0) || '/' || coalesce(t1.symbol, p.token1), p.token0, p.token1,
         t0.symbol, t1.symbol, t0.decimals, t1.decimals,
         p.token0_scale_multiplier, p.token1_scale_multiplier, p.lowest_bin, p.highest_bin,
         p.creator, p.created_block_number, p.created_timestamp, p.created_transaction_hash,
         p.admin, p.pending_admin, p.admin_fee_destination,
         p.protocol_spread_fee_e6, p.admin_spread_fee_e6, p.protocol_notional_fee_e8, p.admin_notional_fee_e8,
         p.price_provider, p.price_provider_since_block, p.price_provider_timelock_secs,
         p.pending_price_provider, p.pending_price_provider_block, p.pending_price_provider_execute_after
  FROM live.pool p
  LEFT JOIN live.token t0 ON t0.chain_id = p.chain_id AND t0.address = p.token0
  LEFT JOIN live.token t1 ON t1.chain_id = p.chain_id AND t1.address = p.token1
$$;

CREATE FUNCTION read_model.pool_state_rows()
RETURNS TABLE (
  chain_id int8, pool text, pause_level int4, cur_bin_idx int4, cur_pos_in_bin numeric,
  cur_bin_dist_from_provided_price_e6 int4, spread_fee_e6 int4, notional_fee_e8 int4,
  total0_scaled numeric, total1_scaled numeric, liquidity0_raw numeric, liquidity1_raw numeric,
  notional_fee0_scaled numeric, notional_fee1_scaled numeric, balance0_raw numeric, balance1_raw numeric,
  block_number int8, block_timestamp int8
)
LANGUAGE sql STABLE AS $$
  SELECT s.chain_id, s.pool, s.pause_level, s.cur_bin_idx, s.cur_pos_in_bin,
         s.cur_bin_dist_from_provided_price_e6, s.spread_fee_e6, s.notional_fee_e8,
         s.total0_scaled, s.total1_scaled,
         div(s.total0_scaled, p.token0_scale_multiplier), div(s.total1_scaled, p.token1_scale_multiplier),
         s.notional_fee0_scaled, s.notional_fee1_scaled, s.balance0_raw, s.balance1_raw,
         s.block_number, s.block_timestamp
  FROM live.pool_state s
  JOIN live.pool p ON p.chain_id = s.chain_id AND p.address = s.pool
$$;

CREATE FUNCTION read_model.pool_bin_rows()
RETURNS TABLE (
  chain_id int8, pool text, bin_idx int4, token0_scaled numeric, token1_scaled numeric, total_shares numeric,
  length_e6 int4, add_fee_buy_e6 int4, add_fee_sell_e6 int4, lower_dist_e6 int4, block_number int8, block_timestamp int8
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, pool, bin_idx, token0_scaled, token1_scaled, total_shares,
         length_e6, add_fee_buy_e6, add_fee_sell_e6, lower_dist_e6, block_number, block_timestamp
  FROM live.pool_bin
$$;

CREATE FUNCTION read_model.pool_extension_rows()
RETURNS TABLE (chain_id int8, pool text, "position" int4, address text, phases text[])
LANGUAGE sql STABLE AS $$
  SELECT chain_id, pool, "position", address, phases FROM live.pool_extension
$$;

CREATE FUNCTION read_model.stop_loss_rows()
RETURNS TABLE (
  chain_id int8, address text, pool text, drawdown_e6 numeric, decay_per_second_e8 numeric, timelock_secs numeric,
  pending_drawdown_e6 numeric, pending_drawdown_execute_after numeric,
  pending_decay_per_second_e8 numeric, pending_decay_execute_after numeric,
  pending_timelock_secs numeric, pending_timelock_execute_after numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, address, pool, drawdown_e6, decay_per_second_e8, timelock_secs,
         pending_drawdown_e6, pending_drawdown_execute_after,
         pending_decay_per_second_e8, pending_decay_execute_after,
         pending_timelock_secs, pending_timelock_execute_after
  FROM live.stop_loss
$$;

CREATE FUNCTION read_model.price_velocity_rows()
RETURNS TABLE (
  chain_id int8, address text, pool text, max_change_per_block_e18 numeric, last_mid_price_x64 numeric,
  last_mid_price_block int8
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, address, pool, max_change_per_block_e18, last_mid_price_x64, last_mid_price_block
  FROM live.price_velocity
$$;

CREATE FUNCTION read_model.allowlist_rows()
RETURNS TABLE (chain_id int8, address text, pool text, action text, allow_all boolean)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, address, pool, action, allow_all FROM live.allowlist
$$;

CREATE FUNCTION read_model.price_provider_rows()
RETURNS TABLE (
  chain_id int8, address text, kind text, factory text, creator text, oracle text, base text, quote text,
  margin_step numeric, base_feed_id text, quote_feed_id text, class_id text, min_margin numeric,
  max_ref_staleness_secs numeric, max_spread_bps int4, mutable_params boolean, max_time_delta_secs numeric,
  future_tolerance_secs numeric, source text, confidence_param numeric
)
LANGUAGE sql STABLE AS $$
  SELECT p.chain_id, p.address, p.kind, p.factory, p.creator, p.oracle, p.base, p.quote,
         p.margin_step, p.base_feed_id, p.quote_feed_id, p.class_id, p.min_margin,
         p.max_ref_staleness_secs, p.max_spread_bps, p.mutable_params, p.max_time_delta_secs,
         p.future_tolerance_secs, s.source, s.confidence_param
  FROM live.price_provider p
  LEFT JOIN live.price_provider_setting s ON s.chain_id = p.chain_id AND s.address = p.address
$$;

CREATE FUNCTION read_model.swap_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  sender text, recipient text, zero_for_one boolean, exact_input boolean, amount0_raw numeric, amount1_raw numeric,
  lp_fee_scaled numeric, protocol_fee_scaled numeric, notional_fee_scaled numeric,
  cur_bin_idx int4, cur_pos_in_bin numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, block_number, block_timestamp, log_index, transaction_hash, pool,
         sender, recipient, zero_for_one, exact_input, amount0_raw, amount1_raw,
         lp_fee_scaled, protocol_fee_scaled, notional_fee_scaled, cur_bin_idx, cur_pos_in_bin
  FROM live.swap
$$;

CREATE FUNCTION read_model.bin_swap_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  bin_idx int4, delta0_scaled numeric, delta1_scaled numeric, lp_fee_scaled numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, block_number, block_timestamp, log_index, transaction_hash, pool,
         bin_idx, delta0_scaled, delta1_scaled, lp_fee_scaled
  FROM live.bin_swap
$$;

CREATE FUNCTION read_model.liquidity_change_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  direction text, provider text, salt numeric, delta0_scaled numeric, delta1_scaled numeric,
  amount0_raw numeric, amount1_raw numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, block_number, block_timestamp, log_index, transaction_hash, pool,
         direction, provider, salt, delta0_scaled, delta1_scaled, amount0_raw, amount1_raw
  FROM live.liquidity_change
$$;

CREATE FUNCTION read_model.fee_collection_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  amount0_to_protocol_raw numeric, amount1_to_protocol_raw numeric,
  amount0_to_admin_raw numeric, amount1_to_admin_raw numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, block_number, block_timestamp, log_index, transaction_hash, pool,
         amount0_to_protocol_raw, amount1_to_protocol_raw, amount0_to_admin_raw, amount1_to_admin_raw
  FROM live.fee_collection
$$;

CREATE FUNCTION read_model.pool_activity_rows()
RETURNS TABLE (
  chain_id int8, pool text, block_timestamp int8, block_number int8,
  swap_count int8, swap_tx_count int8, liquidity_add_count int8, liquidity_remove_count int8, transfer_count int8,
  swap_in0_raw numeric, swap_in1_raw numeric, swap_out0_raw numeric, swap_out1_raw numeric,
  liquidity_in0_raw numeric, liquidity_in1_raw numeric, liquidity_out0_raw numeric, liquidity_out1_raw numeric,
  fees_collected0_raw numeric, fees_collected1_raw numeric,
  lp_fee0_scaled numeric, lp_fee1_scaled numeric, protocol_fee0_scaled numeric, protocol_fee1_scaled numeric,
  notional_fee0_scaled numeric, notional_fee1_scaled numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, pool, block_timestamp, block_number,
         swap_count, swap_tx_count, liquidity_add_count, liquidity_remove_count, transfer_count,
         swap_in0_raw, swap_in1_raw, swap_out0_raw, swap_out1_raw,
         liquidity_in0_raw, liquidity_in1_raw, liquidity_out0_raw, liquidity_out1_raw,
         fees_collected0_raw, fees_collected1_raw,
         lp_fee0_scaled, lp_fee1_scaled, protocol_fee0_scaled, protocol_fee1_scaled,
         notional_fee0_scaled, notional_fee1_scaled
  FROM live.pool_activity
$$;

-- What each pool did in the window (from_ts, to_ts]: two steps down an index per pool, however many swaps there were.
CREATE FUNCTION read_model.pool_window(from_ts int8, to_ts int8)
RETURNS TABLE (
  chain_id int8, pool text,
  swap_count int8, swap_tx_count int8, liquidity_add_count int8, liquidity_remove_count int8, transfer_count int8,
  swap_in0_raw numeric, swap_in1_raw numeric, swap_out0_raw numeric, swap_out1_raw numeric,
  liquidity_in0_raw numeric, liquidity_in1_raw numeric, liquidity_out0_raw numeric, liquidity_out1_raw numeric,
  fees_collected0_raw numeric, fees_collected1_raw numeric, lp_fee0_scaled numeric, lp_fee1_scaled numeric,
  protocol_fee0_scaled numeric, protocol_fee1_scaled numeric, notional_fee0_scaled numeric, notional_fee1_scaled numeric
)
LANGUAGE sql STABLE AS $$
  SELECT p.chain_id, p.address,
         coalesce(e.swap_count, 0) - coalesce(s.swap_count, 0),
         coalesce(e.swap_tx_count, 0) - coalesce(s.swap_tx_count, 0),
         coalesce(e.liquidity_add_count, 0) - coalesce(s.liquidity_add_count, 0),
         coalesce(e.liquidity_remove_count, 0) - coalesce(s.liquidity_remove_count, 0),
         coalesce(e.transfer_count, 0) - coalesce(s.transfer_count, 0),
         coalesce(e.swap_in0_raw, 0) - coalesce(s.swap_in0_raw, 0),
         coalesce(e.swap_in1_raw, 0) - coalesce(s.swap_in1_raw, 0),
         coalesce(e.swap_out0_raw, 0) - coalesce(s.swap_out0_raw, 0),
         coalesce(e.swap_out1_raw, 0) - coalesce(s.swap_out1_raw, 0),
         coalesce(e.liquidity_in0_raw, 0) - coalesce(s.liquidity_in0_raw, 0),
         coalesce(e.liquidity_in1_raw, 0) - coalesce(s.liquidity_in1_raw, 0),
         coalesce(e.liquidity_out0_raw, 0) - coalesce(s.liquidity_out0_raw, 0),
         coalesce(e.liquidity_out1_raw, 0) - coalesce(s.liquidity_out1_raw, 0),
         coalesce(e.fees_collected0_raw, 0) - coalesce(s.fees_collected0_raw, 0),
         coalesce(e.fees_collected1_raw, 0) - coalesce(s.fees_collected1_raw, 0),
         coalesce(e.lp_fee0_scaled, 0) - coalesce(s.lp_fee0_scaled, 0),
         coalesce(e.lp_fee1_scaled, 0) - coalesce(s.lp_fee1_scaled, 0),
         coalesce(e.protocol_fee0_scaled, 0) - coalesce(s.protocol_fee0_scaled, 0),
         coalesce(e.protocol_fee1_scaled, 0) - coalesce(s.protocol_fee1_scaled, 0),
         coalesce(e.notional_fee0_scaled, 0) - coalesce(s.notional_fee0_scaled, 0),
         coalesce(e.notional_fee1_scaled, 0) - coalesce(s.notional_fee1_scaled, 0)
  FROM live.pool p
  LEFT JOIN LATERAL (
    SELECT * FROM live.pool_activity a
    WHERE a.chain_id = p.chain_id AND a.pool = p.address AND a.block_timestamp <= to_ts
    ORDER BY a.block_timestamp DESC LIMIT 1
  ) e ON true
  LEFT JOIN LATERAL (
    SELECT * FROM live.pool_activity a
    WHERE a.chain_id = p.chain_id AND a.pool = p.address AND a.block_timestamp <= from_ts
    ORDER BY a.block_timestamp DESC LIMIT 1
  ) s ON true
$$;

-- The block up to which each chain is indexed: both numbers are read out of Ponder's checkpoint, whose digits are
-- timestamp (10), chain (16), block (16) and place in the block.
CREATE FUNCTION read_model.indexed_block_rows()
RETURNS TABLE (chain_id int8, block_number int8, block_timestamp int8)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, substr(latest_checkpoint, 27, 16)::int8, substr(latest_checkpoint, 1, 10)::int8
  FROM live._ponder_checkpoint
$$;

CREATE VIEW read_model.token AS SELECT * FROM read_model.token_rows();
CREATE VIEW read_model.pool AS SELECT * FROM read_model.pool_rows();
CREATE VIEW read_model.pool_state AS SELECT * FROM read_model.pool_state_rows();
CREATE VIEW read_model.pool_bin AS SELECT * FROM read_model.pool_bin_rows();
CREATE VIEW read_model.pool_extension AS SELECT * FROM read_model.pool_extension_rows();
CREATE VIEW read_model.stop_loss AS SELECT * FROM read_model.stop_loss_rows();
CREATE VIEW read_model.price_velocity AS SELECT * FROM read_model.price_velocity_rows();
CREATE VIEW read_model.allowlist AS SELECT * FROM read_model.allowlist_rows();
CREATE VIEW read_model.price_provider AS SELECT * FROM read_model.price_provider_rows();
CREATE VIEW read_model.swap AS SELECT * FROM read_model.swap_rows();
CREATE VIEW read_model.bin_swap AS SELECT * FROM read_model.bin_swap_rows();
CREATE VIEW read_model.liquidity_change AS SELECT * FROM read_model.liquidity_change_rows();
CREATE VIEW read_model.fee_collection AS SELECT * FROM read_model.fee_collection_rows();
CREATE VIEW read_model.pool_activity AS SELECT * FROM read_model.pool_activity_rows();
CREATE VIEW read_model.indexed_block AS SELECT * FROM read_model.indexed_block_rows();

CREATE VIEW read_model.pool_listing AS
  SELECT l.chain_id, l.pool::text AS pool, l.contract_version, l.created_block_number, l.tier,
         coalesce(c.reason_codes, '{}') AS reason_codes, l.tvl_fiat AS tvl_usd, l.volume_fiat AS volume_24h_usd,
         l.apr_bps, l.apr_bps_7d, l.locked_pricing, l.deposit_allowlist
  FROM operator.pool_listing l
  LEFT JOIN operator.pool_classification c USING (chain_id, pool);
CREATE VIEW read_model.price_health AS
  SELECT chain_id, pool::text AS pool, status, sell_price_x64, buy_price_x64, block_number, block_timestamp, captured_at
  FROM operator.price_health;
CREATE VIEW read_model.fiat_price AS
  SELECT chain_id, token::text AS token, usd, source, priced_at FROM operator.fiat_price;
CREATE VIEW read_model.curator AS
  SELECT chain_id, address::text AS address, username, verified FROM operator.curator;
CREATE VIEW read_model.delisted_pool AS
  SELECT chain_id, pool::text AS pool, reason, delisted_at FROM operator.delisted_pool;
