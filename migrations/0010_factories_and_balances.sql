-- The factory of each listed pool: the API lists the pools of the deployments that its own configuration enables. Rows
-- written by the release before have none until its successor refreshes the listing.
ALTER TABLE operator.pool_listing ADD COLUMN factory operator.address;
UPDATE operator.pool_listing l
SET factory = substring(r.record FROM '"poolFactoryAddress":"(0x[0-9a-f]{40})"')
FROM operator.pool_record r
WHERE r.chain_id = l.chain_id AND r.pool = l.pool;
