-- Checks that the uuid belongs to the holder, and notes the update as the newest of it, unless a newer one is known.
-- KEYS: 1 newest update of the uuid, as "seq|digest", 2 owner of the uuid
-- ARGV: 1 sequence number (20 digits), 2 digest, 3 time to keep it, ms, 4 holder, 5 time to keep the owner, ms
-- Returns 'foreign' (another holder's uuid: nothing is changed), 'newest', 'same' (the same update again) or 'older'.
local owner = redis.call('GET', KEYS[2])
if owner and owner ~= ARGV[4] then return 'foreign' end
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])

local mine = ARGV[1] .. '|' .. ARGV[2]
local newest = redis.call('GET', KEYS[1])
if newest and newest ~= mine and ARGV[1] <= string.sub(newest, 1, 20) then return 'older' end
redis.call('SET', KEYS[1], mine, 'PX', ARGV[3])
if newest == mine then return 'same' end
return 'newest'
