// The command and the driver's library: what is said where a GPU can't be used, and that auto then
// takes threads. A library of our own stands in for the driver's (stub_cuda.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/kernels.h"
#include "support/run_command.h"

namespace plackett::gpu {
namespace {

using plackett::testing::CommandResult;
using plackett::testing::run_command;
using plackett::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

// Without a GPU's arithmetic it is not asked for one.
class Driver : public ::testing::Test {
 protected:
  void SetUp() override {
    const bool fuses = kernels().name == "avx2" || kernels().name == "avx512";
    if (!fuses) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  }

  // With the library in that folder.
  static CommandResult simulate(const std::string& device, const std::string& folder,
                                const std::string& wrong = "",
                                const std::string& more = " --method pdgd") {
    return run_command("simulate --runs 2 --impressions 50 --threads 1 --device " + device + more,
                       "", "LD_LIBRARY_PATH='" + folder + "' PLACKETT_STUB_CUDA=" + wrong);
  }

  // What --device gpu says; --device auto does the runs on threads and says the same.
  static std::string refusal(const std::string& folder, const std::string& wrong = "") {
    const CommandResult gpu = simulate("gpu", folder, wrong);
    EXPECT_NE(gpu.exit_code, 0) << gpu.out;
    const std::string head = "plackett: ";
    EXPECT_THAT(gpu.err, ::testing::StartsWith(head));
    const std::string why = gpu.err.substr(head.size(), gpu.err.find('\n') - head.size());
    const CommandResult automatic = simulate("auto", folder, wrong);
    EXPECT_EQ(automatic.exit_code, 0) << automatic.err;
    EXPECT_THAT(automatic.out, HasSubstr("done by 1 thread (" + why + ")"));
    return why;
  }
};

TEST_F(Driver, DoesRunsThroughItsLibraryWithTheProcessorsResults) {
  const std::string cpu = simulate("cpu", PLACKETT_STUB_CUDA_FOLDER, "", " --json").out;
  const auto curve = [](const std::string& json) {
    return json.substr(json.find("\"curve\""),
                       json.find("\"impressions_per_second\"") - json.find("\"curve\""));
  };
  ASSERT_THAT(curve(cpu), HasSubstr("offline_mean"));
  for (const char* method :
       {"pdgd", "pairwise", "dbgd", "mgd", "pdgd:neural", "pdgd:linear+neural"}) {
    SCOPED_TRACE(method);
    const std::string more = std::string(" --json --method ") + method;
    const CommandResult gpu = simulate("gpu", PLACKETT_STUB_CUDA_FOLDER, "", more);
    EXPECT_EQ(gpu.exit_code, 0) << gpu.err;
    EXPECT_EQ(curve(gpu.out), curve(simulate("cpu", PLACKETT_STUB_CUDA_FOLDER, "", more).out));
  }
  EXPECT_THAT(simulate("gpu", PLACKETT_STUB_CUDA_FOLDER).out, HasSubstr("done by Stub GPU\n"));
  EXPECT_THAT(simulate("auto", PLACKETT_STUB_CUDA_FOLDER).out,
              HasSubstr("done by Stub GPU and 1 thread\n"));
}

TEST_F(Driver, ComparesOnSeveralDatasetsAsThreadsDo) {
  const TemporaryFolder folder;
  const auto compare = [&folder](const std::string& device, const std::string& datasets,
                                 const std::string& results) {
    return run_command("compare --data " + datasets +
                           " --methods pdgd,pdgd:neural --click-models perfect --runs 2 "
                           "--impressions 20 --threads 1 --device " +
                           device + " --out " + folder / results,
                       "", "LD_LIBRARY_PATH='" PLACKETT_STUB_CUDA_FOLDER "'");
  };
  const auto tables = [](const CommandResult& result) {
    return result.out.substr(0, result.out.find(" impressions in "));
  };
  const std::string three = "synthetic:mq2008,synthetic:mq2007,synthetic";
  const CommandResult gpu = compare("gpu", three, "gpu");
  EXPECT_EQ(gpu.exit_code, 0) << gpu.err;
  EXPECT_EQ(tables(gpu), tables(compare("cpu", three, "cpu")));
  const CommandResult missing = compare("gpu", "synthetic:mq2008,/nowhere,synthetic", "missing");
  EXPECT_NE(missing.exit_code, 0);
  EXPECT_THAT(missing.err, HasSubstr("/nowhere"));
}

TEST_F(Driver, IsAskedForAQueuePerThreadUnlessTheUserAsksForOthers) {
  const auto device = [](const std::string& environment) {
    return run_command("simulate --runs 1 --impressions 20 --method pdgd --device gpu", "",
                       "LD_LIBRARY_PATH='" PLACKETT_STUB_CUDA_FOLDER
                       "' PLACKETT_STUB_CUDA=queues " +
                           environment)
        .out;
  };
  EXPECT_THAT(device(""), HasSubstr("done by Stub GPU, queues: 32\n"));
  EXPECT_THAT(device("CUDA_DEVICE_MAX_CONNECTIONS=4"), HasSubstr("done by Stub GPU, queues: 4\n"));
}

// Where there are pools, the driver need not wait for what runs.
TEST_F(Driver, TakesMemoryFromPoolsWhereThereAreSome) {
  const CommandResult result = simulate("gpu", PLACKETT_STUB_CUDA_FOLDER, "pools");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Driver, SaysThatItsLibraryCannotBeUsed) {
  const TemporaryFolder broken;
  std::ofstream(broken / "libcuda.so.1") << "not a library";
  EXPECT_THAT(
      refusal(broken.path()),
      ::testing::AllOf(HasSubstr("no usable GPU: libcuda.so.1 can't be loaded: "),
                       HasSubstr("libcuda.so.1: file too short"), Not(HasSubstr("missing"))));
  EXPECT_EQ(refusal(PLACKETT_STUB_CUDA_FOLDER "/old"),
            "no usable GPU: libcuda.so.1 has no cuGetErrorString; its driver is too old");
}

TEST_F(Driver, SaysThatThereIsNoCard) {
  EXPECT_EQ(refusal(PLACKETT_STUB_CUDA_FOLDER, "no-device"),
            "no usable GPU: the driver sees no device");
  EXPECT_EQ(refusal(PLACKETT_STUB_CUDA_FOLDER, "no-devices"),
            "no usable GPU: the driver sees no device");
}

TEST_F(Driver, SaysWhyACardCannotBeUsed) {
  EXPECT_EQ(refusal(PLACKETT_STUB_CUDA_FOLDER, "old-card"),
            "no usable GPU: Stub GPU has compute capability 7.5; expected at least 8.0");
  EXPECT_EQ(refusal(PLACKETT_STUB_CUDA_FOLDER, "no-compiler"),
            "no usable GPU: Stub GPU, driver for CUDA 12.4, can't compile the kernels: "
            "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (a text) ptxas: line 3: no");
}

TEST_F(Driver, SaysInADryRunWhatItWouldRefuse) {
  const TemporaryFolder folder;
  const auto planned = [&folder](const std::string& device, const std::string& wrong) {
    return run_command(
               "compare --data synthetic --methods pdgd,coltr --click-models perfect "
               "--runs 1 --impressions 20 --threads 1 --dry-run --device " +
                   device + " --out " + folder / "a",
               "", "LD_LIBRARY_PATH='" PLACKETT_STUB_CUDA_FOLDER "' PLACKETT_STUB_CUDA=" + wrong)
        .out;
  };
  const std::string refused =
      "a GPU would refuse\n  COLTR (linear) under perfect: no device does method coltr, only "
      "pdgd, pairwise, dbgd and mgd; device cpu or auto does\n\n2 runs left, ";
  const std::string missing = "no usable GPU: the driver sees no device";
  EXPECT_THAT(planned("gpu", ""), ::testing::AllOf(HasSubstr(refused), Not(HasSubstr(missing))));
  EXPECT_THAT(planned("gpu", "no-device"),
              ::testing::AllOf(HasSubstr(refused), HasSubstr(missing)));
  for (const char* device : {"cpu", "auto"}) {
    EXPECT_THAT(planned(device, "no-device"),
                ::testing::AllOf(Not(HasSubstr("refuse")), Not(HasSubstr(missing))));
  }
}

TEST_F(Driver, SaysThatMemoryOrALaunchFailed) {
  EXPECT_THAT(refusal(PLACKETT_STUB_CUDA_FOLDER, "no-memory"),
              ::testing::MatchesRegex("Stub GPU: no room for [0-9]+ bytes more"));
  EXPECT_EQ(refusal(PLACKETT_STUB_CUDA_FOLDER, "no-launch"),
            "Stub GPU: cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED (a text)");
}

}  // namespace
}  // namespace plackett::gpu
