-- For listing sites: the place of a transaction in its block, and who sent those of liquidity changes.

SET LOCAL check_function_bodies = off;

-- An index of before this file has neither: names that its tables lack are those of `older`.
CREATE FUNCTION read_model.swap_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  sender text, recipient text, zero_for_one boolean, exact_input boolean, amount0_raw numeric, amount1_raw numeric,
  lp_fee_scaled numeric, protocol_fee_scaled numeric, notional_fee_scaled numeric,
  cur_bin_idx int4, cur_pos_in_bin numeric, transaction_from text, transaction_to text, transaction_index int4
)
LANGUAGE sql STABLE AS $$
  SELECT s.chain_id, s.block_number, s.block_timestamp, s.log_index, s.transaction_hash, s.pool,
         s.sender, s.recipient, s.zero_for_one, s.exact_input, s.amount0_raw, s.amount1_raw,
         s.lp_fee_scaled, s.protocol_fee_scaled, s.notional_fee_scaled, s.cur_bin_idx, s.cur_pos_in_bin,
         sent.transaction_from, sent.transaction_to, sent.transaction_index
  FROM live.swap s
  CROSS JOIN (SELECT NULL::text AS transaction_from, NULL::text AS transaction_to, NULL::int4 AS transaction_index) older
  CROSS JOIN LATERAL (SELECT transaction_from, transaction_to, transaction_index FROM (SELECT s.*) own) sent
$$;
CREATE OR REPLACE VIEW read_model.swap AS SELECT * FROM read_model.swap_rows();
COMMENT ON COLUMN read_model.swap.transaction_index IS
  'Place of the transaction in its block, from 0; null in an index of before release 0.3';

CREATE FUNCTION read_model.sent_liquidity_change_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  direction text, provider text, salt numeric, delta0_scaled numeric, delta1_scaled numeric,
  amount0_raw numeric, amount1_raw numeric, transaction_from text, transaction_to text, transaction_index int4
)
LANGUAGE sql STABLE AS $$
  SELECT l.chain_id, l.block_number, l.block_timestamp, l.log_index, l.transaction_hash, l.pool,
         l.direction, l.provider, l.salt, l.delta0_scaled, l.delta1_scaled, l.amount0_raw, l.amount1_raw,
         sent.transaction_from, sent.transaction_to, sent.transaction_index
  FROM live.liquidity_change l
  CROSS JOIN (SELECT NULL::text AS transaction_from, NULL::text AS transaction_to, NULL::int4 AS transaction_index) older
  CROSS JOIN LATERAL (SELECT transaction_from, transaction_to, transaction_index FROM (SELECT l.*) own) sent
$$;
CREATE OR REPLACE VIEW read_model.liquidity_change AS SELECT * FROM read_model.sent_liquidity_change_rows();
COMMENT ON COLUMN read_model.liquidity_change.transaction_from IS 'Who sent the transaction; null in an index of before release 0.3';

-- Nothing else calls it.
DROP FUNCTION read_model.liquidity_change_rows();
