-- How far the first index of each chain has come. Readers have no index until it is complete; after that the rows go.
CREATE TABLE operator.first_sync (
  chain_id bigint PRIMARY KEY,
  -- Last indexed block; null while the indexer has only fetched logs.
  block_number bigint,
  -- Logs that the nodes have given since the indexer started.
  logs bigint NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE, DELETE ON operator.first_sync TO ptd_indexer;
GRANT SELECT ON operator.first_sync TO ptd_api;
