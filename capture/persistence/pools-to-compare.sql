-- The most valuable pools that trade, $3 at most, with the prices of their tokens at most $4 seconds old.
SELECT h.pool, f0.usd AS usd0, f1.usd AS usd1
FROM unnest($2::text[], $5::text[], $6::text[]) WITH ORDINALITY p (pool, token0, token1, place)
JOIN operator.price_health h ON h.chain_id = $1 AND h.pool = p.pool AND h.status = 'healthy'
LEFT JOIN operator.fiat_price f0 ON f0.chain_id = $1 AND f0.token = p.token0 AND f0.priced_at > now() - make_interval(secs => $4)
LEFT JOIN operator.fiat_price f1 ON f1.chain_id = $1 AND f1.token = p.token1 AND f1.priced_at > now() - make_interval(secs => $4)
ORDER BY p.place LIMIT $3
