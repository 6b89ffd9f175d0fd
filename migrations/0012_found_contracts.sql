-- Contracts that the indexer found by the chains when it began an index, and whose events the index has.
CREATE TABLE operator.found_contract (
  schema   text             NOT NULL,
  chain_id int8             NOT NULL,
  -- The pool factory.
  factory  operator.address NOT NULL,
  role     text             NOT NULL,
  address  operator.address NOT NULL,
  -- The account that made both the contract and the pool factory.
  maker    operator.address NOT NULL,
  found_at timestamptz      NOT NULL DEFAULT now(),
  PRIMARY KEY (schema, chain_id, factory, role, address)
);

GRANT SELECT, INSERT, DELETE ON operator.found_contract TO ptd_indexer;
GRANT SELECT ON operator.found_contract TO ptd_capture, ptd_api, ptd_operator;
