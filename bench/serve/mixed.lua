-- wrk's side of bench/serve/mixed: half ranks; feedback, reads, item writes and bad requests.
--   wrk ... -s mixed.lua URL -- PATH_OF_THE_RANK_BODY MODEL PATH_OF_THE_ITEMS_BODY

ranks, feedbacks, refused, failed, busy = 0, 0, 0, 0, 0
dofile("shown.lua")
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local body = file:read("*a")
  file:close()
  return body
end

function init(args)
  local model = "/models/" .. args[2]
  local json = {["Content-Type"] = "application/json"}
  feedback_path = model .. "/feedback"
  rank_request = wrk.format("POST", model .. "/rank", json, read_file(args[1]))
  items_request = wrk.format("PUT", model .. "/items", json, read_file(args[3]))
  reads = {}
  for _, path in ipairs({model, model .. "/stats?points=200", model .. "/impressions?limit=20",
      model .. "/weights", model .. "/snapshots", "/models", "/metrics", "/ready", "/"}) do
    reads[#reads + 1] = wrk.format("GET", path)
  end
  bad = {wrk.format("POST", model .. "/rank", json, '{"items": ['),
    wrk.format("POST", model .. "/rank", json, '{"items": ["unknown"]}'),
    wrk.format("GET", "/models/nobody"), wrk.format("POST", feedback_path, json, '[{"x": 1}]'),
    wrk.format("DELETE", "/health")}
  math.randomseed(1)
end

function request()
  local draw = math.random()
  if draw < 0.5 then return rank_request end
  local feedback = draw < 0.7 and next_feedback()
  if feedback then
    return wrk.format("POST", feedback_path, {["Content-Type"] = "application/json"}, feedback)
  end
  if draw < 0.85 then return reads[math.random(#reads)] end
  if draw < 0.95 then return items_request end
  return bad[math.random(#bad)]
end

function response(status, headers, body)
  if status >= 500 then
    failed = failed + 1
  elseif status == 429 then
    busy = busy + 1
  elseif status >= 400 then
    refused = refused + 1
  elseif is_ranking(body) then
    ranks = ranks + 1
  elseif is_feedback(body) then
    feedbacks = feedbacks + 1
  end
end

function done(summary, latency, requests)
  local sums = {ranks = 0, feedbacks = 0, refused = 0, failed = 0, busy = 0}
  for _, thread in ipairs(threads) do
    for name in pairs(sums) do sums[name] = sums[name] + thread:get(name) end
  end
  io.write(string.format(
    'RESULT {"seconds": %.6f, "requests": %d, "ranks": %d, "feedbacks": %d, "refused": %d, ' ..
    '"failed": %d, "busy": %d, "socket_errors": %d, "p50_ms": %.3f, "p90_ms": %.3f, ' ..
    '"p99_ms": %.3f, "max_ms": %.3f}\n',
    summary.duration / 1e6, summary.requests, sums.ranks, sums.feedbacks, sums.refused,
    sums.failed, sums.busy,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3))
end
