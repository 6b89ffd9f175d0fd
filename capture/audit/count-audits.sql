-- Pools and factories that differ, and those of which it is not known: not read, or what differs does not count yet.
SELECT count(*) FILTER (WHERE differs_since IS NOT NULL)::int4 AS differing,
       count(*) FILTER (WHERE audited_block IS NULL
         OR differs_since IS NULL AND suspected_at_block IS NULL AND differences <> '{}')::int4 AS unread
FROM operator.index_audit
WHERE chain_id = $1 AND index_schema = (SELECT read_model.served_schema())
