-- Decides whether this worker may send the push whose turn it is. 'send' puts the push in flight until its deadline.
-- KEYS: 1 state, 2 waiting pushes by uuid (hash), 3 lease of the endpoint
-- ARGV: 1 now, 2 push as JSON, 3 fencing token, 4 name of this call: a connection that lost its answer repeats it,
--       5 how far ahead a deadline may be, ms
-- Returns 'fenced' (another worker holds the endpoint), 'gone' (the push no longer waits), 'busy' (a request is in
-- flight), 'expired' or 'send'.
if redis.call('GET', KEYS[3]) ~= ARGV[3] then return 'fenced' end
local now, mine = tonumber(ARGV[1]), cjson.decode(ARGV[2])
local state = cjson.decode(redis.call('GET', KEYS[1]) or '{}')
if state.flying and state.flying.call == ARGV[4] then return 'send' end
local push = cjson.decode(redis.call('HGET', KEYS[2], mine.uuid) or '{}')
if push.id ~= mine.id then return 'gone' end
local left = state.flying and state.flying.deadline - now or 0
if 0 < left and left < tonumber(ARGV[5]) then return 'busy' end
redis.call('HDEL', KEYS[2], mine.uuid)
if push.expiry < now and now < push.deadline then return 'expired' end
push.call = ARGV[4]
state.flying = push
redis.call('SET', KEYS[1], cjson.encode(state))
return 'send'
