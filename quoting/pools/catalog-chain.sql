SELECT (SELECT block_number FROM read_model.indexed_block WHERE chain_id = $1)::float8 AS head,
  extract(epoch FROM now() - (SELECT max(captured_at) FROM operator.price_health WHERE chain_id = $1))::float8 AS newest,
  extract(epoch FROM now() - (SELECT min(captured_at) FROM operator.price_health WHERE chain_id = $1))::float8 AS oldest,
  (extract(epoch FROM now()) - w.generated_at_ts)::float8 AS listing,
  (extract(epoch FROM now()) - w.fiat_price_ts)::float8 AS "fiatPrice", coalesce(w.is_fiat_lost, false) AS "isFiatLost",
  (SELECT max(a.audited_block) FROM operator.index_audit a
    WHERE a.chain_id = $1 AND a.index_schema = (SELECT read_model.served_schema()))::float8 AS "auditedToBlock",
  (SELECT count(*) FROM operator.index_audit a WHERE a.chain_id = $1 AND a.is_unread
    AND a.index_schema = (SELECT read_model.served_schema()))::int4 AS "unreadPools",
  (SELECT extract(epoch FROM max(a.last_difference_at)) FROM operator.index_audit a WHERE a.chain_id = $1)::float8 AS "lastDifferenceAt",
  (SELECT json_agg(json_build_object('address', a.address, 'factory', a.factory, 'agreedBlock', a.agreed_block) ORDER BY a.address)
    FROM (SELECT d.address, d.factory, CASE WHEN is_served THEN d.agreed_block END AS agreed_block
      FROM operator.index_audit d, LATERAL (SELECT d.index_schema = (SELECT read_model.served_schema()) AS is_served) served
      -- A difference of an index before this one counts until a comparison.
      WHERE d.chain_id = $1 AND d.differs_since IS NOT NULL AND (is_served OR CASE WHEN d.address = d.factory
        THEN EXISTS (SELECT FROM read_model.pool p WHERE p.chain_id = $1 AND p.factory = d.factory::text)
        ELSE EXISTS (SELECT FROM read_model.pool p WHERE p.chain_id = $1 AND p.address = d.address::text) END)
      ORDER BY d.address LIMIT 100) a) AS differing,
  (SELECT json_agg(json_build_object('node', f.node, 'leftOut', f.left_out, 'invented', f.invented,
      'lastAt', extract(epoch FROM f.last_at)::int8) ORDER BY f.node)
    FROM operator.log_fault f WHERE f.chain_id = $1 AND f.last_at > now() - interval '1 day') AS "faultyNodes"
FROM (SELECT) one LEFT JOIN operator.listing_window w ON w.chain_id = $1
