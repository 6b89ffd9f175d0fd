-- KEYS: 1 lease. ARGV: 1 fencing token. Returns 1 if the lease was held.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
