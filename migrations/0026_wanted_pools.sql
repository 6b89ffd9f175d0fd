-- Pools that clients of the API asked for lately, by which capture knows whose prices are wanted. Written by every API process;
-- each chain keeps its newest rows, as many as chains[].readBudget.wantedPools says.
CREATE TABLE operator.wanted_pool (
  chain_id int8             NOT NULL,
  pool     operator.address NOT NULL,
  asked_at timestamptz      NOT NULL,
  PRIMARY KEY (chain_id, pool)
) WITH (fillfactor = 50);
