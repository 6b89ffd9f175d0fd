-- Changed prices. A row gives the price for at most two hours, so each hour begins with a row of its own.
INSERT INTO history.fiat_price_minute (chain_id, token, ts, usd, source)
SELECT p.chain_id, p.token, $3, p.usd, p.source
FROM unnest($1::int8[], $2::text[]) AS funded (chain_id, token)
JOIN operator.fiat_price p ON p.chain_id = funded.chain_id AND p.token = funded.token
LEFT JOIN LATERAL (
  SELECT usd, source, ts FROM history.fiat_price_minute h
  WHERE h.chain_id = p.chain_id AND h.token = p.token AND h.ts > $3 - 7200 AND h.ts <= $3
  ORDER BY ts DESC LIMIT 1
) last ON true
WHERE p.priced_at > now() - make_interval(secs => $4)
  AND ((p.usd, p.source) IS DISTINCT FROM (last.usd, last.source) OR last.ts < $3 - $3 % 3600)
ON CONFLICT DO NOTHING
