-- Decides whether an arriving live push may wait, and notes it in place of the older push of its uuid.
-- KEYS: 1 state, 2 waiting pushes by uuid (hash), 4 newest push seen of the uuid, 5 cancels of the uuid (sorted set:
--       sequence number by end of guard), 6 result of this bundle if it was accepted
-- ARGV: 1 now, 2 push as JSON, 3 most pushes that wait, 4 time to keep the newest, 5 how far ahead a pause or deadline
--       may be: one beyond is from before a clock stepped back; times in ms
-- Returns { verdict, older push that no longer waits or '', detail }. Detail of 'queued' and 'duplicate': the waiting
--         push; of 'accepted': the result; of 'backingOff': the rest of the pause in ms.
local now, mine, limit = tonumber(ARGV[1]), cjson.decode(ARGV[2]), tonumber(ARGV[3])
for _, seq in ipairs(redis.call('ZRANGEBYSCORE', KEYS[5], '(' .. ARGV[1], '+inf')) do
  if mine.seq <= seq then return { 'older' } end
end
local newest, accepted = redis.call('GET', KEYS[4]), redis.call('GET', KEYS[6])
if newest and mine.order < newest then return { accepted and 'accepted' or 'older', '', accepted } end

local older = redis.call('HGET', KEYS[2], mine.uuid) or ''
local waiting = older ~= '' and cjson.decode(older) or {}
-- A copy past its deadline does not count: it is no longer sent, and may have lost its job.
if waiting.order == mine.order and now < waiting.deadline then return { 'duplicate', '', older } end
redis.call('SET', KEYS[4], mine.order, 'PX', ARGV[4])
redis.call('HDEL', KEYS[2], mine.uuid)
if accepted then return { 'accepted', older, accepted } end
if mine.expiry < now then return { 'expired', older } end

local state = cjson.decode(redis.call('GET', KEYS[1]) or '{}')
local flying = state.flying
if flying and now < flying.deadline and flying.deadline < now + tonumber(ARGV[5]) then
  local isSame = flying.uuid == mine.uuid and flying.order == mine.order
  if isSame or flying.digest == mine.digest then return { 'duplicate', older } end
end
local pause = (state.pausedUntil or 0) - now
if 0 < pause and pause < tonumber(ARGV[5]) then return { 'backingOff', older, pause } end

-- Removes pushes past their deadline: without a worker nothing else does, and they must not fill the queue.
if redis.call('HLEN', KEYS[2]) >= limit then
  for _, json in ipairs(redis.call('HVALS', KEYS[2])) do
    local other = cjson.decode(json)
    if other.deadline <= now then redis.call('HDEL', KEYS[2], other.uuid) end
  end
end
local count = redis.call('HLEN', KEYS[2])
if count >= limit then return { 'queueFull' } end

if not waiting.place then
  state.lastPlace = count > 0 and state.lastPlace + 1 or 1
  redis.call('SET', KEYS[1], cjson.encode(state))
end
mine.place = waiting.place or state.lastPlace
local push = cjson.encode(mine)
redis.call('HSET', KEYS[2], mine.uuid, push)
return { 'queued', older, push }
