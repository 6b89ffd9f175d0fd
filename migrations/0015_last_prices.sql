-- A lost price source hides no pool. `tvl_fiat`, `volume_fiat`, `apr_bps` and `apr_bps_7d` become what sorts and filters pools:
-- at the last prices of a day, then TVL alone, at most the default floor. What pages and views show goes by present prices.
ALTER TABLE operator.pool_listing ADD COLUMN shown_tvl_fiat float8, ADD COLUMN shown_volume_fiat float8;
UPDATE operator.pool_listing SET shown_tvl_fiat = tvl_fiat, shown_volume_fiat = volume_fiat;

-- Ages of the two prices: 0 shown, 1 of a day, 2 older; null without one.
ALTER TABLE operator.listing_source ADD COLUMN price_age0 int2, ADD COLUMN price_age1 int2;

-- When the newest token price of the chain was made, Unix seconds, and whether none can be shown although pools are listed.
ALTER TABLE operator.listing_window ADD COLUMN fiat_price_ts int8, ADD COLUMN is_fiat_lost boolean NOT NULL DEFAULT false;

CREATE OR REPLACE VIEW read_model.pool_listing AS
  SELECT l.chain_id, l.pool::text AS pool, l.contract_version, l.created_block_number, l.tier,
         coalesce(c.reason_codes, '{}') AS reason_codes, l.shown_tvl_fiat AS tvl_usd, l.shown_volume_fiat AS volume_24h_usd,
         (r.analytics::json ->> 'aprBps')::float8 AS apr_bps, (r.record::json ->> 'aprBps7d')::float8 AS apr_bps_7d,
         l.locked_pricing, l.deposit_allowlist
  FROM operator.pool_listing l
  LEFT JOIN operator.listed_pool r USING (chain_id, pool)
  LEFT JOIN operator.pool_classification c USING (chain_id, pool);
