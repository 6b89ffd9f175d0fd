-- Audit trail of quote updates: what was submitted, and how it ended at each builder. No keys are stored.

CREATE TABLE operator.pamm_submission (
  submission_id          uuid           PRIMARY KEY,
  chain_id               int8           NOT NULL,
  received_at            timestamptz(3) NOT NULL,
  replacement_uuid       text           NOT NULL,
  replacement_seq_number numeric(20, 0) NOT NULL,
  block_number           numeric(20, 0) NOT NULL,
  max_timestamp          numeric(20, 0),
  is_cancel              boolean        NOT NULL,
  tx_hash                text
);

CREATE INDEX ON operator.pamm_submission (received_at);
CREATE INDEX ON operator.pamm_submission (replacement_uuid, received_at);

-- Rows may come before those of their submission, so nothing refers to that table.
CREATE TABLE operator.pamm_answer (
  submission_id        uuid           NOT NULL,
  provider             text           NOT NULL,
  chain_id             int8           NOT NULL,
  received_at          timestamptz(3) NOT NULL,
  outcome              text           NOT NULL
                       CHECK (outcome IN ('accepted', 'rejected', 'skipped', 'dropped', 'unanswered')),
  error                text,
  bundle_hash          text,
  builder_timestamp_ns numeric(20, 0),
  answered_at          timestamptz(3) NOT NULL,
  latency_ms           int4           NOT NULL,
  PRIMARY KEY (submission_id, provider)
);

CREATE INDEX ON operator.pamm_answer (received_at);

CREATE VIEW read_model.pamm_submission AS SELECT * FROM operator.pamm_submission;
CREATE VIEW read_model.pamm_answer AS SELECT * FROM operator.pamm_answer;
GRANT SELECT ON read_model.pamm_submission, read_model.pamm_answer TO analyst;

COMMENT ON VIEW read_model.pamm_submission IS 'Quote updates queued for builders, kept for PAMM_AUDIT_RETENTION_DAYS';
COMMENT ON COLUMN read_model.pamm_submission.max_timestamp IS 'Expiry of the quote, Unix seconds';
COMMENT ON COLUMN read_model.pamm_submission.tx_hash IS 'Hash of the signed transaction; null for a cancel';
COMMENT ON VIEW read_model.pamm_answer IS 'How each update ended at each builder; submission_id as in pamm_submission';
COMMENT ON COLUMN read_model.pamm_answer.provider IS '<builder_id>:<endpoint_url>';
COMMENT ON COLUMN read_model.pamm_answer.received_at IS 'When the request arrived';
COMMENT ON COLUMN read_model.pamm_answer.outcome IS
  'accepted or rejected by the builder; skipped by the service; dropped for lack of time; unanswered within 3 seconds';
COMMENT ON COLUMN read_model.pamm_answer.latency_ms IS 'From arrival of the request to the outcome, milliseconds';
