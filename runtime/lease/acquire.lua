-- Takes a lease that nobody holds.
-- KEYS: 1 lease; of a lease with fencing also 2 last fencing token, 3 time since which this Redis has had its data,
--       microseconds
-- ARGV: 1 duration of the lease and of the grace period, ms; 2 '1' for a process that comes first
-- Returns the token of this holder, or nil.
--
-- A Redis that lost its data no longer knows what holders did. During the grace period after that, only processes that
-- remember it may take a lease with fencing. Tokens follow the clock, so they keep growing across such a loss.
if redis.call('EXISTS', KEYS[1]) == 1 then return nil end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local token = string.format('%.0f', now)
if KEYS[2] then
  local epoch = tonumber(redis.call('GET', KEYS[3]))
  if not epoch then
    epoch = now
    redis.call('SET', KEYS[3], token)
  end
  if ARGV[2] ~= '1' and now - epoch < tonumber(ARGV[1]) * 1000 then return nil end
  local last = tonumber(redis.call('GET', KEYS[2]) or '0')
  token = string.format('%.0f', math.max(now, last + 1))
  redis.call('SET', KEYS[2], token)
end
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return token
