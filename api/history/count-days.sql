-- How many of the newest days of a pool before $3 a page shows, $4 at most, and whether there are older ones. What a day
-- takes to read grows with its swaps and changes of liquidity: unless a page has one day alone, its days have $5 of these
-- together at most, by running totals.
WITH RECURSIVE ends AS (
  (SELECT block_timestamp - block_timestamp % 86400 AS day_ts, totals[1] + totals[3] + totals[4] AS events,
          totals[1] + totals[3] + totals[4] AS newest, 0::int8 AS place
   FROM live.pool_activity
   WHERE chain_id = $1 AND pool = $2 AND block_timestamp < ($3::int8 + 86399) / 86400 * 86400
   ORDER BY block_timestamp DESC LIMIT 1)
  UNION ALL
  SELECT earlier.*, ends.newest, ends.place + 1
  FROM ends, LATERAL (
    SELECT a.block_timestamp - a.block_timestamp % 86400, a.totals[1] + a.totals[3] + a.totals[4] FROM live.pool_activity a
    WHERE a.chain_id = $1 AND a.pool = $2 AND a.block_timestamp < ends.day_ts
    ORDER BY a.block_timestamp DESC LIMIT 1) earlier
  WHERE ends.place < $4 AND ends.newest - ends.events <= $5
), days AS (
  SELECT count(*) AS found, greatest(count(*) FILTER (WHERE place < $4 AND newest - start <= $5), 1) AS shown
  FROM (SELECT place, newest, lead(events, 1, 0) OVER (ORDER BY place) AS start FROM ends) day
)
SELECT shown::float8 AS shown, found > shown AS "hasOlder" FROM days
