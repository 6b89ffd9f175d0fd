SELECT pool::text AS pool, sum(committed_count)::float8 / nullif(sum(sample_count), 0) AS "committedShare",
  sum(live_count)::float8 / nullif(sum(live_sample_count), 0) AS "liveShare"
FROM history.executability_hour
WHERE chain_id = $1 AND hour_ts >= $2
GROUP BY pool
