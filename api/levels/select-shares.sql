-- Of the last 60 minutes, with that of $2: those after the same one an hour ago, then those of this hour.
SELECT pool::text AS pool,
  sum(bit_count((committed_minutes & since)::bit(64)))::float8 / nullif(sum(bit_count((sample_minutes & since)::bit(64))), 0)
    AS "committedShare",
  sum(bit_count((live_minutes & since)::bit(64)))::float8 / nullif(sum(bit_count((live_sample_minutes & since)::bit(64))), 0)
    AS "liveShare"
FROM history.executability_hour
CROSS JOIN LATERAL (
  SELECT -1::int8 << CASE WHEN hour_ts < $2::int8 - $2::int8 % 3600 THEN ($2::int8 % 3600 / 60)::int4 + 1 ELSE 0 END AS since
) minutes
WHERE chain_id = $1 AND hour_ts > $2::int8 - 7200
GROUP BY pool
