#include "serving/what_if.h"

#include <exception>
#include <memory>
#include <utility>

#include "base/attempt.h"
#include "serving/logged_policy.h"
#include "serving/service_parts.h"

namespace plackett::serving {
namespace {

// Those that ask for the state of a served model get what it serves now: following the log would
// give the same, later.
std::unique_ptr<TargetPolicy> policy_of(const std::string& text, const Model& model,
                                        const LoggedModel& logged, StoreReader& store) {
  const PolicyName name = take(parse_policy_name(text));
  if (name.source != "current") return take(stored_policy(name, logged, store));
  return version_policy(name, *model.publication.latest(), logged.spec);
}

}  // namespace

WhatIfThread::WhatIfThread(StoredLists::OpenReader open_reader, Clock clock)
    : open_reader_(std::move(open_reader)), clock_(std::move(clock)), thread_([this] { run(); }) {}

void WhatIfThread::ask(const ModelHandle& model, WhatIfRequest request, Done<WhatIfAnswer> done) {
  const char* refused = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      refused = "the service is stopping";
    } else if (busy_) {
      refused = "another evaluation is running; there is one at a time";
    } else {
      busy_ = true;
      waiting_.emplace(Job{model, std::move(request), std::move(done)});
    }
  }
  if (refused != nullptr) return done(Error{ErrorCode::kUnavailable, refused});
  wake_.notify_one();
}

void WhatIfThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void WhatIfThread::run() {
  for (;;) {
    std::optional<Job> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || waiting_; });
      if (!waiting_) return;
      job.swap(waiting_);
    }
    Result<WhatIfAnswer> result = evaluate(*job);
    {
      // Before the answer, so that whoever gets it can ask again.
      const std::lock_guard lock(mutex_);
      busy_ = false;
    }
    job->done(std::move(result));
  }
}

Result<WhatIfAnswer> WhatIfThread::evaluate(const Job& job) {
  try {
    return attempt([&] {
      const auto store = take(open_reader_());
      const LoggedModel logged = take(logged_model(*store, job.model->spec.name));
      if (logged.row.id != job.model->id) throw Failed{model_removed()};
      std::vector<std::unique_ptr<TargetPolicy>> policies;
      std::vector<NamedPolicy> named;
      for (const std::string& text : job.request.policies) {
        auto policy = attempt([&] { return policy_of(text, *job.model, logged, *store); });
        if (!policy) {
          const Error& error = policy.error();
          throw Failed{{error.code, error.message, "policy"}};
        }
        policies.push_back(*std::move(policy));
        named.push_back({text, policies.back().get()});
      }
      const auto lists =
          take(StoredLists::open(open_reader_, logged, clock_(), {.newest = job.request.lists}));
      OffPolicyOptions options = job.request.options;
      options.threads = 1;
      options.stop = [this, asked = std::move(options.stop)] {
        return stopping_ || (asked && asked());
      };
      auto report = off_policy(*lists, named, options);
      // The options were checked: it is the log that does not allow an estimate.
      if (!report && report.error().code == ErrorCode::kInvalid) {
        return WhatIfAnswer{{}, lists->left_out(), report.error().message};
      }
      return WhatIfAnswer{take(std::move(report)), lists->left_out()};
    });
  } catch (const std::exception&) {
    return Error{ErrorCode::kUnavailable, "not enough memory for this evaluation"};
  }
}

void Service::what_if(const ModelHandle& model, WhatIfRequest request, Done<WhatIfAnswer> done) {
  parts_->what_if->ask(model, std::move(request), std::move(done));
}

}  // namespace plackett::serving
