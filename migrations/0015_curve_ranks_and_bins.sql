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

-- How bins of packed pools, summed up from events, compared with storage when their pool's turn last came.
CREATE TABLE operator.bin_comparison (
  chain_id     int8             NOT NULL,
  pool         operator.address NOT NULL,
  block_number int8             NOT NULL,
  difference   text,
  compared_at  timestamptz      NOT NULL,
  PRIMARY KEY (chain_id, pool)
);
CREATE INDEX ON operator.bin_comparison (chain_id) WHERE difference IS NOT NULL;

CREATE VIEW read_model.bin_comparison AS
  SELECT chain_id, pool::text AS pool, block_number, difference, compared_at FROM operator.bin_comparison;
GRANT SELECT ON read_model.bin_comparison TO analyst;

COMMENT ON VIEW read_model.bin_comparison IS 'Last comparison of each packed pool''s bins, by events and by storage';
COMMENT ON COLUMN read_model.bin_comparison.difference IS 'the first bin that differs; null when none does';
