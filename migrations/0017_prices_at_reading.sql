-- A refresh writes again only what changed. So what changes without the pool is put in when a page is read: its status, from
-- operator.price_health, and the prices of its tokens, from the table below.

-- Of rows of the release before these are null; what they show stands in their record.
ALTER TABLE operator.listed_pool
  ADD COLUMN token0 operator.address,
  ADD COLUMN token1 operator.address;

-- Prices that the listing was last refreshed with, and no others: a page shows the prices that its values were computed with.
CREATE TABLE operator.listing_price (
  chain_id int8             NOT NULL,
  token    operator.address NOT NULL,
  usd      float8           NOT NULL,
  PRIMARY KEY (chain_id, token)
) WITH (fillfactor = 50);

COMMENT ON COLUMN operator.pool_listing.price_status IS 'of the release before; always unknown';
