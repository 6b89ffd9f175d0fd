-- Token $2 of chain $1. One without a symbol or decimals is left out, as pairs with it are.
SELECT address AS id, coalesce(name, symbol) AS name, symbol FROM read_model.token
WHERE chain_id = $1 AND address = $2 AND symbol IS NOT NULL AND decimals IS NOT NULL
