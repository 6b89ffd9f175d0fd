-- Audit trail of quote updates: what was submitted, and how it ended at each builder. No keys are stored.

CREATE TABLE pamm_submissions (
  submission_id uuid PRIMARY KEY,
  chain_id bigint NOT NULL,
  received_at timestamptz(3) NOT NULL,
  replacement_uuid text NOT NULL,
  replacement_seq_number numeric(20, 0) NOT NULL,
  block_number numeric(20, 0) NOT NULL,
  max_timestamp numeric(20, 0),
  is_cancel boolean NOT NULL,
  tx_hash text
);

CREATE INDEX pamm_submissions_received_at ON pamm_submissions (received_at);
CREATE INDEX pamm_submissions_replacement_uuid ON pamm_submissions (replacement_uuid, received_at);

COMMENT ON TABLE pamm_submissions IS 'Quote updates that were queued for builders, kept for PAMM_AUDIT_RETENTION_DAYS';
COMMENT ON COLUMN pamm_submissions.max_timestamp IS 'Expiry of the quote, Unix seconds';
COMMENT ON COLUMN pamm_submissions.tx_hash IS 'Hash of the signed transaction; null for a cancel';

CREATE TABLE pamm_answers (
  submission_id uuid NOT NULL,
  provider text NOT NULL,
  chain_id bigint NOT NULL,
  received_at timestamptz(3) NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('accepted', 'rejected', 'skipped', 'dropped', 'unanswered')),
  error text,
  bundle_hash text,
  builder_timestamp_ns numeric(20, 0),
  answered_at timestamptz(3) NOT NULL,
  latency_ms integer NOT NULL,
  PRIMARY KEY (submission_id, provider)
);

CREATE INDEX pamm_answers_received_at ON pamm_answers (received_at);

COMMENT ON TABLE pamm_answers IS 'How each quote update ended at each builder; submission_id names a row of pamm_submissions';
COMMENT ON COLUMN pamm_answers.provider IS 'Builder and endpoint, <builder_id>:<endpoint_url>';
COMMENT ON COLUMN pamm_answers.received_at IS 'When the request arrived';
COMMENT ON COLUMN pamm_answers.outcome IS
  'accepted or rejected by the builder; skipped by the service; dropped for lack of time; unanswered within 3 seconds';
COMMENT ON COLUMN pamm_answers.latency_ms IS 'From arrival of the request to the outcome, milliseconds';
