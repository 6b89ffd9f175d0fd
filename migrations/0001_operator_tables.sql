-- What the operator decides and what the scheduled work finds out. Addresses are lowercase text, as in the onchain tables.

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
  revoked_at timestamptz
);

-- Last reading of each pool's price. Rows are rewritten every few seconds: half-full pages keep that in place.
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
