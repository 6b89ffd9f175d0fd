-- What is shown of each listed pool, as two whole JSON objects. The release before goes on with operator.pool_record and
-- operator.listing_window.bounds; the one after this may drop both.
CREATE TABLE operator.listed_pool (
  chain_id  int8             NOT NULL,
  pool      operator.address NOT NULL,
  record    text             NOT NULL,
  analytics text             NOT NULL,
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 50, toast_tuple_target = 8160);
-- Inline and uncompressed: they are read far more often than written.
ALTER TABLE operator.listed_pool
  ALTER COLUMN record SET STORAGE EXTERNAL,
  ALTER COLUMN analytics SET STORAGE EXTERNAL;

INSERT INTO operator.listed_pool
SELECT chain_id, pool, record || '}', '{' || analytics || '}' FROM operator.pool_record;
