-- A listing across chains is merged from those of the chains: one index per sort serves both.

DROP INDEX operator.pool_listing_tier_rank_tvl_fiat_chain_id_pool_idx;
DROP INDEX operator.pool_listing_tvl_fiat_chain_id_pool_idx;
DROP INDEX operator.pool_listing_volume_fiat_tvl_fiat_chain_id_pool_idx;
DROP INDEX operator.pool_listing_apr_bps_chain_id_pool_idx;
DROP INDEX operator.pool_listing_apr_bps_7d_chain_id_pool_idx;
