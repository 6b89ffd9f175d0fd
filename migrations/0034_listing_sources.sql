-- What each pool was last computed from: a refresh of the listing computes those of which that is another now.
CREATE TABLE operator.listing_source (
  chain_id       int8             NOT NULL,
  pool           operator.address NOT NULL,
  -- Versions of the code and of all rows that it was computed from; null: computed by the next refresh.
  source         text,
  -- The refresh that computed it.
  generation     int8             NOT NULL,
  -- What LPs own, in whole tokens, and the prices that it was computed with; null where it is not known.
  amount0        float8,
  amount1        float8,
  price0         float8,
  price1         float8,
  -- End of the first window with other figures, Unix seconds; null where nothing enters or leaves one.
  next_change_at int8,
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 50);

INSERT INTO operator.listing_source (chain_id, pool, generation)
SELECT chain_id, pool, 0 FROM operator.pool_listing UNION SELECT chain_id, pool, 0 FROM operator.pool_classification;

DROP TABLE operator.listing_state, operator.pool_record;
ALTER TABLE operator.listing_window DROP COLUMN bounds;
ALTER TABLE operator.pool_listing
  DROP COLUMN price_status,
  DROP COLUMN amount0,
  DROP COLUMN amount1,
  DROP COLUMN next_change_at,
  DROP COLUMN changed_at;
