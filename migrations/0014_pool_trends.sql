-- How the price of each funded pool moved in 24 hours, and what can be traded near it: sort keys of the listing. Capture
-- writes all rows each minute.
CREATE TABLE operator.pool_trend (
  chain_id   int8             NOT NULL,
  pool       operator.address NOT NULL,
  -- From the first price of the 24 hours to the last one, millionths; null with fewer than two prices.
  change_e6  float8,
  -- Both sides within 1 % of the price, USD; null when not known.
  depth_fiat float8,
  updated_at timestamptz      NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE, DELETE ON operator.pool_trend TO ptd_capture;
GRANT SELECT ON operator.pool_trend TO ptd_api;
