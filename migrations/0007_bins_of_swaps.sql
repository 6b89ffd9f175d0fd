-- Since indexes that begin after this, the bins of a swap are lists in its row rather than rows of their own: the pool,
-- the transaction and the place are stored once. Readers get one row per bin as before; conditions on the pool and the
-- time reach the swaps' index.

-- The columns need not exist yet: they come with the next index.
SET LOCAL check_function_bodies = off;

CREATE OR REPLACE FUNCTION read_model.bin_swap_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  bin_idx int4, delta0_scaled numeric, delta1_scaled numeric, lp_fee_scaled numeric
)
LANGUAGE sql STABLE AS $$
  SELECT s.chain_id, s.block_number, s.block_timestamp, part.log_index, s.transaction_hash, s.pool,
         part.bin_idx, part.delta0_scaled, part.delta1_scaled, part.lp_fee_scaled
  FROM live.swap s,
       unnest(s.bin_log_indexes, s.bin_idxs, s.bin_deltas0_scaled, s.bin_deltas1_scaled, s.bin_lp_fees_scaled)
         AS part (log_index, bin_idx, delta0_scaled, delta1_scaled, lp_fee_scaled)
$$;
