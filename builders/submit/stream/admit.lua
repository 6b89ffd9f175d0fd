-- Decides right before the bytes go out whether this worker may send this update.
-- KEYS: 1 lease of the endpoint, 2 newest update of the uuid, as "seq|digest"
-- ARGV: 1 fencing token, 2 sequence number (20 digits), 3 digest, 4 time to keep the newest update, ms
-- Returns 'send', 'fenced' (another worker holds the endpoint) or 'superseded'.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'fenced' end
local mine = ARGV[2] .. '|' .. ARGV[3]
local newest = redis.call('GET', KEYS[2])
if newest == mine then return 'send' end
if newest and ARGV[2] <= string.sub(newest, 1, 20) then return 'superseded' end
redis.call('SET', KEYS[2], mine, 'PX', ARGV[4])
return 'send'
