-- Prices that live with block builders before they land: `live` is a price in the block that was being built.

ALTER TABLE operator.price_health
  ADD COLUMN basis text NOT NULL DEFAULT 'committed' CHECK (basis IN ('committed', 'live')),
  -- Whether the pool traded at a live price then; null where no source is configured, or it was not read.
  ADD COLUMN trades_live boolean;

CREATE OR REPLACE VIEW read_model.price_health AS
  SELECT chain_id, pool::text AS pool, status, sell_price_x64, buy_price_x64, block_number, block_timestamp, captured_at, basis
  FROM operator.price_health;
COMMENT ON COLUMN read_model.price_health.basis IS
  'live: status and prices of the block that was being built on this one; committed: of this block';
