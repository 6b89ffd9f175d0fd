-- Notes an update as the newest of its uuid, unless a newer one is known.
-- KEYS: 1 newest update of the uuid, as "seq|digest"
-- ARGV: 1 sequence number (20 digits), 2 digest, 3 time to keep it, ms
-- Returns 'newest', 'same' (this very update again) or 'older'.
local mine = ARGV[1] .. '|' .. ARGV[2]
local newest = redis.call('GET', KEYS[1])
if newest and newest ~= mine and ARGV[1] <= string.sub(newest, 1, 20) then return 'older' end
redis.call('SET', KEYS[1], mine, 'PX', ARGV[3])
if newest == mine then return 'same' end
return 'newest'
