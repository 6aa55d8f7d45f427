// A service on a failing disk, and a check of what it promised.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "fault_vfs.h"
#include "serving/service.h"
#include "store_check.h"
#include "support/run_command.h"
#include "traffic.h"

namespace plackett::testing {

class FailingDisk : public ::testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    auto opened = open_service({.path = db(), .vfs = vfs_.name()}, 10);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    service_ = std::move(opened).value();
    make_models(*service_);
    story_.models = {"linear", "network"};
  }
  [[nodiscard]] std::string db() const { return folder_ / "store.db"; }

  Story traffic(const std::string& name, std::uint32_t steps = 60) {
    TrafficOptions options;
    options.seed = std::hash<std::string>{}(name);
    options.name = name;
    options.steps = steps;
    return run_traffic(*service_, options);
  }

  // What is missing in an image of the disk.
  Findings on_a_disk(FaultVfs::Holds holds, bool refused_are_none, std::uint64_t seed = 0) {
    const TemporaryFolder image;
    vfs_.write_image(image.path(), holds, seed);
    const FaultVfs reading;
    return check_store({.db = image / "store.db",
                        .vfs = reading.name(),
                        .ranks_survive = true,
                        .refused_are_none = refused_are_none},
                       story_);
  }
  Findings reopened(bool refused_are_none) {
    service_.reset();
    return check_store({.db = db(),
                        .vfs = vfs_.name(),
                        .ranks_survive = true,
                        .refused_are_none = refused_are_none},
                       story_);
  }

  FaultVfs vfs_;
  TemporaryFolder folder_;
  std::unique_ptr<serving::Service> service_;
  Story story_;
};

inline void expect_unavailable(const Story& story) {
  for (const Error& refused : story.refusals) {
    EXPECT_EQ(refused.code, ErrorCode::kUnavailable) << refused.message;
    EXPECT_FALSE(refused.message.empty());
  }
}

}  // namespace plackett::testing
