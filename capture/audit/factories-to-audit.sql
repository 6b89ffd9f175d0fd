-- Factories that are due for a comparison, with the number of pools that the index has of each at its newest final block.
-- $1 chain, $2 served schema, $3 factories, $4 seconds between comparisons of a factory.
SELECT f.address, substr(c.finalized_checkpoint, 27, 16)::float8 AS block,
       substr(c.finalized_checkpoint, 1, 10)::float8 AS "blockTimestamp",
       substr(c.latest_checkpoint, 27, 16)::float8 AS "indexedBlock",
       CASE WHEN a.address IS NOT NULL THEN json_build_object(
         'indexSchema', a.index_schema, 'auditedBlock', a.audited_block, 'agreedBlock', a.agreed_block,
         'suspectedAtBlock', a.suspected_at_block, 'differsSince', a.differs_since, 'lastDifferenceAt', a.last_difference_at,
         'differences', a.differences, 'shown', a.shown, 'isUnread', a.is_unread) END AS before,
       (SELECT count(*) FROM :"schema".pool p WHERE p.chain_id = $1 AND p.factory = f.address
         AND p.created_block_number <= substr(c.finalized_checkpoint, 27, 16)::int8)::int4 AS pools
FROM unnest($3::text[]) AS f (address)
JOIN :"schema"._ponder_checkpoint c ON c.chain_id = $1
JOIN :"schema"._ponder_meta m ON m.key = 'app' AND m.value ->> 'is_ready' = '1'
LEFT JOIN operator.index_audit a ON a.chain_id = $1 AND a.address = f.address
WHERE a.tried_at IS NULL OR a.index_schema <> $2
  OR a.tried_at < now() - make_interval(secs =>
    CASE WHEN a.suspected_at_block IS NULL THEN $4::float8 ELSE least($4, 10) END) AND (a.audited_block IS NULL
    OR a.audited_block < substr(c.finalized_checkpoint, 27, 16)::int8
    OR a.suspected_at_block < substr(c.latest_checkpoint, 27, 16)::int8)
