-- What agreed in pools of factories. $1 chain, $2 factories, $3 what may have: one pool that shows it is enough to look at.
SELECT f.factory, array_agg(fact) AS shown
FROM unnest($2::text[]) AS f (factory), unnest($3::text[]) AS fact
WHERE EXISTS (SELECT FROM operator.index_audit a WHERE a.chain_id = $1 AND a.factory = f.factory AND fact = ANY (a.shown))
GROUP BY f.factory
