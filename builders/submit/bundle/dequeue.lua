-- Decides whether this worker may send the push whose turn it is. 'send' puts the push in flight until its deadline.
-- KEYS: 1 state, 2 waiting pushes by uuid (hash), 3 lease of the endpoint
-- ARGV: 1 now, 2 push as JSON, 3 fencing token, 4 name of this call: a connection that lost its answer repeats it,
--       5 how far ahead a deadline may be, ms
-- Returns { verdict, push that was in flight until its deadline, or nothing }. Verdicts: 'fenced' (another worker holds
--         the endpoint), 'gone' (the push no longer waits), 'busy' (a request is in flight), 'expired' or 'send'.
if redis.call('GET', KEYS[3]) ~= ARGV[3] then return { 'fenced' } end
local now, mine = tonumber(ARGV[1]), cjson.decode(ARGV[2])
local state = cjson.decode(redis.call('GET', KEYS[1]) or '{}')
local flying = state.flying
if flying and flying.call == ARGV[4] then return { 'send' } end
local push = cjson.decode(redis.call('HGET', KEYS[2], mine.uuid) or '{}')
local waits = push.id == mine.id
if not waits and not (flying and flying.id == mine.id) then return { 'gone' } end
local left = flying and flying.deadline - now or 0
if 0 < left and left < tonumber(ARGV[5]) then return { 'busy' } end

local unsettled = flying and not flying.late and cjson.encode(flying) or nil
local expired = waits and push.expiry < now and now < push.deadline
if waits then redis.call('HDEL', KEYS[2], mine.uuid) end
state.flying = nil
if waits and not expired then
  -- A late push is dropped instead of sent.
  push.call, push.late = ARGV[4], push.deadline <= now
  state.flying = push
end
redis.call('SET', KEYS[1], cjson.encode(state))
return { waits and (expired and 'expired' or 'send') or 'gone', unsettled }
