-- Indexes that were built beside the one that served: what a run that was interrupted goes on with.

CREATE TABLE operator.backfill (
  schema           text        PRIMARY KEY,
  -- Chains whose cached logs were removed when it began, to be fetched from their nodes again.
  refetched_chains int8[]      NOT NULL,
  begun_at         timestamptz NOT NULL DEFAULT now(),
  -- Since when readers are served from it, and from which schema they were before.
  served_at        timestamptz,
  replaced         text
);
