-- How the scheduled reads of each chain are served: one row per class of pools, written after each round.
CREATE TABLE operator.read_attention (
  chain_id         int8        NOT NULL,
  class            text        NOT NULL CHECK (class IN ('worth', 'wanted', 'others')),
  pools            int4        NOT NULL,
  -- Pools whose turn it was and that were not read.
  waiting          int4        NOT NULL,
  -- Pools that pause since they failed or burned gas.
  backing_off      int4        NOT NULL,
  -- Age of the oldest price among the pools that do not pause; null without one.
  age_secs         int4,
  -- Of the last minute, all reads of the class.
  calls_spent      int4        NOT NULL,
  gas_spent        int8        NOT NULL,
  -- Of the chain.
  calls_per_minute int4        NOT NULL,
  gas_per_minute   int8        NOT NULL,
  measured_at      timestamptz NOT NULL,
  PRIMARY KEY (chain_id, class)
) WITH (fillfactor = 50);
