-- Adds what was compared of sealed blocks, $2, to the hours of pools of chain $1 that have a sample.
UPDATE history.executability_hour e
SET sealed_count = e.sealed_count + s.compared, sealed_same_count = e.sealed_same_count + s.same
FROM json_to_recordset($2) AS s (pool text, "hourTs" int8, compared int4, same int4)
WHERE e.chain_id = $1 AND e.pool = s.pool AND e.hour_ts = s."hourTs"
RETURNING e.pool::text AS pool, e.hour_ts::float8 AS "hourTs"
