SELECT count(*) FILTER (WHERE differs_since IS NOT NULL)::int4 AS differing,
       count(*) FILTER (WHERE audited_block IS NULL)::int4 AS unread
FROM operator.index_audit
WHERE chain_id = $1 AND index_schema = (SELECT read_model.served_schema())
