-- What a process of capture needs to go on where the one before stopped, instead of computing every pool anew.

-- What the listing stands for: one row, written with each refresh.
CREATE TABLE operator.listing_state (
  is_only      boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
  -- That of operator.listing_window; another one was written by a release that does not know this table.
  generation   int8        NOT NULL,
  -- Digest of the code and configuration that computed every row; null when several did.
  version      text,
  -- The index that it was computed from, and the oldest transaction that was not yet seen.
  index_schema text        NOT NULL,
  index_id     text        NOT NULL,
  unseen_from  xid8        NOT NULL,
  to_ts        int8        NOT NULL,
  -- What was known of curators and packed factories.
  curators     jsonb       NOT NULL,
  readings     text        NOT NULL,
  -- By the clock that operator.pool_listing.changed_at is of.
  published_at timestamptz NOT NULL,
  -- The transaction that wrote the row: a copy of the table says another one, whose numbers mean nothing here.
  written_by   xid8        NOT NULL
) WITH (fillfactor = 50);

ALTER TABLE operator.pool_listing
  -- What LPs own, in whole tokens; 0 where the token has no decimals.
  ADD COLUMN amount0        float8,
  ADD COLUMN amount1        float8,
  -- End of the first window with other figures, Unix seconds; null where nothing enters or leaves one.
  ADD COLUMN next_change_at int8,
  -- When the index was last seen to have changed the pool, unless that was long ago.
  ADD COLUMN changed_at     timestamptz;
