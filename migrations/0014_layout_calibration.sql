-- What is not publicly known of a factory's pools, as its chain or the operator decided it; null while undecided.
CREATE TABLE operator.layout_calibration (
  chain_id   int8             NOT NULL,
  factory    operator.address NOT NULL,
  what       text             NOT NULL,
  decided    text,
  evidence   jsonb            NOT NULL,
  decided_by text             NOT NULL CHECK (decided_by IN ('job', 'operator')),
  decided_at timestamptz      NOT NULL,
  -- Times that the job has tried.
  tries      int4             NOT NULL,
  PRIMARY KEY (chain_id, factory, what)
);

CREATE VIEW read_model.layout_calibration AS
  SELECT chain_id, factory::text AS factory, what, decided, evidence, decided_by, decided_at
  FROM operator.layout_calibration;
GRANT SELECT ON read_model.layout_calibration TO analyst;

COMMENT ON VIEW read_model.layout_calibration IS 'What the words, storage and simulations of a factory''s pools mean';
COMMENT ON COLUMN read_model.layout_calibration.decided IS 'the reading that holds; null while it is not certain';
