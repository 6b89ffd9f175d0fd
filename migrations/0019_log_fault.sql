-- Nodes that left logs out, or invented some, by what another node showed. The indexer writes it.
CREATE TABLE operator.log_fault (
  chain_id  int8        NOT NULL,
  -- Host of its URL.
  node      text        NOT NULL,
  left_out  int8        NOT NULL,
  invented  int8        NOT NULL,
  last_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, node)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON operator.log_fault TO ptd_indexer;
GRANT SELECT ON operator.log_fault TO ptd_api;
