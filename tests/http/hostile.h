// What the tests with hostile clients have in common.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "http/service.h"

namespace plackett::testing {

// An answer that is well, or an error as errors are.
MATCHER(IsProper, "") {
  if (arg.status < 400) return arg.status >= 200;
  return arg.status < 600 && arg.status != 500 && arg.type() == "application/json" &&
         faults_of(arg, "Error").empty() && arg.json()["error"]["status"] == arg.status;
}

// A server with the model "shop" that has to be well after every test.
class HostileTest : public ::testing::Test {
 protected:
  explicit HostileTest(std::vector<std::string> arguments = {}) : server(std::move(arguments)) {
    EXPECT_THAT(server.client().put("/models/shop", shop()), HasStatus(201));
  }

  void TearDown() override { expect_well(); }

  void expect_well() {
    ASSERT_TRUE(server.runs()) << server.error_output();
    // The connections that a test dropped count until the server has met their ends.
    EXPECT_TRUE(eventually([this] { return is_healthy(); })) << server.error_output();
    const Answer ranked = server.client().post("/models/shop/rank", {{"items", items(4)}});
    EXPECT_THAT(ranked, HasStatus(200));
  }

  [[nodiscard]] bool is_healthy() const {
    try {
      return server.client().get("/health").status == 200;
    } catch (const NoAnswer&) {
      return false;
    }
  }

  // What the server says to these bytes, on a connection of their own.
  Answer answer_to(const std::string& bytes) {
    Connection connection(server.port());
    connection.send(bytes);
    return connection.read_answer();
  }

  // As answer_to(), for bytes that may have no end: the client says that no more will come.
  Answer answer_to_all(const std::string& bytes) {
    Connection connection(server.port());
    connection.send(bytes);
    connection.finish_sending();
    return connection.read_answer();
  }

  Answer rank_raw(const std::string& body) {
    return answer_to(request_bytes("POST", "/models/shop/rank", body));
  }

  // How many files and sockets the server has open.
  [[nodiscard]] std::ptrdiff_t open_files() const {
    namespace fs = std::filesystem;
    const fs::path folder = "/proc/" + std::to_string(server.process()) + "/fd";
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  }

  Server server;
};

}  // namespace plackett::testing
