-- Token $2 of chain $1; none without a symbol or decimals, as no pair has it.
SELECT address AS id, coalesce(name, symbol) AS name, symbol FROM read_model.token
WHERE chain_id = $1 AND address = $2 AND symbol IS NOT NULL AND decimals IS NOT NULL
