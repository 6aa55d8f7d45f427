-- wrk's side of bench/serve/load for requests that are all alike: GET /health, say.
wrong = 0
local threads = {}
function setup(thread) table.insert(threads, thread) end
function response(status) if status ~= 200 then wrong = wrong + 1 end end
function done(summary, latency)
  local sum = 0
  for _, thread in ipairs(threads) do sum = sum + thread:get("wrong") end
  io.write(string.format(
    'RESULT {"seconds": %.6f, "requests": %d, "wrong": %d, "p50_ms": %.3f, "p90_ms": %.3f, ' ..
    '"p99_ms": %.3f, "max_ms": %.3f}\n', summary.duration / 1e6, summary.requests, sum,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3))
end
