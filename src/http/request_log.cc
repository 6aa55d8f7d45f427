#include "http/request_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <mutex>

#include "base/file.h"
#include "http/json_writer.h"

namespace plackett::http {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxPathBytes = 512;
constexpr std::chrono::seconds kFlushEvery{1};
// A reader that takes nothing for so long when the server stops loses the rest.
constexpr std::chrono::milliseconds kPatienceAtEnd{500};
constexpr int kPollMs = 50;

struct LogFile {
  Descriptor descriptor;
  bool regular = true;  // of others, such as a pipe, the reader may be slow

  static Result<LogFile> open(const std::filesystem::path& path) {
    LogFile file;
    // Not to wait for the reader of a pipe.
    constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK;
    file.descriptor = Descriptor(path == "-" ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                             : ::open(path.c_str(), kFlags, 0640));
    if (!file.descriptor.valid()) return system_error(path, "can't open", errno);
    struct stat status {};
    if (::fstat(file.descriptor.get(), &status) != 0) {
      return system_error(path, "can't open", errno);
    }
    file.regular = S_ISREG(status.st_mode);
    return file;
  }
};

// Collects lines and writes them together; the log's own thread calls it.
class LinesSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  LinesSink(LogFile file, std::function<void(const std::string&)> complain)
      : file_(std::move(file)), complain_(std::move(complain)) {}

  void use(LogFile file) {
    const std::lock_guard lock(mutex_);
    write_out();
    file_ = std::move(file);
  }
  void begin_end() { ending_ = true; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    buffer_.append(message.payload.data(), message.payload.size());
    buffer_ += '\n';
    if (buffer_.size() >= kBufferBytes) write_out();
  }
  void flush_() override { write_out(); }

 private:
  void write_out() {
    std::string_view left = buffer_;
    int error = 0;
    while (error == 0 && !left.empty()) error = write_some(left);
    // Of a line that was cut the first part stays; the next one starts on a line of its own.
    const bool torn = error != 0 && left.size() < buffer_.size();
    if (error != 0) {
      lost_ += static_cast<std::uint64_t>(std::count(left.begin(), left.end(), '\n'));
      if (complain_ && !complained_)
        complain_(fmt::format("request log: {}", std::strerror(error)));
    }
    complained_ = error != 0;
    buffer_.assign(torn ? 1 : 0, '\n');
  }

  // Writes a part of the text and removes it. An errno if that fails.
  int write_some(std::string_view& text) {
    std::size_t bytes = text.size();
    if (!file_.regular) {
      // So much a pipe takes without waiting once it is ready.
      bytes = std::min<std::size_t>(bytes, PIPE_BUF);
      if (const int error = wait_until_ready(); error != 0) return error;
    }
    const ssize_t written = ::write(file_.descriptor.get(), text.data(), bytes);
    if (written < 0) return errno == EINTR || errno == EAGAIN ? 0 : errno;
    text.remove_prefix(static_cast<std::size_t>(written));
    return 0;
  }

  int wait_until_ready() {
    std::chrono::milliseconds waited{0};
    while (!ending_ || waited < kPatienceAtEnd) {
      pollfd ready{file_.descriptor.get(), POLLOUT, 0};
      const int count = ::poll(&ready, 1, kPollMs);
      if (count > 0) return (ready.revents & POLLOUT) != 0 ? 0 : EPIPE;
      if (count < 0 && errno != EINTR) return errno;
      if (ending_) waited += std::chrono::milliseconds(kPollMs);
    }
    return ETIMEDOUT;
  }

