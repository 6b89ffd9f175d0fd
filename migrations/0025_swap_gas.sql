-- Gas of swaps of pools whose depth is read, as simulated: a transaction with a swap of a hundredth of a side.
ALTER TABLE operator.price_health ADD COLUMN gas_token0_in int4, ADD COLUMN gas_token1_in int4, ADD COLUMN gas_at timestamptz;
