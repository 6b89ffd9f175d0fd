-- Since indexes that begin after this, what every swap changes is in few rows and few columns, since the indexer's work grows
-- with both: a pool's bins are lists in its rows, from the lowest bin upwards; its running totals are one list, in the order
-- of the columns of read_model.pool_activity; a swap's parts are one list of five numbers each. Readers see what they saw,
-- but for the block of a bin, which is now that in which its pool's state changed last.

-- The columns need not exist yet: they come with the next index.
SET LOCAL check_function_bodies = off;

CREATE OR REPLACE FUNCTION read_model.pool_bin_rows()
RETURNS TABLE (
  chain_id int8, pool text, bin_idx int4, token0_scaled numeric, token1_scaled numeric, total_shares numeric,
  length_e6 int4, add_fee_buy_e6 int4, add_fee_sell_e6 int4, lower_dist_e6 int4, block_number int8, block_timestamp int8
)
LANGUAGE sql STABLE AS $$
  SELECT s.chain_id, s.pool, s.lowest_bin + bin.place::int4 - 1, bin.token0_scaled, bin.token1_scaled, bin.total_shares,
         bin.length_e6, bin.add_fee_buy_e6, bin.add_fee_sell_e6, bin.lower_dist_e6, s.block_number, s.block_timestamp
  FROM live.pool_state s
  JOIN live.pool p ON p.chain_id = s.chain_id AND p.address = s.pool,
       unnest(s.bin_balances0_scaled, s.bin_balances1_scaled, s.bin_shares, p.bin_lengths_e6, p.bin_add_fees_buy_e6,
              p.bin_add_fees_sell_e6, s.bin_lower_dists_e6)
         WITH ORDINALITY AS bin (token0_scaled, token1_scaled, total_shares, length_e6, add_fee_buy_e6, add_fee_sell_e6,
                                 lower_dist_e6, place)
$$;

CREATE OR REPLACE FUNCTION read_model.bin_swap_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  bin_idx int4, delta0_scaled numeric, delta1_scaled numeric, lp_fee_scaled numeric
)
LANGUAGE sql STABLE AS $$
  SELECT s.chain_id, s.block_number, s.block_timestamp, s.parts[n][1]::int4, s.transaction_hash, s.pool,
         s.parts[n][2]::int4, s.parts[n][3], s.parts[n][4], s.parts[n][5]
  FROM live.swap s, generate_subscripts(s.parts, 1) n
$$;

CREATE OR REPLACE FUNCTION read_model.pool_activity_rows()
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
         totals[1]::int8, totals[2]::int8, totals[3]::int8, totals[4]::int8, totals[5]::int8, totals[6], totals[7], totals[8],
         totals[9], totals[10], totals[11], totals[12], totals[13], totals[14], totals[15], totals[16],
         totals[17], totals[18], totals[19], totals[20], totals[21]
  FROM live.pool_activity
$$;

CREATE OR REPLACE FUNCTION read_model.pool_window(from_ts int8, to_ts int8)
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
         (coalesce(e.totals[1], 0) - coalesce(s.totals[1], 0))::int8, (coalesce(e.totals[2], 0) - coalesce(s.totals[2], 0))::int8,
         (coalesce(e.totals[3], 0) - coalesce(s.totals[3], 0))::int8, (coalesce(e.totals[4], 0) - coalesce(s.totals[4], 0))::int8,
         (coalesce(e.totals[5], 0) - coalesce(s.totals[5], 0))::int8, (coalesce(e.totals[6], 0) - coalesce(s.totals[6], 0)),
         (coalesce(e.totals[7], 0) - coalesce(s.totals[7], 0)), (coalesce(e.totals[8], 0) - coalesce(s.totals[8], 0)),
         (coalesce(e.totals[9], 0) - coalesce(s.totals[9], 0)), (coalesce(e.totals[10], 0) - coalesce(s.totals[10], 0)),
         (coalesce(e.totals[11], 0) - coalesce(s.totals[11], 0)), (coalesce(e.totals[12], 0) - coalesce(s.totals[12], 0)),
         (coalesce(e.totals[13], 0) - coalesce(s.totals[13], 0)), (coalesce(e.totals[14], 0) - coalesce(s.totals[14], 0)),
         (coalesce(e.totals[15], 0) - coalesce(s.totals[15], 0)), (coalesce(e.totals[16], 0) - coalesce(s.totals[16], 0)),
         (coalesce(e.totals[17], 0) - coalesce(s.totals[17], 0)), (coalesce(e.totals[18], 0) - coalesce(s.totals[18], 0)),
         (coalesce(e.totals[19], 0) - coalesce(s.totals[19], 0)), (coalesce(e.totals[20], 0) - coalesce(s.totals[20], 0)),
         (coalesce(e.totals[21], 0) - coalesce(s.totals[21], 0))
  FROM live.pool p
  LEFT JOIN LATERAL (
    SELECT a.totals FROM live.pool_activity a
    WHERE a.chain_id = p.chain_id AND a.pool = p.address AND a.block_timestamp <= to_ts
    ORDER BY a.block_timestamp DESC LIMIT 1
  ) e ON true
  LEFT JOIN LATERAL (
    SELECT a.totals FROM live.pool_activity a
    WHERE a.chain_id = p.chain_id AND a.pool = p.address AND a.block_timestamp <= from_ts
    ORDER BY a.block_timestamp DESC LIMIT 1
  ) s ON true
$$;
