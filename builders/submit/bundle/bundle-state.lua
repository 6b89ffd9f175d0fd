-- One step of the pushes to a bundle endpoint.
-- KEYS: 1 state, 2 waiting submissions by uuid (hash), 3 lease of the endpoint, 4 newest push seen of the uuid,
--       5 cancels of the uuid (sorted set: sequence by end of guard), 6 result of this bundle if it was accepted;
--       the last three only where a step is about a push
-- ARGV: 1 step, 2 now, 3 push of the step as JSON, then what the step takes, see below
-- A push has: id, uuid, block, seq (20 digits each), digest, expiry, deadline. Times are Unix milliseconds.
local state = cjson.decode(redis.call('GET', KEYS[1]) or '{"waiting":[],"failures":0,"pausedUntil":0}')
local waiting, now, mine = state.waiting, tonumber(ARGV[2]), cjson.decode(ARGV[3])
local steps = {}

local function orderOf(push)
  return push.block .. '|' .. push.seq
end

local function placeOf(uuid)
  for place, push in ipairs(waiting) do
    if push.uuid == uuid then return place end
  end
end

-- Takes a push out of the queue. Returns its submission.
local function remove(place)
  local uuid = table.remove(waiting, place).uuid
  local submission = redis.call('HGET', KEYS[2], uuid)
  redis.call('HDEL', KEYS[2], uuid)
  return submission
end

local function isCopy(flying)
  if not flying or now >= flying.deadline then return false end
  return flying.digest == mine.digest or (flying.uuid == mine.uuid and orderOf(flying) == orderOf(mine))
end

-- A live push arrives. Returns { verdict, older submission removed or '', detail }.
function steps.offer(submission, limit, newestKept)
  for _, seq in ipairs(redis.call('ZRANGEBYSCORE', KEYS[5], '(' .. ARGV[2], '+inf')) do
    if mine.seq <= seq then return { 'older' } end
  end
  local newest, accepted = redis.call('GET', KEYS[4]), redis.call('GET', KEYS[6])
  if newest and orderOf(mine) < newest then return { accepted and 'accepted' or 'older', '', accepted } end
  local place = placeOf(mine.uuid)
  if place and orderOf(waiting[place]) == orderOf(mine) then return { 'duplicate' } end
  redis.call('SET', KEYS[4], orderOf(mine), 'PX', newestKept)
  local removed = place and remove(place) or ''
  if accepted then return { 'accepted', removed, accepted } end
  if mine.expiry < now then return { 'expired', removed } end
  if isCopy(state.flying) then return { 'duplicate', removed } end
  if now < state.pausedUntil then return { 'backingOff', removed, state.pausedUntil - now } end
  -- Without a worker nothing takes pushes out: those past their deadline must not fill the queue.
  for other = #waiting >= tonumber(limit) and #waiting or 0, 1, -1 do
    if waiting[other].deadline <= now then remove(other) end
  end
  if #waiting >= tonumber(limit) then return { 'queueFull' } end
  table.insert(waiting, place or #waiting + 1, mine)
  redis.call('HSET', KEYS[2], mine.uuid, submission)
  return { 'queued', removed }
end

-- A cancel arrives: it never reaches the builder, but removes the push that waits and guards against late ones.
-- Returns the submission removed, or ''.
function steps.cancel(guard)
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now)
  redis.call('ZADD', KEYS[5], now + guard, mine.seq)
  redis.call('PEXPIRE', KEYS[5], guard * 2)
  local place = placeOf(mine.uuid)
  if not place or (waiting[place].seq > mine.seq and waiting[place].block >= mine.block) then return '' end
  return remove(place)
end

-- Takes the next waiting push and puts it in flight, if none is.
-- Returns { 'fenced' }, { 'empty' }, { 'busy', until }, or { 'late' | 'expired' | 'send', submission }.
function steps.take(fence)
  if redis.call('GET', KEYS[3]) ~= fence then return { 'fenced' } end
  if state.flying and now < state.flying.deadline then return { 'busy', state.flying.deadline } end
  local push = waiting[1]
  state.flying = nil
  if not push then return { 'empty' } end
  local submission = remove(1)
  if push.deadline <= now then return { 'late', submission } end
  if push.expiry < now then return { 'expired', submission } end
  state.flying = push
  return { 'send', submission }
end

-- The request in flight is over. A failure pauses the endpoint, for as long as the builder asked (or ''), and skips what
-- waits. Returns { pause in ms, submissions skipped... }; the pause is 0 unless the outcome is 'failed'.
function steps.settle(outcome, result, resultKept, asked, shortest, longest)
  if state.flying and state.flying.id == mine.id then state.flying = nil end
  if outcome == 'accepted' then redis.call('SET', KEYS[6], result, 'PX', resultKept) end
  state.failures = outcome == 'failed' and state.failures + 1 or 0
  local pause = tonumber(asked) or shortest * 2 ^ (state.failures - 1)
  pause = outcome == 'failed' and math.floor(math.max(shortest, math.min(longest, pause))) or 0
  state.pausedUntil = pause > 0 and now + pause or 0
  local reply = { pause }
  while pause > 0 and #waiting > 0 do table.insert(reply, remove(1)) end
  return reply
end

local reply = steps[ARGV[1]](unpack(ARGV, 4))
redis.call('SET', KEYS[1], cjson.encode(state))
return reply
