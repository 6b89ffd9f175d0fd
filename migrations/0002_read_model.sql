-- Views for SQL readers, in one schema that keeps its name while the indexer moves from one schema to the next.
--
-- The indexer publishes its tables as views of schema `live`, and drops and recreates them when a new index is complete.
-- A view on them would forbid that, so each one here goes through a function whose body is text: Postgres records no
-- dependency, resolves the names at each call, and inlines the body, so that conditions reach the tables' indexes.

CREATE SCHEMA IF NOT EXISTS live;
CREATE SCHEMA read_model;
-- The tables of `live` need not exist yet.
SET LOCAL check_function_bodies = off;

-- At most 64 characters that neither hide nor turn the text around them, and that are safe in JSON, CSV and HTML. Ordinary
-- text is as it was.
--   1. Control characters, and those that Unicode lets programs leave out (directions, joiners, fillers, variation
--      selectors, tags), are removed. Private use and noncharacters too.
--   2. White space of any kind and length becomes one space; there is none at the ends.
--   3. < > & " ' ` , ; become characters that look alike and mean nothing.
--   4. = + - @ at the beginning, in full width too, which make formulas of cells, are removed.
--   5. The first 64 characters are kept. Null when nothing is left.
CREATE FUNCTION read_model.shown_text(raw text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN raw ~ '^[A-Za-z0-9][A-Za-z0-9._$]{0,63}$' THEN raw ELSE nullif(rtrim(left(
    regexp_replace(
      translate(
        regexp_replace(
          regexp_replace(
            raw,
            '[\u0001-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f'
              '\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb'
              '\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]',
            '', 'g'
          ),
          '[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'
        ),
        '<>&"''`,;', '‹›＆”’‘‚；'
      ),
      '^[ =+@＝＋－＠-]+', ''
    ), 64)), '') END
$$;

-- More decimals than any token has are not known, rather than believed.
CREATE FUNCTION read_model.shown_decimals(raw int4) RETURNS int4
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT CASE WHEN raw <= 36 THEN raw END $$;

CREATE FUNCTION read_model.token_rows()
RETURNS TABLE (chain_id int8, address text, symbol text, name text, decimals int4)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, address, read_model.shown_text(symbol), read_model.shown_text(name), read_model.shown_decimals(decimals)
  FROM live.token
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
         coalesce(read_model.shown_text(t0.symbol), p.token0) || '/' || coalesce(read_model.shown_text(t1.symbol), p.token1),
         p.token0, p.token1, read_model.shown_text(t0.symbol), read_model.shown_text(t1.symbol),
         read_model.shown_decimals(t0.decimals), read_model.shown_decimals(t1.decimals),
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
RETURNS TABLE (chain_id int8, address text, pool text, max_change_per_block_e18 numeric)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, address, pool, max_change_per_block_e18 FROM live.price_velocity
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

-- Running totals of a pool by name, in the order of protocol/pool-totals.ts; one that an index does not count is null.
CREATE FUNCTION read_model.totals_by_name(totals numeric[])
RETURNS TABLE (
  swap_count int8, swap_tx_count int8, liquidity_add_count int8, liquidity_remove_count int8, transfer_count int8,
  swap_in0_raw numeric, swap_in1_raw numeric, swap_out0_raw numeric, swap_out1_raw numeric,
  liquidity_in0_raw numeric, liquidity_in1_raw numeric, liquidity_out0_raw numeric, liquidity_out1_raw numeric,
  fees_collected0_raw numeric, fees_collected1_raw numeric, lp_fee0_scaled numeric, lp_fee1_scaled numeric,
  protocol_fee0_scaled numeric, protocol_fee1_scaled numeric, notional_fee0_scaled numeric,
  notional_fee1_scaled numeric, sale_bin_fees_high numeric, sale_bin_fees_low numeric,
  purchase_bin_fees_high numeric, purchase_bin_fees_low numeric, sale_platform_fees_high numeric,
  sale_platform_fees_low numeric, purchase_platform_fees_high numeric, purchase_platform_fees_low numeric
)
LANGUAGE sql IMMUTABLE AS $$
  SELECT totals[1]::int8, totals[2]::int8, totals[3]::int8, totals[4]::int8, totals[5]::int8, totals[6], totals[7],
         totals[8], totals[9], totals[10], totals[11], totals[12], totals[13], totals[14], totals[15], totals[16],
         totals[17], totals[18], totals[19], totals[20], totals[21], totals[22], totals[23], totals[24], totals[25],
         totals[26], totals[27], totals[28], totals[29]
$$;

CREATE FUNCTION read_model.pool_activity_rows()
RETURNS TABLE (chain_id int8, pool text, block_timestamp int8, block_number int8, totals numeric[])
LANGUAGE sql STABLE AS $$
  SELECT chain_id, pool, block_timestamp, block_number, totals FROM live.pool_activity
$$;

-- What each pool did in the window (from_ts, to_ts]: two steps down an index per pool, however many swaps there were. A
-- total that is null is so in every row of the pool, and of a pool without a row nothing is counted. Same order as above.
CREATE FUNCTION read_model.pool_window(from_ts int8, to_ts int8)
RETURNS TABLE (
  chain_id int8, pool text,
  swap_count int8, swap_tx_count int8, liquidity_add_count int8, liquidity_remove_count int8, transfer_count int8,
  swap_in0_raw numeric, swap_in1_raw numeric, swap_out0_raw numeric, swap_out1_raw numeric,
  liquidity_in0_raw numeric, liquidity_in1_raw numeric, liquidity_out0_raw numeric, liquidity_out1_raw numeric,
  fees_collected0_raw numeric, fees_collected1_raw numeric, lp_fee0_scaled numeric, lp_fee1_scaled numeric,
  protocol_fee0_scaled numeric, protocol_fee1_scaled numeric, notional_fee0_scaled numeric,
  notional_fee1_scaled numeric, sale_bin_fees_high numeric, sale_bin_fees_low numeric,
  purchase_bin_fees_high numeric, purchase_bin_fees_low numeric, sale_platform_fees_high numeric,
  sale_platform_fees_low numeric, purchase_platform_fees_high numeric, purchase_platform_fees_low numeric
)
LANGUAGE sql STABLE AS $$
  SELECT p.chain_id, p.address,
         (e[1] - coalesce(s[1], 0))::int8, (e[2] - coalesce(s[2], 0))::int8, (e[3] - coalesce(s[3], 0))::int8,
         (e[4] - coalesce(s[4], 0))::int8, (e[5] - coalesce(s[5], 0))::int8, e[6] - coalesce(s[6], 0),
         e[7] - coalesce(s[7], 0), e[8] - coalesce(s[8], 0), e[9] - coalesce(s[9], 0), e[10] - coalesce(s[10], 0),
         e[11] - coalesce(s[11], 0), e[12] - coalesce(s[12], 0), e[13] - coalesce(s[13], 0),
         e[14] - coalesce(s[14], 0), e[15] - coalesce(s[15], 0), e[16] - coalesce(s[16], 0),
         e[17] - coalesce(s[17], 0), e[18] - coalesce(s[18], 0), e[19] - coalesce(s[19], 0),
         e[20] - coalesce(s[20], 0), e[21] - coalesce(s[21], 0), e[22] - coalesce(s[22], 0),
         e[23] - coalesce(s[23], 0), e[24] - coalesce(s[24], 0), e[25] - coalesce(s[25], 0),
         e[26] - coalesce(s[26], 0), e[27] - coalesce(s[27], 0), e[28] - coalesce(s[28], 0),
         e[29] - coalesce(s[29], 0)
  FROM live.pool p
  LEFT JOIN LATERAL (
    SELECT totals FROM live.pool_activity
    WHERE chain_id = p.chain_id AND pool = p.address AND block_timestamp <= to_ts
    ORDER BY block_timestamp DESC LIMIT 1
  ) AS until ON true
  LEFT JOIN LATERAL (
    SELECT totals FROM live.pool_activity
    WHERE chain_id = p.chain_id AND pool = p.address AND block_timestamp <= from_ts
    ORDER BY block_timestamp DESC LIMIT 1
  ) AS before (s) ON true,
  LATERAL (SELECT coalesce(until.totals, array_fill(0::numeric, ARRAY[29]))) AS counted (e)
$$;

-- The block up to which each chain is indexed: both numbers are read out of Ponder's checkpoint, whose digits are
-- timestamp (10), chain (16), block (16) and place in the block.
CREATE FUNCTION read_model.indexed_block_rows()
RETURNS TABLE (chain_id int8, block_number int8, block_timestamp int8)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, substr(latest_checkpoint, 27, 16)::int8, substr(latest_checkpoint, 1, 10)::int8
  FROM live._ponder_checkpoint
$$;

-- What events of packed pools say in words whose meaning depends on the factory, for readers who know it. What follows from
-- the words is null in the views. These are functions alone: a view would have to fit every index that may serve.
CREATE FUNCTION read_model.packed_pools()
RETURNS TABLE (chain_id int8, pool text, bid_ask_ref_asymmetry_x8 int4)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, pool, bid_ask_ref_asymmetry_x8 FROM live.pool_state WHERE bin_swap_deltas0 IS NOT NULL
$$;

CREATE FUNCTION read_model.packed_bins()
RETURNS TABLE (
  chain_id int8, pool text, bin_idx int4, liquidity0_scaled numeric, liquidity1_scaled numeric,
  swap_delta0 numeric, swap_delta1 numeric, block_number int8, block_timestamp int8
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, pool, bin_idx, liquidity0_scaled, liquidity1_scaled, swap_delta0, swap_delta1,
         block_number, block_timestamp
  FROM live.packed_bin
$$;

CREATE FUNCTION read_model.packed_swaps()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  details numeric, platform_fees_high numeric, platform_fees_low numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, block_number, block_timestamp, log_index, transaction_hash, pool,
         details, platform_fees_high, platform_fees_low
  FROM live.swap
  WHERE details IS NOT NULL
$$;

CREATE FUNCTION read_model.packed_bin_swaps()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  bin_idx int4, delta0 numeric, delta1 numeric, fees_high numeric, fees_low numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, block_number, block_timestamp, log_index, transaction_hash, pool,
         bin_idx, delta0, delta1, fees_high, fees_low
  FROM live.packed_bin_swap
$$;

CREATE FUNCTION read_model.packed_stop_losses()
RETURNS TABLE (
  chain_id int8, address text, pool text, decay_per_second_e18 numeric, pending_decay_per_second_e18 numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, address, pool, decay_per_second_e18, pending_decay_per_second_e18
  FROM live.stop_loss
  WHERE coalesce(decay_per_second_e18, pending_decay_per_second_e18) IS NOT NULL
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
CREATE VIEW read_model.pool_activity AS
  SELECT a.chain_id, a.pool, a.block_timestamp, a.block_number, t.*
  FROM read_model.pool_activity_rows() a, read_model.totals_by_name(a.totals) t;
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
CREATE VIEW read_model.pamm_submission AS SELECT * FROM operator.pamm_submission;
CREATE VIEW read_model.pamm_answer AS SELECT * FROM operator.pamm_answer;

COMMENT ON VIEW read_model.pamm_submission IS 'Quote updates queued for builders, kept for PAMM_AUDIT_RETENTION_DAYS';
COMMENT ON COLUMN read_model.pamm_submission.max_timestamp IS 'Expiry of the quote, Unix seconds';
COMMENT ON COLUMN read_model.pamm_submission.tx_hash IS 'Hash of the signed transaction; null for a cancel';
COMMENT ON VIEW read_model.pamm_answer IS 'How each update ended at each builder; submission_id as in pamm_submission';
COMMENT ON COLUMN read_model.pamm_answer.provider IS '<builder_id>:<endpoint_url>';
COMMENT ON COLUMN read_model.pamm_answer.received_at IS 'When the request arrived';
COMMENT ON COLUMN read_model.pamm_answer.outcome IS
  'accepted or rejected by the builder; skipped by the service; dropped for lack of time; unanswered within 3 seconds';
COMMENT ON COLUMN read_model.pamm_answer.latency_ms IS 'From arrival of the request to the outcome, milliseconds';

CREATE VIEW read_model.pool_balance AS
  SELECT chain_id, pool::text AS pool, balance0_raw, balance1_raw, block_number, block_timestamp, captured_at
  FROM operator.price_health;

COMMENT ON VIEW read_model.pool_balance IS 'Last reading of what each pool holds by its tokens'' own account';
COMMENT ON COLUMN read_model.pool_balance.balance0_raw IS 'balanceOf(pool) of token0; null when it did not answer';
COMMENT ON COLUMN read_model.pool_balance.balance1_raw IS 'balanceOf(pool) of token1; null when it did not answer';

CREATE VIEW read_model.pool_storage AS
  SELECT chain_id, pool::text AS pool, block_number, block_hash, block_timestamp, cur_bin_idx, cur_pos_in_bin,
    cur_bin_dist_from_provided_price_e6, total0_scaled, total1_scaled, notional_fee0_scaled, notional_fee1_scaled,
    balance0_raw, balance1_raw, refusal, captured_at
  FROM operator.pool_storage;

COMMENT ON VIEW read_model.pool_storage IS 'Last reading of the storage of each packed pool';
COMMENT ON COLUMN read_model.pool_storage.refusal IS 'why the reading does not count; null when it does';

CREATE VIEW read_model.layout_calibration AS
  SELECT chain_id, factory::text AS factory, what, decided, evidence, decided_by, decided_at
  FROM operator.layout_calibration;

COMMENT ON VIEW read_model.layout_calibration IS 'What the words, storage and simulations of a factory''s pools mean';
COMMENT ON COLUMN read_model.layout_calibration.decided IS 'the reading that holds; null while it is not certain';
