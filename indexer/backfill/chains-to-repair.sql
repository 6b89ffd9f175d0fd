-- Chains with pools that differ from the chain, and the first block to read again: none within ten minutes of the last backfill.
-- `attempt` counts repairs of a chain in a row after which no comparison of such a pool agreed; one for other pools of it does not end them.
-- $1: only what an indexer repairs by itself: what a comparison after the second one found too, three times a day at most. What the
-- last repair of the chain did not end waits longer: twenty minutes, twice as long after each further one, a week at most.
-- $2, $3: chains and factories whose layout is inferred, so that it may be read wrongly, which no repair ends. The indexer repairs a
-- pool of theirs by itself once the pool agreed, or a fact that differs did in one of the factory; a factory once a pool agreed.
WITH last AS (
  SELECT DISTINCT ON (chain_id) chain_id, b.begun_at, coalesce(of_chain, b.attempt) AS attempt
  FROM operator.backfill b, unnest(b.refetched_chains, b.attempts) AS refetched (chain_id, of_chain)
  WHERE b.served_at IS NOT NULL ORDER BY chain_id, b.begun_at DESC
), differing AS MATERIALIZED (
  SELECT * FROM operator.index_audit
  WHERE differs_since IS NOT NULL AND audited_block IS NOT NULL AND index_schema = (SELECT read_model.served_schema())
), proven AS MATERIALIZED (
  SELECT chain_id, factory, array_agg(DISTINCT fact) AS facts, bool_or(o.agreed_block IS NOT NULL AND o.address <> factory) AS has_agreed
  FROM (SELECT DISTINCT chain_id, factory FROM differing) f JOIN operator.index_audit o USING (chain_id, factory)
  LEFT JOIN unnest(o.shown) AS fact ON true
  GROUP BY chain_id, factory
), found AS (
  SELECT chain_id, a.agreed_block, coalesce(last.attempt, 0) AS last_attempt, NOT $1 OR coalesce(
    a.last_difference_at > a.differs_since
    AND (a.agreed_block IS NOT NULL OR last.begun_at IS NULL
      OR last.begun_at < now() - least(interval '7 days', interval '10 minutes' * 2 ^ least(last.attempt, 10)))
    AND (a.agreed_block IS NOT NULL OR a.differences && proven.facts OR (a.address = factory AND proven.has_agreed)
      OR ('liquidity' = ANY (proven.facts) AND a.differences && '{binBalances0,binBalances1}')
      OR NOT EXISTS (SELECT FROM unnest($2::int8[], $3::text[]) AS inferred (chain, name)
        WHERE chain = chain_id AND name = factory))
    AND 3 > (
      SELECT count(*) FROM operator.backfill b
      WHERE chain_id = ANY (b.refetched_chains) AND b.begun_at > now() - interval '1 day' AND b.served_at IS NOT NULL),
    false) AS is_due
  FROM differing a JOIN proven USING (chain_id, factory) LEFT JOIN last USING (chain_id)
)
SELECT chain_id::float8 AS "chainId", (min(coalesce(agreed_block + 1, 0)) FILTER (WHERE is_due))::float8 AS "fromBlock",
       max(CASE WHEN agreed_block IS NULL THEN greatest(1, last_attempt + is_due::int4) ELSE 1 END)::int4 AS attempt
FROM found
WHERE NOT EXISTS (SELECT FROM operator.backfill b WHERE b.begun_at > now() - interval '10 minutes' AND b.served_at IS NOT NULL)
GROUP BY chain_id HAVING bool_or(is_due) ORDER BY 1
