-- Notes a cancel. It never reaches the builder, but removes the waiting push of its uuid and guards against late ones.
-- KEYS: 2 waiting pushes by uuid (hash), 5 cancels of the uuid (sorted set: sequence number by end of guard)
-- ARGV: 1 now, 2 cancel as JSON, 3 duration of its guard, ms
-- Returns the push removed, or ''.
local now, mine, guard = tonumber(ARGV[1]), cjson.decode(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now)
redis.call('ZADD', KEYS[5], now + guard, mine.seq)
redis.call('PEXPIRE', KEYS[5], guard * 2)
local json = redis.call('HGET', KEYS[2], mine.uuid)
if not json then return '' end
local push = cjson.decode(json)
if push.seq > mine.seq and push.block >= mine.block then return '' end
redis.call('HDEL', KEYS[2], mine.uuid)
return json
