-- As before (0005), without errors: swaps in the second of a change may cost more than what was held before it, so that a
-- gain is not positive, and gains of dust may exceed a float. Such a day has no return.

SET LOCAL check_function_bodies = off;

CREATE OR REPLACE FUNCTION history.lp_return(
  of_chain int8, of_pool text, token0 text, decimals0 int4, multiplier0 numeric, token1 text, decimals1 int4, multiplier1 numeric,
  s numeric[], e numeric[], from_ts int8, to_ts int8
) RETURNS float8
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN count(*) = count(gain) AND abs(sum(ln(gain))) < 700 THEN exp(sum(ln(gain))) - 1 END
  FROM (
    SELECT CASE WHEN kept.usd > 0 AND held.usd > 0 THEN kept.usd / held.usd END AS gain
    FROM (
      SELECT at_ts, owned0, owned1, added0, added1,
             lag(owned0, 1, coalesce(history.lp_owned0(s, multiplier0), 0)) OVER sequence AS held0,
             lag(owned1, 1, coalesce(history.lp_owned1(s, multiplier1), 0)) OVER sequence AS held1
      FROM (
        SELECT c.at_ts, false AS is_end, history.lp_owned0(own.totals, multiplier0) AS owned0,
               history.lp_owned1(own.totals, multiplier1) AS owned1,
               own.totals[10] - own.totals[12] - coalesce(past.totals[10] - past.totals[12], 0) AS added0,
               own.totals[11] - own.totals[13] - coalesce(past.totals[11] - past.totals[13], 0) AS added1
        FROM (
          SELECT DISTINCT block_timestamp AS at_ts FROM live.liquidity_change
          WHERE chain_id = of_chain AND pool = of_pool AND block_timestamp >= from_ts AND block_timestamp <= to_ts
        ) c
        JOIN live.pool_activity own ON own.chain_id = of_chain AND own.pool = of_pool AND own.block_timestamp = c.at_ts
        LEFT JOIN LATERAL (
          SELECT a.totals FROM live.pool_activity a
          WHERE a.chain_id = of_chain AND a.pool = of_pool AND a.block_timestamp < c.at_ts ORDER BY a.block_timestamp DESC LIMIT 1
        ) past ON true
        UNION ALL
        SELECT to_ts, true, history.lp_owned0(e, multiplier0), history.lp_owned1(e, multiplier1), 0, 0
      ) points
      WINDOW sequence AS (ORDER BY at_ts, is_end)
    ) steps,
    history.worth_usd(of_chain, token0, decimals0, owned0 - added0, token1, decimals1, owned1 - added1, at_ts) kept (usd),
    history.worth_usd(of_chain, token0, decimals0, held0, token1, decimals1, held1, at_ts) held (usd)
    WHERE held0 IS NULL OR held0 > 0 OR held1 > 0
  ) gains
$$;
