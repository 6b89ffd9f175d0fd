-- Takes a lease that nobody holds, or prolongs one without fencing for its holder, who may have missed the answer.
-- KEYS: 1 lease; of a lease with fencing also 2 last fencing token, 3 time since which this Redis has had its data,
--       microseconds
-- ARGV: 1 duration of the lease and of the grace period, ms; 2 '1' for a process that comes first; 3 token of a holder
--       without fencing, else empty
-- Returns the token of this holder, or nil.
--
-- A Redis that lost its data no longer knows what holders did. During the grace period after that, only processes that
-- remember it may take a lease with fencing. Tokens follow the clock, so they keep growing across such a loss.
local holder = redis.call('GET', KEYS[1])
local token = ARGV[3]
if holder and holder ~= token then
  -- It lasts longer only where the clock of Redis was set back since. A living holder prolongs it within that time.
  if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
  return nil
end
if KEYS[2] then
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local epoch = tonumber(redis.call('GET', KEYS[3]))
  if not epoch or epoch > now then
    epoch = now
    redis.call('SET', KEYS[3], string.format('%.0f', now))
  end
  if ARGV[2] ~= '1' and now - epoch < tonumber(ARGV[1]) * 1000 then return nil end
  local last = tonumber(redis.call('GET', KEYS[2]) or '0')
  token = string.format('%.0f', math.max(now, last + 1))
  redis.call('SET', KEYS[2], token)
end
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return token
