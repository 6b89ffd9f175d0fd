SELECT (SELECT block_number FROM read_model.indexed_block WHERE chain_id = $1)::float8 AS head,
  extract(epoch FROM now() - (SELECT max(captured_at) FROM operator.price_health WHERE chain_id = $1))::float8 AS newest,
  extract(epoch FROM now() - (SELECT min(captured_at) FROM operator.price_health WHERE chain_id = $1))::float8 AS oldest,
  (SELECT extract(epoch FROM now()) - generated_at_ts FROM operator.listing_window WHERE chain_id = $1)::float8 AS listing
