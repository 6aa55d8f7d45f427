"""Runs: results, threads, progress, Ctrl-C, the GIL."""

import sys
import threading
import time

import numpy as np
import pytest

import plackett
from interrupted import interrupt, run_script

LONG = 2_000_000_000  # impressions that no test waits for


def test_the_result_is_whole(data):
    result = plackett.simulate(data, "pdgd", runs=3, impressions=200, click_model="navigational")
    assert result.method == "pdgd" and result.ranker_kind == "linear"
    assert result.click_model == "navigational" and result.dataset == "synthetic"
    assert result.curve.impression[-1] == 200
    assert result.runs.offline.shape == (3, len(result.curve.impression))
    assert np.allclose(result.runs.offline.mean(axis=0), result.curve.offline_mean)
    assert np.allclose(result.runs.online.std(axis=0, ddof=1), result.curve.online_std)
    assert result.offline.mean == result.curve.offline_mean[-1]
    assert result.runs.fold.tolist() == [0, 1, 2] and len(result.runs) == 3
    assert result.learner.impressions == 200
    assert result.ranker.scaling == "query-minmax"


def test_a_final_curve_is_the_end_of_the_whole_one(data):
    spec = {"runs": 3, "impressions": 200, "metrics": ["MAP"]}
    whole = plackett.simulate(data, **spec)
    final = plackett.simulate(data, **spec, curve="final")
    assert final.curve.impression.tolist() == [200]
    assert final.offline == whole.offline and final.online == whole.online
    for name in ("offline", "online"):
        assert np.array_equal(getattr(final.runs, name), getattr(whole.runs, name)[:, -1:])
    assert np.array_equal(final.runs.metrics["MAP"], whole.runs.metrics["MAP"][:, -1:])
    assert np.array_equal(final.ranker.parameters, whole.ranker.parameters)
    assert "<img" in whole._repr_html_() and "<img" not in final._repr_html_()


def test_threads_dont_matter(data):
    results = [
        plackett.simulate(data, "mgd", runs=4, impressions=150, threads=threads)
        for threads in (1, 2, 0)
    ]
    for result in results[1:]:
        assert np.array_equal(result.runs.offline, results[0].runs.offline)
    other = plackett.simulate(data, "mgd", runs=4, impressions=150, seed=2)
    assert not np.array_equal(other.runs.offline, results[0].runs.offline)


def test_settings_are_keywords_or_part_of_the_method(data):
    spec = {"runs": 1, "impressions": 150}
    by_keyword = plackett.simulate(data, "mgd", candidates=4, learning_rate=0.02, **spec)
    by_name = plackett.simulate(data, "mgd:candidates=4:learning-rate=0.02", **spec)
    assert np.array_equal(by_keyword.ranker.parameters, by_name.ranker.parameters)
    plain = plackett.simulate(data, "mgd", **spec)
    assert not np.array_equal(by_keyword.ranker.parameters, plain.ranker.parameters)


def test_arrays_are_simulated_as_loaded_data_is(data, fold):
    """The same rows, from NumPy's memory: the same bits."""
    parts = {
        name: (split.features.copy(), split.labels, split.query_begin)
        for name, split in {"train": fold.train, "test": fold.test}.items()
    }
    mine = plackett.Dataset.from_arrays(**parts, name="synthetic")
    spec = {"runs": 1, "impressions": 200, "seed": 5}
    ours, theirs = plackett.simulate(mine, **spec), plackett.simulate(data, **spec)
    assert np.array_equal(ours.ranker.parameters, theirs.ranker.parameters)
    assert np.array_equal(ours.runs.offline, theirs.runs.offline)


def test_to_dataframe(data):
    pandas = pytest.importorskip("pandas")
    result = plackett.simulate(data, runs=1, impressions=100)
    frame = result.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["impression"].iloc[-1] == 100
    assert list(frame["offline_mean"]) == result.curve.offline_mean.tolist()