  LogFile file_;
  std::function<void(const std::string&)> complain_;
  std::string buffer_;
  bool complained_ = false;  // since the last success
  std::atomic<bool> ending_{false};
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace

struct RequestLog::Parts {
  Options options;
  std::shared_ptr<LinesSink> sink;
  std::shared_ptr<spdlog::details::thread_pool> thread;
  std::shared_ptr<spdlog::async_logger> logger;
  std::atomic<std::uint64_t> unwritten{0};  // lines for which there was no memory
};

RequestLog::RequestLog(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<RequestLog>> RequestLog::open(const Options& options) {
  auto file = LogFile::open(options.path);
  if (!file) return file.error();
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  parts->sink = std::make_shared<LinesSink>(std::move(file).value(), options.complain);
  parts->thread = std::make_shared<spdlog::details::thread_pool>(options.queue_lines, 1);
  static std::atomic<unsigned> opened{0};
  parts->logger = std::make_shared<spdlog::async_logger>(
      fmt::format("requests-{}", ++opened), parts->sink, parts->thread,
      spdlog::async_overflow_policy::overrun_oldest);
  parts->logger->set_error_handler(
      [unwritten = &parts->unwritten](const std::string& /*why*/) { ++*unwritten; });
  spdlog::register_logger(parts->logger);
  spdlog::flush_every(kFlushEvery);
  return std::unique_ptr<RequestLog>(new RequestLog(std::move(parts)));
}

RequestLog::~RequestLog() {
  parts_->sink->begin_end();
  spdlog::drop(parts_->logger->name());
  parts_->logger->flush();
  parts_->logger.reset();
  parts_->thread.reset();  // ends when the queue is empty
}

void RequestLog::add(const RequestRecord& record, std::string& line) noexcept {
  try {
    line.clear();
    write_record(record, line);
    parts_->logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  } catch (const std::exception&) {
    ++parts_->unwritten;
  }
}

Result<void> RequestLog::reopen() {
  if (parts_->options.path == "-") return {};
  auto file = LogFile::open(parts_->options.path);
  if (!file) return file.error();
  parts_->sink->use(std::move(file).value());
  return {};
}

std::uint64_t RequestLog::lost() const {
  return parts_->unwritten + parts_->sink->lost() + parts_->thread->overrun_counter();
}

std::string_view path_of(std::string_view target) {
  if (!target.starts_with('/')) {
    const std::size_t scheme = target.find("://");
    const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
    const std::size_t path = target.find_first_of("/?", host);
    target = path == std::string_view::npos ? std::string_view() : target.substr(path);
  }
  target = target.substr(0, std::min(target.find('?'), kMaxPathBytes));
  for (const std::string_view before : {"/units/", "/impressions/"}) {
    const std::size_t at = target.find(before);
    if (at != std::string_view::npos) target = target.substr(0, at + before.size());
  }
  // Routes match decoded parts: what is behind the third may be a unit, unless that part says
  // otherwise in plain letters.
  std::size_t end = 0;
  for (int part = 0; part < 3 && end != std::string_view::npos; ++part) {
    end = target.find('/', end + 1);
  }
  if (end == std::string_view::npos) return target;
  const std::string_view parts = target.substr(0, end);
  const bool is_plain = parts.ends_with("/items") || parts.ends_with("/experiments");
  return is_plain ? target : target.substr(0, end + 1);
}

namespace {

// "1970-01-01T00:00:00.000000Z". Most times are of the second of the one before.
std::string_view written_time(std::chrono::system_clock::time_point at) {
  constexpr std::int64_t kSecond = 1'000'000;
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch());
  thread_local std::int64_t second = -1;
  thread_local std::string text;
  if (second != since.count() / kSecond) {
    second = since.count() / kSecond;
    text =
        fmt::format("{:%Y-%m-%dT%H:%M:%S}.000000Z", fmt::gmtime(static_cast<std::time_t>(second)));
  }
  auto digits = since.count() % kSecond;
  for (std::size_t place = text.size() - 2; text[place] != '.'; --place, digits /= 10) {
    text[place] = static_cast<char>('0' + digits % 10);
  }
  return text;
}

}  // namespace

void write_record(const RequestRecord& record, std::string& line) {
  JsonWriter json(line);
  json.object("time", written_time(record.at), "method", record.method, "route",
              null_if_empty(record.route), "path", null_if_empty(record.path), "status",
              record.status, "us", record.microseconds, "bytes_in", record.bytes_in, "bytes_out",
              record.bytes_out, "remote", null_if_empty(record.remote), "model",
              null_if_empty(record.model), "role", record.role);
}

}  // namespace plackett::http
