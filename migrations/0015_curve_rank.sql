-- How the curve of each pool whose fees are not public last became known, by the API that quoted it.
CREATE TABLE operator.curve_rank (
  chain_id        int8             NOT NULL,
  pool            operator.address NOT NULL,
  rank            text             NOT NULL CHECK (rank IN ('formula', 'fit', 'simulation', 'none')),
  why_not_cheaper text,
  block_number    int8             NOT NULL,
  seen_at         timestamptz      NOT NULL,
  PRIMARY KEY (chain_id, pool)
);

CREATE VIEW read_model.curve_rank AS
  SELECT chain_id, pool::text AS pool, rank, why_not_cheaper, block_number, seen_at FROM operator.curve_rank;
GRANT SELECT ON read_model.curve_rank TO analyst;

COMMENT ON VIEW read_model.curve_rank IS 'How the curve of each pool whose fees are not public became known, written as it changes and once an hour';
COMMENT ON COLUMN read_model.curve_rank.why_not_cheaper IS 'why no cheaper rank served; null where none is, or it is not known';
