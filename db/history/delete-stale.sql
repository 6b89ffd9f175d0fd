-- In parts of 20,000 bars; after the last one, the mark.
WITH deleted AS (
  DELETE FROM history.trade_bar WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM history.trade_bar WHERE index_schema = $1 AND chain_id = $2 LIMIT 20000))
  RETURNING 1
)
DELETE FROM history.trade_mark WHERE index_schema = $1 AND chain_id = $2 AND NOT EXISTS (SELECT FROM deleted)
