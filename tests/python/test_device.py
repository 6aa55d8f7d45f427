"""What does the runs: a library of our own stands in for the driver's (tests/gpu/stub_cuda.cc)."""

import os
import subprocess
import sys

import pytest

FOLDER = os.environ.get("PLACKETT_STUB_CUDA_FOLDER", "")

pytestmark = pytest.mark.skipif(
    not os.path.exists(os.path.join(FOLDER, "libcuda.so.1")), reason="the stub is not built"
)

PROGRAM = """
import sys, plackett
device = sys.argv[1]
data = plackett.load("synthetic")
try:
    result = plackett.simulate(data, "pdgd", runs=2, impressions=50, threads=1, device=device)
except plackett.Error as error:
    print("error:", error)
else:
    print("offline:", result.offline.mean)
"""


def printed(device, wrong=""):
    """What the program prints in a process of its own, which opens the library anew."""
    environment = {**os.environ, "LD_LIBRARY_PATH": FOLDER, "PLACKETT_STUB_CUDA": wrong}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, device],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def on_cpu():
    line = printed("cpu")
    assert line.startswith("offline: 0.")
    return line


def test_a_gpu_gives_the_processors_results(on_cpu):
    line = printed("gpu")
    if "it computes as processors with AVX2 do" in line:
        pytest.skip(line)
    assert line == on_cpu
    assert printed("auto") == on_cpu


def test_a_gpu_that_cannot_be_used_is_an_error_and_auto_takes_threads(on_cpu):
    for wrong, why in [
        ("no-device", "no usable GPU: the driver sees no device"),
        ("old-card", "Stub GPU has compute capability 7.5; expected at least 8.0"),
        ("no-memory", "Stub GPU: no room for "),
    ]:
        line = printed("gpu", wrong)
        if "it computes as processors with AVX2 do" in line:
            pytest.skip(line)
        assert line.startswith("error: ")
        assert why in line
        assert printed("auto", wrong) == on_cpu
