-- What the operator decides and what the scheduled work finds out. Addresses are lowercase text, as in the onchain tables.
-- The tables up to the audit trail hold what no chain can give back (ops/postgres/backup.sh); the others are made again.
-- Tables whose rows are rewritten often have half-full pages, which keeps that in place.

CREATE DOMAIN operator.address AS text CHECK (VALUE ~ '^0x[0-9a-f]{40}$');

CREATE TABLE operator.curator (
  chain_id   int8             NOT NULL,
  address    operator.address NOT NULL,
  username   text             CHECK (username <> ''),
  verified   boolean          NOT NULL DEFAULT false,
  updated_at timestamptz      NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, address)
);

CREATE TABLE operator.delisted_pool (
  chain_id    int8             NOT NULL,
  pool        operator.address NOT NULL,
  reason      text,
  delisted_at timestamptz      NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, pool)
);

-- A key is 256 random bits, so one round of SHA-256 hides it; its prefix is shown to tell keys apart.
CREATE TABLE operator.api_key (
  key_hash   bytea       PRIMARY KEY CHECK (length(key_hash) = 32),
  key_id     text        NOT NULL UNIQUE,
  label      text        NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- May lie ahead: a rotated key ends then, and its successor names it.
  revoked_at timestamptz,
  replaces   text        REFERENCES operator.api_key (key_id)
);

-- What is not publicly known of a factory's pools, as its chain or the operator decided it; null while undecided.
CREATE TABLE operator.layout_calibration (
  chain_id   int8             NOT NULL,
  factory    operator.address NOT NULL,
  what       text             NOT NULL,
  decided    text,
  evidence   jsonb            NOT NULL,
  decided_by text             NOT NULL CHECK (decided_by IN ('job', 'operator')),
  decided_at timestamptz      NOT NULL,
  -- Times that the job has tried.
  tries      int4             NOT NULL,
  PRIMARY KEY (chain_id, factory, what)
);

-- Audit trail of quote updates: what was submitted, and how it ended at each builder. No keys are stored.
CREATE TABLE operator.pamm_submission (
  submission_id          uuid           PRIMARY KEY,
  chain_id               int8           NOT NULL,
  received_at            timestamptz(3) NOT NULL,
  replacement_uuid       text           NOT NULL,
  replacement_seq_number numeric(20, 0) NOT NULL,
  block_number           numeric(20, 0) NOT NULL,
  max_timestamp          numeric(20, 0),
  is_cancel              boolean        NOT NULL,
  tx_hash                text
);
CREATE INDEX ON operator.pamm_submission (received_at);
CREATE INDEX ON operator.pamm_submission (replacement_uuid, received_at);

-- Rows may come before those of their submission, so nothing refers to that table.
CREATE TABLE operator.pamm_answer (
  submission_id        uuid           NOT NULL,
  provider             text           NOT NULL,
  chain_id             int8           NOT NULL,
  received_at          timestamptz(3) NOT NULL,
  outcome              text           NOT NULL
                       CHECK (outcome IN ('accepted', 'rejected', 'skipped', 'dropped', 'unanswered')),
  error                text,
  bundle_hash          text,
  builder_timestamp_ns numeric(20, 0),
  answered_at          timestamptz(3) NOT NULL,
  latency_ms           int4           NOT NULL,
  PRIMARY KEY (submission_id, provider)
);
CREATE INDEX ON operator.pamm_answer (received_at);

-- Last reading of each pool's price, and of what its tokens say that it holds; null when the token did not answer.
CREATE TABLE operator.price_health (
  chain_id        int8             NOT NULL,
  pool            operator.address NOT NULL,
  status          text             NOT NULL
                  CHECK (status IN ('healthy', 'feed_down', 'pool_refused', 'pool_paused', 'unknown')),
  sell_price_x64  numeric(39, 0),
  buy_price_x64   numeric(39, 0),
  block_number    int8             NOT NULL,
  block_timestamp int8             NOT NULL,
  captured_at     timestamptz      NOT NULL,
  balance0_raw    numeric(78, 0),
  balance1_raw    numeric(78, 0),
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 50);
-- An API process reads the prices captured since its last look, and how old the oldest is, from the index alone.
CREATE INDEX ON operator.price_health (chain_id, captured_at, pool);

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

CREATE TABLE operator.fiat_price (
  chain_id  int8             NOT NULL,
  token     operator.address NOT NULL,
  usd       float8           NOT NULL CHECK (usd >= 0 AND usd < 'Infinity'),
  source    text             NOT NULL CHECK (source IN ('static', 'defillama', 'pool')),
  priced_at timestamptz      NOT NULL,
  PRIMARY KEY (chain_id, token)
) WITH (fillfactor = 50);

