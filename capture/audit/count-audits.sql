-- Pools and factories that differ, those that their last comparison did not read, by whether they matter (all factories do),
-- and those of which what differs does not count yet.
SELECT count(*) FILTER (WHERE a.differs_since IS NOT NULL)::int4 AS differing,
       count(*) FILTER (WHERE a.is_unread AND matters)::int4 AS "unreadFunded",
       count(*) FILTER (WHERE a.is_unread AND NOT matters)::int4 AS "unreadRemaining",
       count(*) FILTER (WHERE a.differs_since IS NULL AND a.suspected_at_block IS NULL AND a.differences <> '{}')::int4 AS unproven
FROM operator.index_audit a
LEFT JOIN operator.price_health health ON (health.chain_id, health.pool) = (a.chain_id, a.address),
LATERAL (SELECT a.address = a.factory OR coalesce(health.is_funded, false) AS matters) importance
WHERE a.chain_id = $1 AND a.index_schema = (SELECT read_model.served_schema())
