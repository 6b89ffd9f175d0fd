-- Ends the request in flight. A failure pauses the endpoint and skips all waiting pushes. The pause is what the builder
-- asked for; otherwise it doubles with each failure in a row.
-- KEYS: 1 state, 2 waiting pushes by uuid (hash), 6 result of this bundle if it was accepted, 7 last failure settled
-- ARGV: 1 now, 2 push as JSON, 3 outcome, 4 result, 5 time to keep it, 6 pause asked for or '', 7 shortest and 8 longest
--       pause, 9 name of this call: a connection that lost its answer repeats it; times in ms
-- Returns { pause in ms, pushes skipped... }; the pause is 0 unless the outcome is 'failed'.
local settled = cjson.decode(redis.call('GET', KEYS[7]) or '{}')
if settled.call == ARGV[9] then return { settled.pause, unpack(settled.skipped) } end
local state = cjson.decode(redis.call('GET', KEYS[1]) or '{}')
local outcome, shortest, longest = ARGV[3], tonumber(ARGV[7]), tonumber(ARGV[8])
if state.flying and state.flying.id == cjson.decode(ARGV[2]).id then state.flying = nil end
if outcome == 'accepted' then redis.call('SET', KEYS[6], ARGV[4], 'PX', ARGV[5]) end
local pause, skipped = 0, {}
if outcome == 'failed' then
  state.failures = (state.failures or 0) + 1
  local wanted = tonumber(ARGV[6]) or shortest * 2 ^ (state.failures - 1)
  pause = math.floor(math.max(shortest, math.min(longest, wanted)))
  state.pausedUntil = tonumber(ARGV[1]) + pause
  skipped = redis.call('HVALS', KEYS[2])
  redis.call('DEL', KEYS[2])
  redis.call('SET', KEYS[7], cjson.encode({ call = ARGV[9], pause = pause, skipped = skipped }), 'PX', ARGV[5])
else
  state.failures, state.pausedUntil = 0, 0
end
redis.call('SET', KEYS[1], cjson.encode(state))
return { pause, unpack(skipped) }
