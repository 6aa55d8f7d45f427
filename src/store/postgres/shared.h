// What several processes over one PostgreSQL database need of each other: serving/shared_store.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "plackett/result.h"
#include "serving/shared_store.h"
#include "store/postgres/connection.h"

namespace plackett::store::postgres {

class Shared : public serving::SharedStore {
 public:
  // `tag`: application_name of all connections of this process, and of no other's.
  Shared(std::string url, std::string tag);
  ~Shared() override;

  Result<void> open();

  // From any thread: this process's number; 0 before it has joined.
  [[nodiscard]] std::int64_t node() const override { return node_; }
  // From any thread: whether a lead was had since the last call. Numbers of the log that were
  // reserved before may be lower than what another leader has used.
  bool led_again() { return led_again_.exchange(false); }

  Result<serving::ClusterView> beat(const std::string& name,
                                    const serving::NodeMeters& meters) override;
  Result<void> stay() override;
  Result<serving::ClusterView> look() override;
  Result<void> end_node(std::int64_t node) override;
  void leave() override;
  Result<std::unique_ptr<serving::StoreReader>> open_quick_reader() override;
  Result<std::unique_ptr<serving::StoreReader>> open_request_reader() override;
  Result<std::vector<serving::ClusterNote>> wait(std::chrono::milliseconds most) override;
  void wake() override;
  Result<void> tell(const std::vector<serving::ClusterNote>& notes) override;
  Result<std::optional<std::int64_t>> lead(std::int64_t model) override;
  Result<void> release(std::int64_t model) override;
  Result<void> ask_for_lead(std::int64_t model) override;
  Result<bool> publish(const serving::SnapshotRow& state, std::int64_t epoch) override;
  Result<std::optional<serving::SnapshotRow>> published(std::int64_t model,
                                                        std::uint64_t version) override;
  Result<std::vector<std::int64_t>> logged(const std::vector<std::int64_t>& impressions,
                                           std::int64_t log) override;
  Result<std::uint64_t> revision(std::int64_t model) override;
  Result<std::vector<ItemChange>> item_changes(std::int64_t model, std::int64_t after,
                                               std::uint32_t limit) override;

 private:
  void attach(Connection& connection);  // throws Failed
  bool beat_row(const serving::NodeMeters& meters);
  void join(const std::string& name);
  // Takes the numbers of a node that has ended. Its transactions fail from then on.
  void take_numbers(std::int64_t node);  // throws Failed
  void send_taking_numbers(std::int64_t node);
  Result<void> in_transaction(const std::function<void()>& work);
  void drain_wake();
  // Where this process is connected. From any thread.
  [[nodiscard]] Hosts host() const;

  const std::string url_;
  const std::string tag_;
  int wake_ = -1;  // an eventfd
  std::atomic<std::int64_t> node_{0};
  std::atomic<bool> led_again_{false};
  std::shared_ptr<Connection> connection_;
  std::int64_t space_ = 0;    // of the advisory locks
  std::int64_t session_ = 0;  // the server's process of the connection
  std::uint64_t connections_ = 0;
  mutable std::mutex host_mutex_;
  Hosts host_;                   // guarded
  std::set<std::int64_t> held_;  // models whose lock this connection holds
};

}  // namespace plackett::store::postgres
