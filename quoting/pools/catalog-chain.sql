SELECT (SELECT block_number FROM read_model.indexed_block WHERE chain_id = $1)::float8 AS head,
  extract(epoch FROM now() - (SELECT max(captured_at) FROM operator.price_health WHERE chain_id = $1))::float8 AS newest,
  extract(epoch FROM now() - (SELECT min(captured_at) FROM operator.price_health WHERE chain_id = $1))::float8 AS oldest,
  (extract(epoch FROM now()) - w.generated_at_ts)::float8 AS listing,
  (extract(epoch FROM now()) - w.fiat_price_ts)::float8 AS "fiatPrice", coalesce(w.is_fiat_lost, false) AS "isFiatLost"
FROM (SELECT) one LEFT JOIN operator.listing_window w ON w.chain_id = $1
