-- The factory of each listed pool: the API lists the pools of the deployments that its own configuration enables. Rows
-- written by the release before have none until its successor refreshes the listing.
ALTER TABLE operator.pool_listing ADD COLUMN factory operator.address;
UPDATE operator.pool_listing l
SET factory = substring(r.record FROM '"poolFactoryAddress":"(0x[0-9a-f]{40})"')
FROM operator.pool_record r
WHERE r.chain_id = l.chain_id AND r.pool = l.pool;

-- What a pool's two tokens say that it holds, read with its price; null when the token did not answer. Beside it, the
-- balances of read_model.pool_state are sums over the pool's events, which know nothing of tokens sent to it unasked.
ALTER TABLE operator.price_health
  ADD COLUMN balance0_raw numeric(78, 0),
  ADD COLUMN balance1_raw numeric(78, 0);

CREATE VIEW read_model.pool_balance AS
  SELECT chain_id, pool::text AS pool, balance0_raw, balance1_raw, block_number, block_timestamp, captured_at
  FROM operator.price_health;
GRANT SELECT ON read_model.pool_balance TO analyst;

COMMENT ON VIEW read_model.pool_balance IS 'Last reading of what each pool holds by its tokens'' own account';
COMMENT ON COLUMN read_model.pool_balance.balance0_raw IS 'balanceOf(pool) of token0; null when it did not answer';
COMMENT ON COLUMN read_model.pool_balance.balance1_raw IS 'balanceOf(pool) of token1; null when it did not answer';

-- The last mid price of a velocity guard is left out: the guard need not log it, so it was null or of an older swap.
DROP VIEW read_model.price_velocity;
DROP FUNCTION read_model.price_velocity_rows();
-- The tables of `live` need not exist yet.
SET LOCAL check_function_bodies = off;
CREATE FUNCTION read_model.price_velocity_rows()
RETURNS TABLE (chain_id int8, address text, pool text, max_change_per_block_e18 numeric)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, address, pool, max_change_per_block_e18 FROM live.price_velocity
$$;
CREATE VIEW read_model.price_velocity AS SELECT * FROM read_model.price_velocity_rows();
GRANT SELECT ON read_model.price_velocity TO analyst;
