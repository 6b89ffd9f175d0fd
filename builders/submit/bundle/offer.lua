-- A live push arrives for a bundle builder.
-- KEYS: 1 order of waiting uuids (sorted set), 2 waiting pushes by uuid (hash), 3 push in flight, 4 pause of the endpoint,
--       5 newest push seen of the uuid, 6 cancels of the uuid (sorted set: sequence by end of guard),
--       7 result of this bundle if it was accepted, 8 counter of places
-- ARGV: 1 now, 2 uuid, 3 order ("block|seq", 20 digits each), 4 sequence number (20 digits), 5 digest,
--       6 expiry, 7 deadline, 8 most pushes that wait, 9 time to keep the newest push, 10 payload
-- Times are Unix milliseconds. A waiting push is stored as "order|digest|expiry|deadline|payload".
-- Returns { verdict, payload of the older push removed or '', detail }.
local now, uuid, mine, digest = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[5]

for _, seq in ipairs(redis.call('ZRANGEBYSCORE', KEYS[6], '(' .. ARGV[1], '+inf')) do
  if ARGV[4] <= seq then return { 'older', '', '' } end
end

local accepted = redis.call('GET', KEYS[7])
local newest = redis.call('GET', KEYS[5])
if newest and mine < newest then
  if accepted then return { 'accepted', '', accepted } end
  return { 'older', '', '' }
end

local waiting = redis.call('HGET', KEYS[2], uuid)
if waiting and string.sub(waiting, 1, 41) == mine then return { 'duplicate', '', '' } end
redis.call('SET', KEYS[5], mine, 'PX', ARGV[9])

local removed, place = '', false
if waiting then
  removed = string.match(waiting, '^.-|.-|.-|.-|.-|(.*)$')
  place = redis.call('ZSCORE', KEYS[1], uuid)
  redis.call('ZREM', KEYS[1], uuid)
  redis.call('HDEL', KEYS[2], uuid)
end

if accepted then return { 'accepted', removed, accepted } end
if tonumber(ARGV[6]) < now then return { 'expired', removed, '' } end

-- In flight: "id|uuid|order|digest|until".
local flying = redis.call('GET', KEYS[3])
if flying then
  local flyingUuid, block, seq, flyingDigest, flyingUntil = string.match(flying, '^.-|(.-)|(.-)|(.-)|(.-)|(.*)$')
  local copy = flyingDigest == digest or (flyingUuid == uuid and block .. '|' .. seq == mine)
  if copy and now < tonumber(flyingUntil) then return { 'duplicate', removed, '' } end
end

local pause = redis.call('GET', KEYS[4])
if pause then
  local left = tonumber(string.match(pause, '^(%d+)|')) - now
  if left > 0 then return { 'pausing', removed, tostring(left) } end
end

if not place and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[8]) then
  -- Without a worker nothing takes pushes out: those past their deadline must not fill the queue.
  local all = redis.call('HGETALL', KEYS[2])
  for i = 1, #all, 2 do
    if tonumber(string.match(all[i + 1], '^.-|.-|.-|.-|(.-)|')) <= now then
      redis.call('HDEL', KEYS[2], all[i])
      redis.call('ZREM', KEYS[1], all[i])
    end
  end
  if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[8]) then return { 'full', '', '' } end
end

redis.call('ZADD', KEYS[1], place or redis.call('INCR', KEYS[8]), uuid)
redis.call('HSET', KEYS[2], uuid, table.concat({ mine, digest, ARGV[6], ARGV[7], ARGV[10] }, '|'))
return { 'queued', removed, '' }