def test_a_click_model_may_be_a_file(data, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('kind = "cascade"\nname = "mine"\nclick = [0, 0, 0, 0, 1]\nstop = [0, 0, 0, 0, 0]\n')
    spec = {"runs": 2, "impressions": 50}
    for where in (file, str(file)):
        result = plackett.simulate(data, "pdgd", click_model=where, **spec)
        assert result.click_model == "mine"
        assert plackett.compare(data, ["pdgd"], where, **spec).cells[0].offline == result.offline


def test_to_dataframe_without_pandas_says_so(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas"):
        plackett.simulate(data, runs=1, impressions=100).to_dataframe()


@pytest.mark.parametrize(
    "arguments, error, said",
    [
        ({"method": "none"}, ValueError, "none"),
        ({"ranker": "cubic"}, ValueError, "cubic"),
        ({"click_model": "angry"}, ValueError, "angry"),
        ({"runs": 0}, ValueError, "runs: 0; expected an integer from 1 to 1000000"),
        ({"runs": "3"}, TypeError, "runs: '3'"),
        ({"impressions": 0}, ValueError, "impressions: 0"),
        ({"impressions": 1.5}, TypeError, "impressions: 1.5"),
        ({"seed": -1}, ValueError, "seed: -1"),
        ({"threads": -1}, ValueError, "threads: -1"),
        ({"shown": 0}, ValueError, "shown: 0"),
        ({"protocol": "mine"}, ValueError, "mine"),
        ({"no_relevant": "maybe"}, ValueError, "maybe"),
        ({"curve": "half"}, ValueError, 'curve: "half"; expected whole or final'),
        ({"impresions": 5}, TypeError, 'unknown keyword "impresions"; did you mean impressions'),
        ({"progress": 3}, TypeError, "progress: 3"),
        ({"ranker": "linear", "hidden": (128, 64)}, ValueError, r"hidden: \(128, 64\); a linear ranker has none"),
        ({"ranker": "linear", "activation": "relu"}, ValueError, "activation: relu; a linear ranker has none"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, said, data):
    with pytest.raises(error, match=said):
        plackett.simulate(data, **{"runs": 1, "impressions": 2000, **arguments})


def test_a_run_that_diverges_is_reported():
    raw = plackett.load("synthetic", scaling="none")
    with pytest.raises(ValueError, match="not finite after .* a smaller learning rate"):
        plackett.simulate(raw, "pdgd", runs=1, impressions=2000, learning_rate=1e30)


def test_other_data_is_refused():
    with pytest.raises(TypeError, match="data: int"):
        plackett.simulate(3)
    with pytest.raises(FileNotFoundError):
        plackett.simulate("no/such/folder")


def test_progress_is_reported(data):
    told = []
    plackett.simulate(
        data,
        runs=2,
        impressions=60_000,
        threads=1,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[-1] == (120_000, 120_000)
    assert all(total == 120_000 for _, total in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) > 1


def test_an_exception_in_progress_stops_the_run(data):
    def fail(done, total):
        raise LookupError("enough")

    before = threading.active_count(), thread_count()
    start = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        plackett.simulate(data, runs=4, impressions=LONG, progress=fail)
    assert time.monotonic() - start < 10
    assert (threading.active_count(), thread_count()) == before


def thread_count():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))


def test_true_is_quiet_off_a_terminal(data, capfd):
    plackett.simulate(data, runs=1, impressions=1000, progress=True)
    assert capfd.readouterr().err == ""


def test_true_is_a_line_on_a_terminal(data, monkeypatch):
    import io

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    plackett.simulate(data, runs=1, impressions=1000, progress=True)
    assert "100.0% of 1000 impressions" in terminal.getvalue()
    assert terminal.getvalue().count("\n") == 1


def test_the_gil_is_free(data):
    """Another thread counts while a run works. Were the GIL held, it would count nothing between
    the run's start and its end; so that this can fail, the same is done with the GIL held."""
    counted, going = [0], threading.Event()

    def count():
        while not going.is_set():
            counted[0] += 1
            time.sleep(0.001)

    def counted_while(work):
        going.clear()
        thread = threading.Thread(target=count)
        thread.start()
        time.sleep(0.05)
        before = counted[0]
        work()
        after = counted[0]
        going.set()
        thread.join()
        return after - before

    class Enough(Exception):
        pass

    def stop_later(done, total):
        if time.monotonic() > deadline:
            raise Enough

    def run():
        with pytest.raises(Enough):
            plackett.simulate(data, runs=2, impressions=LONG, progress=stop_later)

    deadline = time.monotonic() + 0.6
    assert counted_while(run) > 20
    big = np.random.default_rng(1).random((400_000, 42)).astype(np.float32)
    ranker = plackett.Ranker("neural", features=42, hidden=[256])
    assert counted_while(lambda: ranker.score(big)) < 20  # one call that holds it


INTERRUPTED = """
    import sys, threading, time
    import plackett

    data = plackett.load("synthetic")
    print("ready", flush=True)
    try:
        {call}
    except KeyboardInterrupt:
        with open("/proc/self/status") as status:
            threads = next(line.split()[1] for line in status if line.startswith("Threads:"))
        print("interrupted", threads, flush=True)
        again = plackett.simulate(data, runs=1, impressions=100)
        print("again", len(again.runs), flush=True)
        sys.exit(3)
    print("not interrupted")
"""


@pytest.mark.parametrize(
    "call",
    [
        f"plackett.simulate(data, runs=3, impressions={LONG}, threads=2)",
        f"plackett.simulate(data, 'mgd', ranker='neural', runs=3, impressions={LONG})",
        f"plackett.compare(data, ['pdgd', 'dbgd'], ['perfect'], runs=2, impressions={LONG})",
    ],
)
def test_ctrl_c_stops_a_run_at_once(call):
    stopped = interrupt(INTERRUPTED.format(call=call), after_s=0.7)
    assert stopped.said[:1] == ["interrupted"], stopped.errors
    assert stopped.took < 2  # 0.05 s and a few impressions on a machine at rest
    assert stopped.said[1] == "1"  # nothing left running
    assert stopped.rest == ["again", "1"] and stopped.code == 3


def test_a_program_may_end_while_a_thread_of_it_simulates():
    script = f"""
        import threading, time
        import plackett
        data = plackett.load("synthetic")
        work = lambda: plackett.simulate(data, runs=2, impressions={LONG})
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
        print("end", flush=True)
    """
    process = run_script(script)
    out, errors = process.communicate(timeout=60)
    assert (out, process.returncode) == ("end\n", 0), errors


def test_two_threads_may_simulate_at_once(data):
    results = {}

    def run(seed):
        results[seed] = plackett.simulate(data, runs=2, impressions=3000, seed=seed)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (1, 2):
        alone = plackett.simulate(data, runs=2, impressions=3000, seed=seed)
        assert np.array_equal(results[seed].runs.offline, alone.runs.offline)
