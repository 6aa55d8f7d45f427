"""Whatever is passed, a Python exception is raised and the interpreter continues. Runs in its own
process, so that a crash is one failed test and not the end of all of them."""

import os
import subprocess
import sys
import textwrap

SWEEP = """
    import itertools, sys
    import numpy as np
    import plackett

    data = plackett.load("synthetic")
    fold = data.folds[0]
    query = fold.train[0]
    learner = plackett.PDGD(features=fold)
    impression = learner.rank(query)
    odd = [
        None, True, -1, 0, 1, 3, 2**31, 2**32, 2**63, 2**64, 1.5, float("nan"), float("inf"), 1j,
        "", "pdgd", "perfect", "\\ud800", b"bytes", [], [[]], [0], [1, 0], [[1.0]], [None], ["a"], {},
        {"a": 1}, (), (1, 2, 3), set(), object(), int, len, range(3), np.zeros(0), np.zeros((0, 42)),
        np.zeros((3, 0)), np.zeros((2, 42)), np.zeros((2, 42), dtype=np.float32)[::-1, ::-1],
        np.zeros((2, 42), order="F"), np.full((2, 42), np.nan), np.zeros((2, 42, 1)),
        np.zeros((2, 42), dtype=complex), np.zeros((2, 42), dtype=object), np.array(5),
        np.array(["x"]), np.zeros(3, dtype="datetime64[s]"), np.zeros(3, dtype=[("a", int)]),
        np.broadcast_to(np.float32(1), (2, 42)), np.arange(10), np.arange(10)[::-2],
        np.array([2**63], dtype=np.uint64), data, fold, fold.train, query, learner,
        learner.ranker, impression, plackett.stream(1), plackett.ClickModel("perfect"),
    ]
    allowed = (plackett.Error, TypeError, ValueError, IndexError, OverflowError, KeyError,
               AttributeError, OSError, MemoryError)
    calls, refused = 0, 0

    def attempt(function, *arguments, **keywords):
        global calls, refused
        calls += 1
        try:
            function(*arguments, **keywords)
        except allowed:
            refused += 1

    user = plackett.ClickModel("perfect")
    mgd = plackett.MGD(features=fold, candidates=2)
    one = [
        plackett.load, plackett.stream, plackett.ClickModel, plackett.Learner.load,
        plackett.Ranker.load, learner.rank, mgd.rank, learner.ranker.score, learner.ranker.rank,
        fold.train.__getitem__, lambda value: plackett.sample_ranking(value, seed=1),
        lambda value: plackett.Ranker(features=value),
        lambda value: plackett.Ranker(value, features=3),
        lambda value: plackett.Ranker("neural", features=3, hidden=value),
        lambda value: plackett.Learner(value, features=3),
        lambda value: plackett.PDGD(value, features=3),
        lambda value: plackett.PDGD(features=3, learning_rate=value),
        lambda value: plackett.PDGD(features=3, shown=value),
        lambda value: plackett.PDGD(features=3, seed=value),
        lambda value: plackett.PDGD(features=3, protocol=value),
        lambda value: setattr(plackett.Ranker(features=3), "parameters", value),
        lambda value: setattr(plackett.Ranker(features=3), "feature_ids", value),
        lambda value: setattr(plackett.Ranker(features=3), "scaling", value),
        lambda value: plackett.Dataset.from_arrays(train=value, test=value),
        lambda value: plackett.Dataset.from_arrays(
            train=(np.zeros((2, 3)), [0, 1], value), test=(np.zeros((2, 3)), [0, 1], [0, 2])),
        lambda value: plackett.Dataset.from_arrays(folds=value),
        lambda value: plackett.Dataset.from_arrays(folds=[value]),
        lambda value: plackett.Dataset.from_arrays(folds=[{"train": value, "test": value}]),
        lambda value: plackett.load("synthetic", name=value),
        lambda value: plackett.compare(data, ["pdgd"], ["perfect"], runs=1, impressions=5, labels=value),
        lambda value: plackett.compare(
            data, ["pdgd"], ["perfect"], runs=1, impressions=5, baselines=value),
        lambda value: plackett.compare(
            data, ["pdgd"], ["perfect"], runs=1, impressions=5, fresh=value),
        lambda value: plackett.ClickModel("perfect", grades=value),
        lambda value: plackett.ClickModel("position-based", eta=value),
        lambda value: plackett.stream(1).below(value),
        lambda value: plackett.simulate(data, value, runs=1, impressions=5),
        lambda value: plackett.simulate(value, runs=1, impressions=5),
        lambda value: plackett.simulate(data, runs=1, impressions=5, shown=value),
        lambda value: plackett.simulate(data, runs=1, impressions=5, click_model=value),
        lambda value: plackett.simulate(data, runs=1, impressions=5, seed=value),
        lambda value: plackett.simulate(data, runs=1, impressions=5, epsilon=value),
        lambda value: plackett.simulate(
            data, runs=1, impressions=5, progress=value if value is not int else None),
        lambda value: plackett.compare(data, value, ["perfect"], runs=1, impressions=5),
        lambda value: plackett.compare(value, ["pdgd"], ["perfect"], runs=1, impressions=5),
    ]
    two = [
        lambda first, second: user.click(first, second, seed=1), user.probability, plackett.log_probability, plackett.ndcg, plackett.metrics,
        plackett.evaluate, learner.learn, mgd.learn, learner.ranker.rank,
        lambda first, second: plackett.sample_ranking(first, second, seed=1),
        lambda first, second: plackett.sample_ranking([0, 1], seed=first, rng=second),
        lambda first, second: user.click(impression, query, seed=first, rng=second),
        lambda first, second: learner.ranker.step(first, second, 0.1),
        lambda first, second: learner.ranker.step(query, first, second),
        lambda first, second: plackett.document_weights([0.0, 1.0], first, second),
        lambda first, second: plackett.document_weights(first, second, [1]),
        lambda first, second: plackett.pairs(first, [0], second),
        lambda first, second: plackett.document_weights(first, impression, second),
        lambda first, second: impression.document_weights(first),
        lambda first, second: user.click(impression, first, seed=second),
        lambda first, second: user.click([0], first, rng=second),
    ]
    for function in one:
        for value in odd:
            attempt(function, value)
    for function in two:
        for first, second in itertools.product(odd, odd):
            attempt(function, first, second)
    again, state = impression.__reduce__()
    for place in range(len(state)):
        for value in odd:
            attempt(again, *state[:place], value, *state[place + 1:])
    for cls in ("Learner", "Ranker", "ClickModel", "Rng", "Impression", "Query", "Split", "Fold",
                "Dataset", "PDGD"):
        attempt(getattr(plackett, cls))
        try:
            made = getattr(plackett, cls).__new__(getattr(plackett, cls))
        except TypeError:
            continue
        attempt(repr, made)
        for name in dir(made):
            attempt(getattr, made, name)
            if not name.startswith("__"):
                attempt(getattr(type(made), name), made)
        for value in odd[:40]:
            attempt(getattr(made, "__setstate__", len), value)
            attempt(getattr(made, "__setstate__", len), (value,))
            attempt(getattr(made, "__setstate__", len), (value,) * 6)
    print(calls, refused)
"""


def test_odd_arguments_give_exceptions(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SWEEP)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    calls, refused = map(int, done.stdout.split())
    assert calls > 40_000 and refused > calls / 2
