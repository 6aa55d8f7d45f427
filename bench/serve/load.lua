-- wrk's side of bench/serve/load: ranks, and a tenth as many feedbacks about what was shown.
--   wrk ... -s load.lua URL -- PATH_OF_THE_RANK_BODY MODEL [PAUSE_MS]
-- Each answer is looked at: a ranking must name an impression, a feedback must be accepted twice
-- (the click and the close). PAUSE_MS: each connection rests about so long after each answer.

ranks, feedbacks, wrong, refused = 0, 0, 0, 0
dofile("shown.lua")
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  local body = file:read("*a")
  file:close()
  rank_request = wrk.format("POST", "/models/" .. args[2] .. "/rank",
    {["Content-Type"] = "application/json"}, body)
  feedback_path = "/models/" .. args[2] .. "/feedback"
  pause = tonumber(args[3] or "0")
  if pause == 0 then delay = nil end
  math.randomseed(1)
end

local sent = 0

function request()
  sent = sent + 1
  local feedback = sent % 11 == 0 and next_feedback()
  if not feedback then return rank_request end
  return wrk.format("POST", feedback_path, {["Content-Type"] = "application/json"}, feedback)
end

function delay()
  return math.random() * 2 * pause
end

local function note_wrong(status, body)
  wrong = wrong + 1
  if status == 429 then refused = refused + 1 end  -- part of wrong
  if wrong == 1 then io.stderr:write("wrong answer: ", status, " ", string.sub(body, 1, 300), "\n") end
end

function response(status, headers, body)
  if status ~= 200 then
    note_wrong(status, body)
  elseif is_ranking(body) then
    ranks = ranks + 1
  elseif is_feedback(body) then
    feedbacks = feedbacks + 1
  else
    note_wrong(status, body)
  end
end

function done(summary, latency, requests)
  local sums = {ranks = 0, feedbacks = 0, wrong = 0, refused = 0}
  for _, thread in ipairs(threads) do
    for name in pairs(sums) do sums[name] = sums[name] + thread:get(name) end
  end
  io.write(string.format(
    'RESULT {"seconds": %.6f, "requests": %d, "ranks": %d, "feedbacks": %d, "wrong": %d, ' ..
    '"refused": %d, "socket_errors": %d, "p50_ms": %.3f, "p90_ms": %.3f, "p99_ms": %.3f, "max_ms": %.3f}\n',
    summary.duration / 1e6, summary.requests, sums.ranks, sums.feedbacks, sums.wrong, sums.refused,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3))
end
