-- An API process reads the prices that were captured since it last looked, and how old the oldest is, by the index alone.
CREATE INDEX price_health_chain_id_captured_at_pool_idx ON operator.price_health (chain_id, captured_at, pool);
