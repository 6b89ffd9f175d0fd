-- Pages far down a listing count the rows before them in an index alone: what hides a pool stands in it beside the sort keys.

DROP INDEX operator.pool_listing_chain_id_tier_rank_tvl_fiat_pool_idx;
CREATE INDEX pool_listing_chain_id_tier_rank_tvl_fiat_pool_idx ON operator.pool_listing (chain_id, tier_rank DESC, tvl_fiat DESC NULLS LAST, pool)
  INCLUDE (factory);
DROP INDEX operator.pool_listing_chain_id_tvl_fiat_pool_idx;
CREATE INDEX pool_listing_chain_id_tvl_fiat_pool_idx ON operator.pool_listing (chain_id, tvl_fiat DESC NULLS LAST, pool)
  INCLUDE (factory, tier_rank);
DROP INDEX operator.pool_listing_chain_id_volume_fiat_tvl_fiat_pool_idx;
CREATE INDEX pool_listing_chain_id_volume_fiat_tvl_fiat_pool_idx ON operator.pool_listing (chain_id, volume_fiat DESC NULLS LAST, tvl_fiat DESC NULLS LAST, pool)
  INCLUDE (factory, tier_rank);
DROP INDEX operator.pool_listing_chain_id_apr_bps_pool_idx;
CREATE INDEX pool_listing_chain_id_apr_bps_pool_idx ON operator.pool_listing (chain_id, apr_bps DESC NULLS LAST, pool)
  INCLUDE (factory, tier_rank, tvl_fiat);
DROP INDEX operator.pool_listing_chain_id_apr_bps_7d_pool_idx;
CREATE INDEX pool_listing_chain_id_apr_bps_7d_pool_idx ON operator.pool_listing (chain_id, apr_bps_7d DESC NULLS LAST, pool)
  INCLUDE (factory, tier_rank, tvl_fiat);
DROP INDEX operator.pool_listing_chain_id_created_block_number_pool_idx;
CREATE INDEX pool_listing_chain_id_created_block_number_pool_idx ON operator.pool_listing (chain_id, created_block_number DESC, pool)
  INCLUDE (factory, tier_rank, tvl_fiat);
DROP INDEX operator.pool_listing_tier_rank_tvl_fiat_chain_id_pool_idx;
CREATE INDEX pool_listing_tier_rank_tvl_fiat_chain_id_pool_idx ON operator.pool_listing (tier_rank DESC, tvl_fiat DESC NULLS LAST, chain_id, pool)
  INCLUDE (factory);
DROP INDEX operator.pool_listing_tvl_fiat_chain_id_pool_idx;
CREATE INDEX pool_listing_tvl_fiat_chain_id_pool_idx ON operator.pool_listing (tvl_fiat DESC NULLS LAST, chain_id, pool)
  INCLUDE (factory, tier_rank);
DROP INDEX operator.pool_listing_volume_fiat_tvl_fiat_chain_id_pool_idx;
CREATE INDEX pool_listing_volume_fiat_tvl_fiat_chain_id_pool_idx ON operator.pool_listing (volume_fiat DESC NULLS LAST, tvl_fiat DESC NULLS LAST, chain_id, pool)
  INCLUDE (factory, tier_rank);
DROP INDEX operator.pool_listing_apr_bps_chain_id_pool_idx;
CREATE INDEX pool_listing_apr_bps_chain_id_pool_idx ON operator.pool_listing (apr_bps DESC NULLS LAST, chain_id, pool)
  INCLUDE (factory, tier_rank, tvl_fiat);
DROP INDEX operator.pool_listing_apr_bps_7d_chain_id_pool_idx;
CREATE INDEX pool_listing_apr_bps_7d_chain_id_pool_idx ON operator.pool_listing (apr_bps_7d DESC NULLS LAST, chain_id, pool)
  INCLUDE (factory, tier_rank, tvl_fiat);
