-- Prices that the operator fixed are always new: where a service makes others, its own say whether it responds.
SELECT chain_id::float8 AS "chainId", extract(epoch FROM newest)::int8::float8 AS "fiatPriceTs",
  coalesce(newest <= $1, false) AS "isFiatLost"
FROM (SELECT DISTINCT chain_id FROM operator.pool_listing) chain
LEFT JOIN (
  SELECT chain_id, coalesce(max(priced_at) FILTER (WHERE source = $2 AND source <> 'static'), max(priced_at)) AS newest
  FROM operator.fiat_price GROUP BY chain_id
) price USING (chain_id)
