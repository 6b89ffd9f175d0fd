-- What the comparison of the index with the chain found: a row for each pool and factory that was compared. Capture writes it.
CREATE TABLE operator.index_audit (
  chain_id           int8             NOT NULL,
  address            operator.address NOT NULL,
  -- The factory of the pool, or itself.
  factory            operator.address NOT NULL,
  -- The index that was compared. Of another one, only `shown` and `last_difference_at` count.
  index_schema       text             NOT NULL,
  -- The last attempt, also one that a node did not answer.
  tried_at           timestamptz      NOT NULL,
  -- Final blocks: of the last comparison, and of the last one in which both agreed.
  audited_block      int8,
  agreed_block       int8,
  -- Newest indexed block when a difference was first seen: a second comparison, after another block, decides.
  suspected_at_block int8,
  differs_since      timestamptz,
  last_difference_at timestamptz,
  -- Facts that differ, and those that agreed in this pool with a value other than zero.
  differences        text[]           NOT NULL,
  shown              text[]           NOT NULL,
  PRIMARY KEY (chain_id, address)
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE, DELETE ON operator.index_audit TO ptd_capture;
GRANT SELECT ON operator.index_audit TO ptd_api, ptd_indexer;
