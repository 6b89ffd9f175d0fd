-- The request in flight is over.
-- KEYS: 1 push in flight, 2 result of this bundle if accepted, 3 pause of the endpoint, 4 order of waiting uuids,
--       5 waiting pushes by uuid
-- ARGV: 1 id of the push, 2 now, 3 outcome ('accepted', 'rejected' or 'failed'), 4 result, 5 time to keep it, ms,
--       6 pause that the builder asked for, ms, or '', 7 shortest pause, 8 longest pause, ms
-- A pause is stored as "until|failures in a row". Pushes that wait when it begins are skipped.
-- Returns { pause in ms, payloads of the pushes skipped... }; the pause is 0 unless the outcome is 'failed'.
local flying = redis.call('GET', KEYS[1])
if flying and string.match(flying, '^(.-)|') == ARGV[1] then redis.call('DEL', KEYS[1]) end

if ARGV[3] == 'accepted' then redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5]) end
if ARGV[3] ~= 'failed' then
  redis.call('DEL', KEYS[3])
  return { 0 }
end

local shortest, longest = tonumber(ARGV[7]), tonumber(ARGV[8])
local failures = tonumber(string.match(redis.call('GET', KEYS[3]) or '0|0', '|(%d+)$')) + 1
local pause = tonumber(ARGV[6]) or shortest * 2 ^ math.min(failures - 1, 20)
pause = math.floor(math.max(shortest, math.min(longest, pause)))
redis.call('SET', KEYS[3], string.format('%.0f|%d', tonumber(ARGV[2]) + pause, failures), 'PX', pause + longest)

local skipped = { pause }
for _, waiting in ipairs(redis.call('HVALS', KEYS[5])) do
  table.insert(skipped, (string.match(waiting, '^.-|.-|.-|.-|.-|(.*)$')))
end
redis.call('DEL', KEYS[4], KEYS[5])
return skipped
