-- The listing, kept ready: a page is an index range of pool_listing and the finished records of its rows.

-- Sort keys and filters, one narrow row per listed pool. An unknown key is NULL and sorts last in both orders.
CREATE TABLE operator.pool_listing (
  chain_id             int8             NOT NULL,
  pool                 operator.address NOT NULL,
  contract_version     text             NOT NULL,
  created_block_number int8             NOT NULL,
  tier                 text             NOT NULL CHECK (tier IN ('green', 'yellow', 'red', 'unclassified', 'black')),
  tier_rank            int2             NOT NULL,
  tvl_fiat             float8,
  volume_fiat          float8,
  apr_bps              float8,
  apr_bps_7d           float8,
  price_status         text             NOT NULL,
  locked_pricing       boolean          NOT NULL,
  deposit_allowlist    boolean          NOT NULL,
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 70);

-- One index per sort, for one chain and across chains. Ascending order, seldom asked for, sorts the narrow rows.
CREATE INDEX ON operator.pool_listing (chain_id, tier_rank DESC, tvl_fiat DESC NULLS LAST, pool);
CREATE INDEX ON operator.pool_listing (chain_id, tvl_fiat DESC NULLS LAST, pool);
CREATE INDEX ON operator.pool_listing (chain_id, volume_fiat DESC NULLS LAST, tvl_fiat DESC NULLS LAST, pool);
CREATE INDEX ON operator.pool_listing (chain_id, apr_bps DESC NULLS LAST, pool);
CREATE INDEX ON operator.pool_listing (chain_id, apr_bps_7d DESC NULLS LAST, pool);
CREATE INDEX ON operator.pool_listing (chain_id, created_block_number DESC, pool);
CREATE INDEX ON operator.pool_listing (tier_rank DESC, tvl_fiat DESC NULLS LAST, chain_id, pool);
CREATE INDEX ON operator.pool_listing (tvl_fiat DESC NULLS LAST, chain_id, pool);
CREATE INDEX ON operator.pool_listing (volume_fiat DESC NULLS LAST, tvl_fiat DESC NULLS LAST, chain_id, pool);
CREATE INDEX ON operator.pool_listing (apr_bps DESC NULLS LAST, chain_id, pool);
CREATE INDEX ON operator.pool_listing (apr_bps_7d DESC NULLS LAST, chain_id, pool);

-- What is shown, as finished JSON but for its end: `record` is an object without its closing brace, `analytics` one without
-- either brace, so that a page is put together by joining texts. Kept inline and uncompressed, because it is read far
-- more often than written.
CREATE TABLE operator.pool_record (
  chain_id  int8             NOT NULL,
  pool      operator.address NOT NULL,
  record    text             NOT NULL,
  analytics text             NOT NULL,
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 50, toast_tuple_target = 8160);
ALTER TABLE operator.pool_record
  ALTER COLUMN record SET STORAGE EXTERNAL,
  ALTER COLUMN analytics SET STORAGE EXTERNAL;

-- The 24-hour window that the rows above were computed for; `generation` grows with every refresh.
CREATE TABLE operator.listing_window (
  chain_id        int8 PRIMARY KEY,
  generation      int8 NOT NULL,
  from_ts         int8 NOT NULL,
  to_ts           int8 NOT NULL,
  from_block      int8 NOT NULL,
  to_block        int8 NOT NULL,
  generated_at_ts int8 NOT NULL,
  -- The window as it stands in front of a pool's `analytics`.
  bounds          text NOT NULL GENERATED ALWAYS AS (
    '"fromTs":' || from_ts || ',"toTs":' || to_ts || ',"generatedAtTs":' || generated_at_ts ||
    ',"fromBlock":' || from_block || ',"toBlock":' || to_block) STORED
) WITH (fillfactor = 50);
