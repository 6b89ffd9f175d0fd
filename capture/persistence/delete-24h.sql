-- The figures of pools of chain $1 that no run has written since $2.
DELETE FROM operator.pool_persistence WHERE chain_id = $1 AND updated_at < $2