CREATE TABLE operator.pool_classification (
  chain_id      int8             NOT NULL,
  pool          operator.address NOT NULL,
  tier          text             NOT NULL CHECK (tier IN ('green', 'yellow', 'red')),
  reason_codes  text[]           NOT NULL,
  classified_at timestamptz      NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, pool)
);

-- The listing, kept ready: a page is an index range of pool_listing and the finished records of its rows.

-- The 24-hour window that a chain's rows were computed for; `generation` grows with every refresh.
CREATE TABLE operator.listing_window (
  chain_id        int8 PRIMARY KEY,
  generation      int8 NOT NULL,
  from_ts         int8 NOT NULL,
  to_ts           int8 NOT NULL,
  from_block      int8 NOT NULL,
  to_block        int8 NOT NULL,
  generated_at_ts int8 NOT NULL
) WITH (fillfactor = 50);

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

-- Prices that the listing was last refreshed with, and no others: a page shows the prices that its values were computed with.
CREATE TABLE operator.listing_price (
  chain_id int8             NOT NULL,
  token    operator.address NOT NULL,
  usd      float8           NOT NULL,
  PRIMARY KEY (chain_id, token)
) WITH (fillfactor = 50);

-- What is shown of each listed pool, as two JSON objects, inline and uncompressed: read far more often than written. Status
-- and prices are put in when a page is read. A search matches the beginnings of `search_terms`: the pool, its tokens and
-- the pair both ways round, in lowercase.
CREATE TABLE operator.listed_pool (
  chain_id     int8             NOT NULL,
  pool         operator.address NOT NULL,
  token0       operator.address NOT NULL,
  token1       operator.address NOT NULL,
  record       text             NOT NULL,
  analytics    text             NOT NULL,
  search_terms text[]           NOT NULL,
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 50, toast_tuple_target = 8160);
ALTER TABLE operator.listed_pool
  ALTER COLUMN record SET STORAGE EXTERNAL,
  ALTER COLUMN analytics SET STORAGE EXTERNAL;
CREATE INDEX ON operator.listed_pool USING gin (array_to_tsvector(search_terms));

-- Sort keys and filters, one narrow row per listed pool. An unknown key is NULL and sorts last in both orders.
CREATE TABLE operator.pool_listing (
  chain_id             int8             NOT NULL,
  pool                 operator.address NOT NULL,
  factory              operator.address NOT NULL,
  contract_version     text             NOT NULL,
  created_block_number int8             NOT NULL,
  tier                 text             NOT NULL CHECK (tier IN ('green', 'yellow', 'red', 'unclassified', 'black')),
  tier_rank            int2             NOT NULL,
  tvl_fiat             float8,
  volume_fiat          float8,
  apr_bps              float8,
  apr_bps_7d           float8,
  locked_pricing       boolean          NOT NULL,
  deposit_allowlist    boolean          NOT NULL,
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 70);
-- One index per sort; a listing across chains is merged from those of the chains. What hides a pool stands in the index, so
-- that a page far down counts the rows before it in the index alone.
CREATE INDEX ON operator.pool_listing (chain_id, tier_rank DESC, tvl_fiat DESC NULLS LAST, pool) INCLUDE (factory);
CREATE INDEX ON operator.pool_listing (chain_id, tvl_fiat DESC NULLS LAST, pool) INCLUDE (factory, tier_rank);
CREATE INDEX ON operator.pool_listing (chain_id, volume_fiat DESC NULLS LAST, tvl_fiat DESC NULLS LAST, pool)
  INCLUDE (factory, tier_rank);
CREATE INDEX ON operator.pool_listing (chain_id, apr_bps DESC NULLS LAST, pool) INCLUDE (factory, tier_rank, tvl_fiat);
CREATE INDEX ON operator.pool_listing (chain_id, apr_bps_7d DESC NULLS LAST, pool) INCLUDE (factory, tier_rank, tvl_fiat);
CREATE INDEX ON operator.pool_listing (chain_id, created_block_number DESC, pool) INCLUDE (factory, tier_rank, tvl_fiat);

-- Indexes that were built beside the one that served: what a run that was interrupted goes on with.
CREATE TABLE operator.backfill (
  schema           text        PRIMARY KEY,
  -- Chains whose cached logs were removed when it began, to be fetched from their nodes again.
  refetched_chains int8[]      NOT NULL,
  begun_at         timestamptz NOT NULL DEFAULT now(),
  -- Since when readers are served from it, and from which schema they were before.
  served_at        timestamptz,
  replaced         text
);
