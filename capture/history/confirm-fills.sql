WITH undone AS (
  DELETE FROM history.fill WHERE chain_id = $1 AND block_number = $2 AND parent_hash <> $3
)
UPDATE history.fill SET is_final = true WHERE chain_id = $1 AND block_number = $2 AND parent_hash = $3
