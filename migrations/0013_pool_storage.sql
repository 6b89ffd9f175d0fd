-- What the storage of packed pools says, whose events do not tell their cursor and balances. A reading counts when
-- `refusal` is null: then totals and accrued fees together are covered by the pool's balances.
CREATE TABLE operator.pool_storage (
  chain_id             int8             NOT NULL,
  pool                 operator.address NOT NULL,
  block_number         int8             NOT NULL,
  block_hash           text             NOT NULL,
  block_timestamp      int8             NOT NULL,
  cur_bin_idx          int4,
  cur_pos_in_bin       numeric(32, 0),
  cur_bin_dist_from_provided_price_e6 int4,
  total0_scaled        numeric(39, 0),
  total1_scaled        numeric(39, 0),
  notional_fee0_scaled numeric(39, 0),
  notional_fee1_scaled numeric(39, 0),
  balance0_raw         numeric(78, 0),
  balance1_raw         numeric(78, 0),
  refusal              text,
  captured_at          timestamptz      NOT NULL,
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 50);

CREATE VIEW read_model.pool_storage AS
  SELECT chain_id, pool::text AS pool, block_number, block_hash, block_timestamp, cur_bin_idx, cur_pos_in_bin,
    cur_bin_dist_from_provided_price_e6, total0_scaled, total1_scaled, notional_fee0_scaled, notional_fee1_scaled,
    balance0_raw, balance1_raw, refusal, captured_at
  FROM operator.pool_storage;
GRANT SELECT ON read_model.pool_storage TO analyst;

COMMENT ON VIEW read_model.pool_storage IS 'Last reading of the storage of each packed pool';
COMMENT ON COLUMN read_model.pool_storage.refusal IS 'why the reading does not count; null when it does';
