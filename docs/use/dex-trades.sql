-- Volume and trades of each pair by day, for a month of one chain.
SELECT block_date, token_pair, sum(amount_usd) AS volume_usd, count(*) AS trades
FROM read_model.dex_trades
WHERE chain_id = 8453 AND block_timestamp >= extract(epoch FROM now())::int8 - 30 * 86400
GROUP BY block_date, token_pair
ORDER BY block_date DESC, volume_usd DESC NULLS LAST;

-- The traders of the most volume of a month, also behind routers, with their transactions.
SELECT block_month, blockchain, tx_from AS trader, sum(amount_usd) AS volume_usd, count(DISTINCT tx_hash) AS transactions
FROM read_model.dex_trades
WHERE block_timestamp >= extract(epoch FROM now())::int8 - 30 * 86400
GROUP BY block_month, blockchain, tx_from
ORDER BY volume_usd DESC NULLS LAST
LIMIT 20;

-- What a token bought of each other one, fees included, by hour: whole tokens for a whole token.
SELECT date_trunc('hour', block_time) AS hour, token_sold_symbol, token_bought_symbol,
       sum(token_bought_amount) / nullif(sum(token_sold_amount), 0) AS price
FROM read_model.dex_trades
WHERE chain_id = 8453 AND block_timestamp >= extract(epoch FROM now())::int8 - 86400
  AND token_bought_amount IS NOT NULL AND token_sold_amount IS NOT NULL
GROUP BY hour, token_sold_symbol, token_bought_symbol
ORDER BY hour DESC;
