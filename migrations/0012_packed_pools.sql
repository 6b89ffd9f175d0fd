-- What events of packed pools say in words whose meaning depends on the factory, for readers who know it. What follows from
-- the words is null in the views. These are functions alone, since every view must fit every index that is turned to, and
-- these fit those that begin after this.
SET LOCAL check_function_bodies = off;

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
