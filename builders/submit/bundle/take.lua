-- Takes the next waiting push and puts it in flight, if none is.
-- KEYS: 1 lease of the endpoint, 2 order of waiting uuids, 3 waiting pushes by uuid, 4 push in flight
-- ARGV: 1 fencing token, 2 now
-- Returns { 'fenced' }, { 'empty' }, { 'busy', until }, or { 'late' | 'expired' | 'send', payload }.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'fenced' } end
local now = tonumber(ARGV[2])

local flying = redis.call('GET', KEYS[4])
if flying then
  local busyUntil = string.match(flying, '([^|]*)$')
  if now < tonumber(busyUntil) then return { 'busy', busyUntil } end
  redis.call('DEL', KEYS[4])
end

local popped = redis.call('ZPOPMIN', KEYS[2])
if #popped == 0 then return { 'empty' } end
local uuid = popped[1]
local waiting = redis.call('HGET', KEYS[3], uuid)
redis.call('HDEL', KEYS[3], uuid)

local block, seq, digest, expiry, deadline, payload = string.match(waiting, '^(.-)|(.-)|(.-)|(.-)|(.-)|(.*)$')
if tonumber(deadline) <= now then return { 'late', payload } end
if tonumber(expiry) < now then return { 'expired', payload } end
local id = string.match(payload, '"id":"([^"]*)"')
redis.call('SET', KEYS[4], table.concat({ id, uuid, block, seq, digest, deadline }, '|'))
return { 'send', payload }
