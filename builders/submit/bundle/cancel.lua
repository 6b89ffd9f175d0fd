-- A cancel arrives: it never reaches the builder, but removes the push that waits and guards against late ones.
-- KEYS: 1 order of waiting uuids, 2 waiting pushes by uuid, 3 cancels of the uuid (sequence by end of guard)
-- ARGV: 1 now, 2 uuid, 3 block (20 digits), 4 sequence number (20 digits), 5 guard, ms
-- Returns the payload of the push removed, or ''.
local seq = ARGV[4]
local ends = tonumber(ARGV[1]) + tonumber(ARGV[5])
for _, known in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  -- This guard lasts longer and covers more than one of a lower sequence.
  if known <= seq then redis.call('ZREM', KEYS[3], known) end
end
redis.call('ZADD', KEYS[3], ends, seq)
redis.call('PEXPIRE', KEYS[3], tonumber(ARGV[5]) * 2)

local waiting = redis.call('HGET', KEYS[2], ARGV[2])
if not waiting then return '' end
local newerThanCancel = string.sub(waiting, 22, 41) > seq and string.sub(waiting, 1, 20) >= ARGV[3]
if newerThanCancel then return '' end
redis.call('ZREM', KEYS[1], ARGV[2])
redis.call('HDEL', KEYS[2], ARGV[2])
return string.match(waiting, '^.-|.-|.-|.-|.-|(.*)$')
