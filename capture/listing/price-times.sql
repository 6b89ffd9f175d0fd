-- Prices that the operator fixed are always new: they count where no other was ever made.
SELECT chain_id::float8 AS "chainId", extract(epoch FROM newest)::int8::float8 AS "fiatPriceTs",
  coalesce(newest <= $1, true) AS "isFiatLost"
FROM (SELECT DISTINCT chain_id FROM operator.pool_listing) chain
LEFT JOIN (
  SELECT chain_id, coalesce(max(priced_at) FILTER (WHERE source = 'defillama'), max(priced_at)) AS newest
  FROM operator.fiat_price GROUP BY chain_id
) price USING (chain_id)
