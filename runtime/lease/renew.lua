-- Prolongs a lease. KEYS: 1 lease. ARGV: 1 token of the holder, 2 duration, ms; 0 gives it up. Returns 1 while it is held.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
