-- Token $2 of chain $1; none without a symbol.
SELECT address AS id, coalesce(name, symbol) AS name, symbol FROM read_model.token
WHERE chain_id = $1 AND address = $2 AND symbol IS NOT NULL
