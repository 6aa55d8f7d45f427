// What another policy would have been worth, estimated from a served model's own log.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "plackett/off_policy.h"
#include "serving/logged_lists.h"
#include "serving/service.h"

namespace plackett::serving {

struct WhatIfRequest {
  // "snapshot:3", "current", "logged", each with @TEMPERATURE or without.
  std::vector<std::string> policies{};
  std::uint64_t lists = 0;  // at most the newest so many; 0: all
  OffPolicyOptions options{};
};

struct WhatIfAnswer {
  OffPolicyReport report{};
  LeftOut left_out{};
  std::string refused{};  // why the log allows no estimate, and there is no report
};

// One evaluation at a time, on a thread of its own with its own reader of the store: ranking and
// writing never wait for it. Calls may come from any thread.
class WhatIfThread {
 public:
  using Clock = std::function<std::int64_t()>;  // ms since 1970
  WhatIfThread(StoredLists::OpenReader open_reader, Clock clock);
  WhatIfThread(const WhatIfThread&) = delete;
  WhatIfThread& operator=(const WhatIfThread&) = delete;
  ~WhatIfThread() { stop(); }

  // Fails at once with ErrorCode::kUnavailable while another evaluation runs, and after stop().
  void ask(const ModelHandle& model, WhatIfRequest request, Done<WhatIfAnswer> done);
  // Ends the evaluation that runs, which answers with ErrorCode::kStopped. Blocks until then.
  void stop();

 private:
  struct Job {
    ModelHandle model;
    WhatIfRequest request;
    Done<WhatIfAnswer> done;
  };
  void run();
  Result<WhatIfAnswer> evaluate(const Job& job);

  StoredLists::OpenReader open_reader_;
  Clock clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Job> waiting_;
  bool busy_ = false;  // until the job has answered
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace plackett::serving
