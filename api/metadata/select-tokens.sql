-- A page of the tokens of listed pools, and their number in each row: chain $1, factories $2, rank of delisted pools $3, count
-- $4, offset $5. A page past the end has one row without an address. What is shown of a token comes from the record of one
-- of its pools.
WITH of_factory AS (
  SELECT side.token, l.factory::text AS factory, count(*) AS pools, min(r.pool::text) AS pool
  FROM operator.pool_listing l
  JOIN operator.listed_pool r USING (chain_id, pool)
  CROSS JOIN LATERAL (VALUES (r.token0::text), (r.token1::text)) side (token)
  WHERE l.chain_id = $1 AND l.factory = ANY ($2::text[]) AND l.tier_rank <> $3::int2
  GROUP BY side.token, l.factory
), counted AS MATERIALIZED (
  SELECT token, sum(pools)::int8 AS pools, min(pool) AS pool, array_agg(factory) AS factories FROM of_factory GROUP BY token
), page AS (
  SELECT token, pools, pool, factories FROM counted ORDER BY pools DESC, token LIMIT $4::int8 OFFSET $5::int8
)
SELECT (SELECT count(*) FROM counted)::float8 AS total, page.token AS address, page.pools::float8 AS pools, page.factories,
       record ->> (side || 'Symbol') AS symbol, record ->> (side || 'Name') AS name,
       (record ->> (side || 'Decimals'))::int4 AS decimals, record ->> (side || 'LogoUrl') AS "logoUrl"
FROM (SELECT) one
LEFT JOIN page ON true
LEFT JOIN LATERAL (
  SELECT r.record::json AS record, CASE WHEN r.token0 = page.token THEN 'token0' ELSE 'token1' END AS side
  FROM operator.listed_pool r WHERE r.chain_id = $1 AND r.pool = page.pool
) shown ON true
ORDER BY page.pools DESC, page.token
