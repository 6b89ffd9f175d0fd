-- The pools with the best yield of a week that hold at least 10,000 US dollars.
SELECT chain, pool, symbol, "tvlUsd", "apyBase", "apyBase7d"
FROM read_model.pool_yields
WHERE "tvlUsd" >= 10000
ORDER BY "apyBase7d" DESC NULLS LAST
LIMIT 20;

-- What the pools of each chain hold, and what that yields, each pool by what it holds.
SELECT chain, count(*) AS pools, sum("tvlUsd") AS tvl_usd,
       sum("tvlUsd" * "apyBase") / nullif(sum("tvlUsd") FILTER (WHERE "apyBase" IS NOT NULL), 0) AS apy_base
FROM read_model.pool_yields
GROUP BY chain
ORDER BY tvl_usd DESC NULLS LAST;

-- How often what they hold was traded in a day, for the pools of each token.
SELECT token, pool, symbol, "volumeUsd1d" / nullif("tvlUsd", 0) AS turnover
FROM read_model.pool_yields, unnest("underlyingTokens") AS token
WHERE "volumeUsd1d" > 0
ORDER BY token, turnover DESC NULLS LAST;
