SELECT b.chain_id::float8 AS "chainId", b.block_number::float8 AS "indexedBlock",
  round(extract(epoch FROM now()) - b.block_timestamp)::int AS "indexedAgeSecs",
  (SELECT count(*)::int FROM read_model.pool p WHERE p.chain_id = b.chain_id) AS pools,
  (SELECT count(*)::int FROM operator.pool_listing l WHERE l.chain_id = b.chain_id AND l.tier <> 'black') AS listed,
  (SELECT count(*)::int FROM operator.price_health h WHERE h.chain_id = b.chain_id AND h.status = 'healthy') AS healthy,
  (SELECT round(extract(epoch FROM now() - min(h.captured_at)))::int FROM operator.price_health h
   WHERE h.chain_id = b.chain_id) AS "priceAgeSecs",
  round(extract(epoch FROM now()) - w.generated_at_ts)::int AS "listingAgeSecs"
FROM read_model.indexed_block b LEFT JOIN operator.listing_window w ON w.chain_id = b.chain_id
ORDER BY b.chain_id
