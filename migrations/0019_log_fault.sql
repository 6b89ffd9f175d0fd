-- Nodes that left logs out, or invented some, by what another node showed. The indexer writes it.
CREATE TABLE operator.log_fault (
  chain_id  int8        NOT NULL,
  -- Its place in the chains file: hosts may be secret.
  node      text        NOT NULL,
  left_out  int8        NOT NULL,
  invented  int8        NOT NULL,
  last_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, node)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON operator.log_fault TO ptd_indexer;
GRANT SELECT ON operator.log_fault TO ptd_api;

-- The status of a chain is read every two seconds.
CREATE INDEX index_audit_differs ON operator.index_audit (chain_id) WHERE differs_since IS NOT NULL;
CREATE INDEX index_audit_block ON operator.index_audit (chain_id, audited_block);
CREATE INDEX index_audit_last_difference ON operator.index_audit (chain_id, last_difference_at);
