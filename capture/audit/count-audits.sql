-- Pools and factories that differ, those that their last comparison did not read, by whether they matter (all factories do),
-- and those of which what differs does not count yet. A difference of an index before this one counts until a comparison.
SELECT count(*) FILTER (WHERE a.differs_since IS NOT NULL AND (is_served OR CASE WHEN a.address = a.factory
         THEN EXISTS (SELECT FROM read_model.pool p WHERE p.chain_id = $1 AND p.factory = a.factory::text)
         ELSE EXISTS (SELECT FROM read_model.pool p WHERE p.chain_id = $1 AND p.address = a.address::text) END))::int4 AS differing,
       count(*) FILTER (WHERE is_served AND a.is_unread AND matters)::int4 AS "unreadFunded",
       count(*) FILTER (WHERE is_served AND a.is_unread AND NOT matters)::int4 AS "unreadRemaining",
       count(*) FILTER (WHERE is_served AND a.differs_since IS NULL AND a.suspected_at_block IS NULL
         AND a.differences <> '{}')::int4 AS unproven
FROM operator.index_audit a
LEFT JOIN operator.price_health health ON (health.chain_id, health.pool) = (a.chain_id, a.address),
LATERAL (SELECT a.address = a.factory OR coalesce(health.is_funded, false) AS matters,
           a.index_schema = (SELECT read_model.served_schema()) AS is_served) facts
WHERE a.chain_id = $1
