INSERT INTO history.fiat_price_hour (chain_id, token, ts, usd, source)
SELECT DISTINCT ON (chain_id, token) chain_id, token, $1 - $1 % 3600, usd, source
FROM history.fiat_price_minute WHERE ts >= $1 - $1 % 3600 AND ts <= $1
ORDER BY chain_id, token, ts
ON CONFLICT DO NOTHING
