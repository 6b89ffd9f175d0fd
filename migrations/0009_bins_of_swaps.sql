-- How an index keeps the bins of swaps is its own affair: it shows them as rows of live.bin_swap, whatever its tables are.

-- The view need not exist yet: it comes with the next index.
SET LOCAL check_function_bodies = off;

CREATE OR REPLACE FUNCTION read_model.bin_swap_rows()
RETURNS TABLE (
  chain_id int8, block_number int8, block_timestamp int8, log_index int4, transaction_hash text, pool text,
  bin_idx int4, delta0_scaled numeric, delta1_scaled numeric, lp_fee_scaled numeric
)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, block_number, block_timestamp, log_index, transaction_hash, pool,
         bin_idx, delta0_scaled, delta1_scaled, lp_fee_scaled
  FROM live.bin_swap
$$;
