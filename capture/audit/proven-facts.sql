-- What agreed in pools of factories. $1 chain, $2 factories.
SELECT a.factory, array_agg(DISTINCT shown.fact) AS shown
FROM operator.index_audit a, unnest(a.shown) AS shown (fact)
WHERE a.chain_id = $1 AND a.factory = ANY ($2)
GROUP BY a.factory
