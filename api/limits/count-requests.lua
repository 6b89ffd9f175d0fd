-- Counts requests of a client in a window, which begins with the first request.
-- KEYS: 1 count of the client. ARGV: 1 requests, 2 length of a window, ms
-- Returns the count, these requests included, and the time to the end of the window, ms.
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left, window = redis.call('PTTL', KEYS[1]), tonumber(ARGV[2])
if left >= 0 and left <= window then return { count, left } end
-- The count is new, or the clock of Redis was set back since.
redis.call('PEXPIRE', KEYS[1], window)
return { count, window }
