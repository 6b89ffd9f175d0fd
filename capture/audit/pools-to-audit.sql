-- Pools that are due for a comparison, as the index had them at its newest final block: of a row that a later block changed,
-- the first undo record since then has what it was before, as in a reorganisation. Nothing is due before the index is complete.
-- $1 chain, $2 served schema, $3 factories, $4 seconds between comparisons of a pool, $5 seconds after which each is due, $6 most pools,
-- $7 bins: pools are taken until they have as many, for anyone can create pools with very many.
-- $8, $9: factories, and what is shown of each: where that was all that a difference needed, a pool is compared again.
-- $10 standard extensions, of which those count that have a log in the index: it may not follow others. $11 most accounts of a
-- pool at an allowlist: those set last, for its owner can name very many.
-- Listed pools have three of four turns, before others. The fourth is of the pool that has waited longest, so none waits for ever.
WITH point AS MATERIALIZED (
  SELECT c.finalized_checkpoint AS checkpoint, substr(c.finalized_checkpoint, 27, 16)::int8 AS block,
         substr(c.finalized_checkpoint, 1, 10)::int8 AS block_timestamp, substr(c.latest_checkpoint, 27, 16)::int8 AS indexed_block
  FROM :"schema"._ponder_checkpoint c
  JOIN :"schema"._ponder_meta m ON m.key = 'app' AND m.value ->> 'is_ready' = '1'
  WHERE c.chain_id = $1
), undone_pool AS MATERIALIZED (
  SELECT DISTINCT ON (r.address) r.* FROM :"schema"._reorg__pool r, point
  WHERE r.chain_id = $1 AND r.checkpoint > point.checkpoint ORDER BY r.address, r.operation_id
), undone_state AS MATERIALIZED (
  SELECT DISTINCT ON (r.pool) r.* FROM :"schema"._reorg__pool_state r, point
  WHERE r.chain_id = $1 AND r.checkpoint > point.checkpoint ORDER BY r.pool, r.operation_id
), undone_allowlist AS MATERIALIZED (
  SELECT DISTINCT ON (r.address, r.pool) r.* FROM :"schema"._reorg__allowlist r, point
  WHERE r.chain_id = $1 AND r.checkpoint > point.checkpoint ORDER BY r.address, r.pool, r.operation_id
), undone_entry AS MATERIALIZED (
  SELECT DISTINCT ON (r.address, r.pool, r.account) r.* FROM :"schema"._reorg__allowlist_entry r, point
  WHERE r.chain_id = $1 AND r.checkpoint > point.checkpoint ORDER BY r.address, r.pool, r.account, r.operation_id
), undone_stop_loss AS MATERIALIZED (
  SELECT DISTINCT ON (r.address, r.pool) r.* FROM :"schema"._reorg__stop_loss r, point
  WHERE r.chain_id = $1 AND r.checkpoint > point.checkpoint ORDER BY r.address, r.pool, r.operation_id
), undone_velocity AS MATERIALIZED (
  SELECT DISTINCT ON (r.address, r.pool) r.* FROM :"schema"._reorg__price_velocity r, point
  WHERE r.chain_id = $1 AND r.checkpoint > point.checkpoint ORDER BY r.address, r.pool, r.operation_id
), extended AS MATERIALIZED (
  SELECT l.pool, max(l.block_number) AS block FROM point, (
    SELECT pool, block_number FROM :"schema".allowlist WHERE chain_id = $1 AND address = ANY ($10)
    UNION ALL SELECT pool, block_number FROM :"schema".allowlist_entry WHERE chain_id = $1 AND address = ANY ($10)
    UNION ALL SELECT pool, block_number FROM :"schema".stop_loss WHERE chain_id = $1 AND address = ANY ($10)
    UNION ALL SELECT pool, block_number FROM :"schema".price_velocity WHERE chain_id = $1 AND address = ANY ($10)) l
  WHERE l.block_number <= point.block GROUP BY l.pool
), next AS MATERIALIZED (
  SELECT p.address, p.highest_bin - p.lowest_bin + 1 AS bins, point.block, point.block_timestamp, point.indexed_block, a.address IS NOT NULL AS was_audited,
         a.index_schema, a.audited_block, a.agreed_block, a.suspected_at_block, a.differs_since, a.last_difference_at, a.differences, a.shown, a.is_unread,
         listed.pool IS NOT NULL AS is_listed, change.is_unseen, a.tried_at,
         -- Also what differed in the index before this one.
         (a.suspected_at_block IS NOT NULL OR a.differs_since IS NOT NULL AND (a.index_schema <> $2 OR a.audited_block IS NULL)) AS is_suspected,
         coalesce(a.tried_at, to_timestamp(p.created_timestamp)) AS waits_since
  FROM point
  JOIN :"schema".pool p ON p.chain_id = $1 AND p.factory = ANY ($3)
  JOIN :"schema".pool_state s ON s.chain_id = $1 AND s.pool = p.address
  LEFT JOIN undone_pool up ON up.address = p.address
  LEFT JOIN undone_state us ON us.pool = p.address
  LEFT JOIN extended ON extended.pool = p.address
  LEFT JOIN operator.index_audit a ON a.chain_id = $1 AND a.address = p.address
  LEFT JOIN operator.listed_pool listed ON listed.chain_id = $1 AND listed.pool = p.address,
  LATERAL (SELECT a.index_schema IS DISTINCT FROM $2 OR a.audited_block IS NULL OR a.suspected_at_block < point.indexed_block
    OR greatest(coalesce(up.block_number, p.block_number), coalesce(us.block_number, s.block_number), extended.block) > a.audited_block
    OR (a.differs_since IS NOT NULL AND a.audited_block < point.block)
    OR (a.differs_since IS NULL AND a.suspected_at_block IS NULL AND a.differences <> '{}' AND EXISTS (
      SELECT FROM unnest($8::text[], $9::text[]) AS proven (factory, fact)
      WHERE proven.factory = p.factory AND proven.fact = ANY (a.differences))) OR a.is_unread AS is_unseen) change
  -- Written so that the planner expects most pools to remain.
  WHERE (up.operation IS NULL OR up.operation IN (1, 2)) AND (us.operation IS NULL OR us.operation IN (1, 2))
    AND (a.tried_at IS NULL OR a.tried_at < now() - make_interval(secs => $5)
      OR change.is_unseen AND a.tried_at < now() - make_interval(secs =>
        CASE WHEN a.suspected_at_block IS NULL THEN $4::float8 ELSE least($4, 10) END))
), turn AS MATERIALIZED (
  SELECT next.*, least(
    row_number() OVER (ORDER BY is_suspected DESC, is_listed DESC, is_unseen DESC, tried_at NULLS FIRST, address),
    4 * row_number() OVER (ORDER BY waits_since, address)) AS turn
  FROM next ORDER BY turn, waits_since, address LIMIT $6
), due AS MATERIALIZED (
  SELECT * FROM (SELECT turn.*, sum(bins) OVER (ORDER BY turn, waits_since, address) - bins AS bins_before FROM turn) ordered
  WHERE bins_before < $7
)
SELECT due.address, due.block::float8 AS block, due.block_timestamp::float8 AS "blockTimestamp",
       due.indexed_block::float8 AS "indexedBlock", CASE WHEN due.was_audited THEN json_build_object(
         'indexSchema', due.index_schema, 'auditedBlock', due.audited_block, 'agreedBlock', due.agreed_block,
         'suspectedAtBlock', due.suspected_at_block, 'differsSince', due.differs_since, 'lastDifferenceAt', due.last_difference_at,
         'differences', due.differences, 'shown', due.shown, 'isUnread', due.is_unread) END AS before,
       coalesce(to_jsonb(up), to_jsonb(p))::text AS pool, coalesce(to_jsonb(us), to_jsonb(s))::text AS state,
       ARRAY(SELECT e.address FROM :"schema".pool_extension e
         WHERE e.chain_id = $1 AND e.pool = due.address ORDER BY e.position) AS extensions,
       -- What no event has set is not allowed.
       (SELECT coalesce(jsonb_agg(jsonb_build_object('address', e.address,
          'allowAll', CASE ua.operation WHEN 0 THEN false ELSE coalesce(ua.allow_all, l.allow_all, false) END,
          'accounts', entries.accounts, 'allowed', entries.allowed) ORDER BY e.position), '[]')
        FROM :"schema".pool_extension e
        LEFT JOIN :"schema".allowlist l ON l.chain_id = $1 AND l.address = e.address AND l.pool = e.pool
        LEFT JOIN undone_allowlist ua ON ua.address = e.address AND ua.pool = e.pool,
        LATERAL (SELECT coalesce(jsonb_agg(x.account ORDER BY x.account), '[]') AS accounts,
            coalesce(jsonb_agg(CASE ux.operation WHEN 0 THEN false ELSE coalesce(ux.allowed, x.allowed) END ORDER BY x.account), '[]') AS allowed
          FROM (SELECT account, allowed FROM :"schema".allowlist_entry
            WHERE chain_id = $1 AND address = e.address AND pool = e.pool ORDER BY block_number DESC, account LIMIT $11) x
          LEFT JOIN undone_entry ux ON ux.address = e.address AND ux.pool = e.pool AND ux.account = x.account) entries
        WHERE e.chain_id = $1 AND e.pool = due.address AND e.address = ANY ($10)
          AND (EXISTS (SELECT FROM :"schema".allowlist WHERE chain_id = $1 AND address = e.address)
            OR EXISTS (SELECT FROM :"schema".allowlist_entry WHERE chain_id = $1 AND address = e.address))) AS allowlists,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('address', e.address, 'role', g.role, 'settings', g.settings) ORDER BY e.position), '[]')
        FROM :"schema".pool_extension e, LATERAL (
          SELECT 'stopLoss' AS role, CASE u.operation WHEN 0 THEN '{}' ELSE coalesce(to_jsonb(u), to_jsonb(l), '{}') END AS settings
          FROM (SELECT) one
          LEFT JOIN :"schema".stop_loss l ON l.chain_id = $1 AND l.address = e.address AND l.pool = e.pool
          LEFT JOIN undone_stop_loss u ON u.address = e.address AND u.pool = e.pool
          WHERE EXISTS (SELECT FROM :"schema".stop_loss WHERE chain_id = $1 AND address = e.address)
          UNION ALL
          SELECT 'priceVelocityGuard', CASE u.operation WHEN 0 THEN '{}' ELSE coalesce(to_jsonb(u), to_jsonb(l), '{}') END
          FROM (SELECT) one
          LEFT JOIN :"schema".price_velocity l ON l.chain_id = $1 AND l.address = e.address AND l.pool = e.pool
          LEFT JOIN undone_velocity u ON u.address = e.address AND u.pool = e.pool
          WHERE EXISTS (SELECT FROM :"schema".price_velocity WHERE chain_id = $1 AND address = e.address)) g
        WHERE e.chain_id = $1 AND e.pool = due.address AND e.address = ANY ($10))::text AS guards
FROM due
JOIN :"schema".pool p ON p.chain_id = $1 AND p.address = due.address
JOIN :"schema".pool_state s ON s.chain_id = $1 AND s.pool = due.address
LEFT JOIN undone_pool up ON up.address = due.address
LEFT JOIN undone_state us ON us.pool = due.address
ORDER BY due.turn, due.waits_since, due.address
