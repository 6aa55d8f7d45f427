"""Objects that misreport themselves, wrong pickle states, arrays that hide values: a plackett error, and
never a crash. What could crash runs in its own process."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import plackett
from interrupted import interrupt


def in_a_process(script, timeout=120):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


def test_wrong_states_are_refused():
    """Every part of a state replaced by every odd value, in a learner and in a ranker; afterwards
    the object reports that it is half made."""
    done = in_a_process(
        """
        import plackett
        odd = [None, 1, -1, 2**80, 1.5, "x", "\\ud800", b"", b"PLKMODEL", [], [1], [None], [(1, 2)],
               [("a",)], [("steps", 3)], [["steps", "adagrad"]], [("a", "b", "c")], {}, {1: 2}, (),
               object(), int]
        for made in (plackett.PDGD(features=3), plackett.Ranker(features=3)):
            state = made.__getstate__()
            for place in range(len(state)):
                for value in odd:
                    wrong = state[:place] + (value,) + state[place + 1:]
                    new = type(made).__new__(type(made))
                    try:
                        new.__setstate__(wrong)
                    except plackett.Error:
                        try:
                            repr(new)
                        except TypeError as error:
                            assert "__new__ alone" in str(error)
                        else:
                            raise AssertionError((place, value))
                    except (TypeError, AttributeError):  # attributes of a class without them
                        assert place == len(state) - 1, (place, value)
            for wrong in (None, 3, [], (), state[:-1], state + (1,), "state"):
                try:
                    type(made).__new__(type(made)).__setstate__(wrong)
                except TypeError:
                    pass
                except plackett.Error:
                    pass
                else:
                    raise AssertionError(wrong)
        print("end")
        """
    )
    assert (done.stdout, done.returncode) == ("end\n", 0), done.stderr[-2000:]


def test_no_protocol_of_pickle_ends_the_process():
    done = in_a_process(
        """
        import pickle
        import numpy as np
        import plackett

        data = plackett.load("synthetic")
        learner = plackett.PDGD(features=3)
        made = [learner, learner.ranker, learner.rank(np.eye(3)), plackett.ClickModel("perfect"),
                plackett.stream(1), data, data.folds[0], data.folds[0].train, data.folds[0].train[0],
                plackett.compare(data, ["pdgd"], ["perfect"], runs=1, impressions=5)]
        pickled = {}
        for one in made:
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                try:
                    again = pickle.loads(pickle.dumps(one, protocol))
                except TypeError:
                    continue
                assert repr(again) == repr(one)
                pickled[type(one).__name__] = pickled.get(type(one).__name__, 0) + 1
        print(pickled)
        for bare in {one for cls in map(type, made) for one in cls.__mro__ if "pybind11" in str(one)}:
            for make in (bare, lambda: bare.__new__(bare)):
                try:
                    make()
                except TypeError as error:
                    print(error)
        """
    )
    counts, *said = done.stdout.splitlines()
    assert counts == "{'PDGD': 4, 'Ranker': 4, 'Impression': 6, 'ClickModel': 4}", done.stderr[-2000:]
    assert len(said) == 2 and all("can't be constructed" in line for line in said)
    assert done.returncode == 0


class Lying(np.ndarray):
    """An array whose conversions give something else."""

    def astype(self, *arguments, **keywords):
        return np.zeros(1, dtype=np.int8)

    def __array_function__(self, function, types, arguments, keywords):
        return (np.zeros(1), np.full(4, 10**6))

    def __len__(self):
        return 10**6


def test_methods_of_an_ndarray_subclass_are_not_called(rows):
    ranker = plackett.Ranker(features=5)
    ranker.parameters = np.arange(5)
    for dtype in (np.float64, np.int32, np.float32):
        plain = (10 * rows).astype(dtype)
        assert np.array_equal(ranker.score(plain.view(Lying)), ranker.score(plain))
    plain = np.asfortranarray(rows)
    assert np.array_equal(ranker.score(plain.view(Lying)), ranker.score(plain))
    assert isinstance(plackett.PDGD(features=5).rank(rows.view(Lying)).features, np.ndarray)


def test_array_functions_of_a_qid_are_not_called():
    done = in_a_process(
        """
        import numpy as np, plackett

        class Lying(np.ndarray):
            def __array_function__(self, function, types, arguments, keywords):
                return (np.zeros(1), np.full(4, 10**9))

        features = np.eye(4, dtype=np.float32)
        for qid in ([7, 7, 8, 8], ["a", "a", "b", "b"]):
            part = {"features": features, "labels": [1, 0, 0, 2], "qid": np.array(qid).view(Lying)}
            data = plackett.Dataset.from_arrays(train=part, test=part)
            print(data.folds[0].train.query_begin.tolist())
        """
    )
    assert done.returncode == 0 and done.stdout == "[0, 2, 4]\n" * 2, done.stderr[-2000:]


@pytest.mark.parametrize(
    "qid, error, said",
    [
        ([], ValueError, "0 qids for 4 documents"),
        ([[7, 7], [8, 8]], ValueError, "qid: shape .*one dimension"),
        (7, ValueError, "qid: shape"),
        ([1, None, 2, 2], TypeError, "train: qid: .*can be ordered"),
        ([1, "a", object(), 2], TypeError, "train: qid: .*can be ordered"),
        (np.ma.array([7, 7, 8, 8], mask=[0, 1, 0, 0]), TypeError, "qid: a masked array; fill it"),
    ],
)
def test_wrong_qids_are_refused(qid, error, said):
    right = {"features": np.eye(4, dtype=np.float32), "labels": [1, 0, 0, 2], "qid": [7, 7, 8, 8]}
    with pytest.raises(error, match=said) as caught:
        plackett.Dataset.from_arrays(train={**right, "qid": qid}, test=right)
    assert isinstance(caught.value, plackett.Error)


def test_no_documents_and_no_third_entry_are_refused():
    right = (np.eye(2, dtype=np.float32), [1, 0], [0, 2])
    for third in ([], np.zeros(0), np.zeros(0, dtype=int)):
        for first in (np.zeros((0, 2)), np.eye(2)):
            labels = [0] * len(first)
            with pytest.raises(plackett.Error):
                plackett.Dataset.from_arrays(train=(first, labels, third), test=right)


def test_masked_arrays_are_refused_everywhere(rows):
    masked = np.ma.masked_less(rows, 0.5)
    numbers = np.ma.array([1, 0, 0], mask=[0, 1, 0])
    user = plackett.ClickModel("perfect")
    learner = plackett.PDGD(features=5, shown=3)
    impression = learner.rank(rows)
    calls = {
        "features": lambda: learner.rank(masked),
        "weights": lambda: learner.ranker.step(rows[:3], numbers, 0.1),
        "clicks": lambda: learner.learn(impression, numbers),
        "labels": lambda: user.click([0, 1, 2], numbers, seed=1),
        "ranking": lambda: plackett.ndcg(numbers, [1, 0, 0]),
        "scores": lambda: plackett.sample_ranking(numbers, seed=1),
    }
    for name, call in calls.items():
        with pytest.raises(plackett.BadType, match=f"{name}: a masked array; fill it first"):
            call()
    assert learner.rank(masked.filled(0)).number == 1  # the refused one doesn't count


class Interrupting:
    def __index__(self):
        raise KeyboardInterrupt

    __float__ = __index__
    __array__ = __index__
    __fspath__ = __index__
    __len__ = __index__
    __getitem__ = __index__


@pytest.mark.parametrize(
    "call",
    [
        lambda: plackett.PDGD(features=3, learning_rate=Interrupting()),
        lambda: plackett.PDGD(features=3, seed=Interrupting()),
        lambda: plackett.ClickModel("perfect", eta=Interrupting()),
        lambda: plackett.Ranker(features=3).score(Interrupting()),
        lambda: plackett.Ranker("neural", features=3, hidden=Interrupting()),
        lambda: plackett.Ranker.load(Interrupting()),
        lambda: plackett.stream(1, impression=Interrupting()),
    ],
)
def test_ctrl_c_is_never_swallowed(call):
    with pytest.raises(KeyboardInterrupt):
        call()


def test_values_without_a_repr_are_refused():
    class Mute:
        def __repr__(self):
            raise LookupError

    class Odd:
        def __repr__(self):
            return "\ud800"

    for value in (Mute(), Odd()):
        with pytest.raises(plackett.BadType, match="seed: "):
            plackett.PDGD(features=3, seed=value)


@pytest.mark.parametrize(
    "call, error, said",
    [
        (lambda data: plackett.PDGD(features=3).learn(None, [1]), TypeError, "impression: None; expected the plackett.Impression"),
        (lambda data: plackett.load("synthetic", scaling=5), TypeError, "scaling: 5; expected a str"),
        (
            lambda data: plackett.load("synthetic", keep_constant_features="x"),
            TypeError,
            "keep_constant_features: 'x'; expected True or False",
        ),
        (
            lambda data: plackett.load("synthetic", verify_cache=None),
            TypeError,
            "verify_cache: None; expected True or False",
        ),
        (lambda data: plackett.compare(data, ["pdgd"], title=5), TypeError, "title: 5; expected a str"),
        (lambda data: plackett.compare(5), TypeError, "data: 5; expected a plackett.Dataset"),
        (lambda data: plackett.compare(data, 5), TypeError, "methods: 5; expected a str"),
        (lambda data: plackett.compare(data, "pdgd", 5), TypeError, "click_models: 5; expected a str"),
        (lambda data: plackett.compare(data, ["\ud800"]), ValueError, "methods: .*not valid Unicode"),
        (
            lambda data: plackett.compare(data, ["pdgd"], ["\ud800"]),
            ValueError,
            "click_models: .*not valid Unicode",
        ),
        (
            lambda data: plackett.compare(data, ["pdgd"], title="\ud800"),
            ValueError,
            "title: .*not valid Unicode",
        ),
        (lambda data: plackett.simulate(data, learning_rate=-1), ValueError, "learning_rate -1;"),
        (
            lambda data: plackett.simulate(data, learning_rat=1),
            TypeError,
            'unknown keyword "learning_rat"; did you mean learning_rate\\?.* known are .*learning_rate, pairs',
        ),
        (lambda data: plackett.PDGD(features=3, learning_rate=True), TypeError, "learning_rate: T"),
        (
            lambda data: plackett.PDGD(42),
            TypeError,
            r"ranker: 42; expected a kind \(linear, .*\) or a plackett.Ranker; features= takes the number",
        ),
        (lambda data: plackett.PDGD(data.folds[0]), TypeError, "ranker: <plackett.Fold .* features= ta"),
        (
            lambda data: plackett.PDGD(features=data.folds[0].train),
            TypeError,
            "features: <plackett.Split.*; expected the number of features .* or a plackett.Fold",
        ),
        (
            lambda data: plackett.PDGD(features=np.zeros((4, 3))),
            TypeError,
            r"features: array\(\[\[0., 0., 0.\], \[0., .*; expected the number of features .* or a plackett.Fold",
        ),
        (lambda data: plackett.Ranker.load("/tmp"), ValueError, "path: /tmp: not a regular file"),
        (lambda data: plackett.PDGD.load("/tmp"), ValueError, "path: /tmp: not a regular file"),
        (
            lambda data: plackett.Ranker(features=3).save("/tmp"),
            ValueError,
            "path: /tmp: can't ",
        ),
        (
            lambda data: plackett.PDGD(features=3).save("/tmp"),
            ValueError,
            "path: /tmp: can't ",
        ),
        (
            lambda data: plackett.simulate(data, click_model="missing.toml"),
            FileNotFoundError,
            "missing.toml: .*No such file",
        ),
        (
            lambda data: plackett.compare(data, "pdgd", ["missing.toml"]),
            FileNotFoundError,
            "missing.toml: .*No such file",
        ),
        (
            lambda data: plackett.simulate(data, click_model=3),
            TypeError,
            "click_model: 3; expected a str or a path",
        ),
    ],
)
def test_errors_name_argument_value_and_rule(call, error, said, data):
    with pytest.raises(error, match=said) as caught:
        call(data)
    assert isinstance(caught.value, plackett.Error)


def test_from_arrays_names_its_name():
    part = (np.eye(2, dtype=np.float32), [1, 0], [7, 7])
    with pytest.raises(plackett.BadType, match="name: None; expected a str"):
        plackett.Dataset.from_arrays(train=part, test=part, name=None)


def test_settings_may_be_arrays_of_no_dimension():
    for value in (np.array(0.25), np.float32(0.25), np.array(1), np.int8(1)):
        assert plackett.PDGD(features=3, learning_rate=value).learning_rate == value
    with pytest.raises(plackett.BadType, match=r"learning_rate: array\(\[0.1, 0.2\]\); expected a number or a str"):
        plackett.PDGD(features=3, learning_rate=np.array([0.1, 0.2]))


def test_the_message_for_a_tensor_with_a_gradient_helps():
    torch = pytest.importorskip("torch")
    scores = torch.zeros(3, requires_grad=True)
    with pytest.raises(plackett.BadType, match="scores: Tensor is not an array: .*detach"):
        plackett.sample_ranking(scores, seed=1)


def test_settings_may_be_tensors():
    torch = pytest.importorskip("torch")
    assert plackett.PDGD(features=3, learning_rate=torch.tensor(0.25)).learning_rate == 0.25
    assert plackett.MGD(features=3, candidates=torch.tensor(4)).method == "mgd"
    with pytest.raises(plackett.BadType, match=r"learning_rate: tensor\("):
        plackett.PDGD(features=3, learning_rate=torch.tensor([0.25, 1.0]))


@pytest.mark.parametrize("hidden", [np.array([4, 2]), (4, 2), [np.int64(4), 2], range(4, 1, -2)])
def test_hidden_layers_may_be_any_sequence(hidden):
    assert plackett.Ranker("neural", features=3, hidden=hidden).hidden == (4, 2)
    for one in (4, np.int8(4), np.array(4), np.array([4])):
        assert plackett.Ranker("neural", features=3, hidden=one).hidden == (4,)
    with pytest.raises(plackett.BadType, match="hidden: '42'; expected the units of each hidden layer"):
        plackett.Ranker("neural", features=3, hidden="42")


class Mine(plackett.PDGD):
    pass


class MyRanker(plackett.Ranker):
    pass


@pytest.mark.parametrize("make", [lambda: Mine(features=3), lambda: MyRanker(features=3)])
def test_attributes_of_a_subclass_are_copied(make):
    made = make()
    made.notes = ["first"]
    shallow, deep = copy.copy(made), copy.deepcopy(made)
    pickled = pickle.loads(pickle.dumps(made))
    for again in (shallow, deep, pickled):
        assert type(again) is type(made) and again.notes == ["first"]
        again.more = 1
    assert not hasattr(made, "more")
    assert shallow.notes is made.notes and deep.notes is not made.notes


def test_a_learners_memory_is_not_dropped(tmp_path):
    learner = plackett.PDGD("neural", features=3, steps="adagrad")
    for _ in range(5):
        learner.learn(learner.rank(np.eye(3)), [0, 1, 0])
    learner.save(tmp_path / "model.plk")
    for cls in (plackett.Learner, plackett.PDGD):
        with pytest.raises(plackett.BadValue, match="settings: the saved pdgd learner keeps .* would drop"):
            cls.load(tmp_path / "model.plk", steps="constant")
    again = plackett.PDGD.load(tmp_path / "model.plk")
    for one in (learner, again):
        one.learn(one.rank(np.eye(3)), [0, 1, 0])
    assert np.array_equal(learner.ranker.parameters, again.ranker.parameters)


def test_evaluate_names_the_document_whose_score_is_wrong(fold):
    test = fold.test
    at = next(number for number, query in enumerate(test) if number > 2 and query.labels.max() > 0)
    wrong = int(test.query_begin[at]) + 2
    whole = np.zeros(len(test.labels))
    whole[wrong] = np.nan
    begins = {query.features.tobytes(): int(test.query_begin[query.number]) for query in test}
    assert len(begins) == len(test)

    def score(rows):
        start = begins[rows.tobytes()]
        return whole[start : start + len(rows)]

    with pytest.raises(plackett.BadValue, match=f"scores: nan at document {wrong};"):
        plackett.evaluate(score, test)
    ranker = plackett.Ranker(features=fold)
    ranker.parameters = np.full(42, 3e38)
    with pytest.raises(plackett.BadValue, match=r"ranker: a score: -?(inf|nan) at document \d+"):
        plackett.evaluate(ranker, test)


LARGE = """
    import os, signal, sys, threading, time
    import numpy as np
    import plackett

    queries, documents, columns = 200, 1000, 40
    features = np.ones((queries * documents, columns), dtype=np.float32)
    part = (features, np.arange(queries * documents) % 3,
            np.arange(0, queries * documents + 1, documents))
    ranker = plackett.Ranker("neural", features=columns, hidden=[512, 512, 512])
"""


def test_ctrl_c_stops_an_evaluation_at_once():
    script = LARGE + """
    split = plackett.Dataset.from_arrays(train=part, test=part).folds[0].test
    print("ready", flush=True)
    try:
        plackett.evaluate(ranker, split)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        os._exit(3)
    print("not interrupted")
    """
    stopped = interrupt(script, after_s=0.5)
    assert stopped.said == ["interrupted"] and stopped.code == 3, stopped.errors
    assert stopped.took < 2  # 0.05 s and a query on a machine at rest


@pytest.mark.parametrize(
    "work",
    [
        "plackett.evaluate(ranker, split)",
        "plackett.Dataset.from_arrays(train=part, test=part)",
        'plackett.load("synthetic:mq2008")',
    ],
)
def test_a_program_may_end_while_a_thread_of_it_works(work):
    script = LARGE + f"""
    split = plackett.Dataset.from_arrays(train=part, test=part).folds[0].test
    def work():
        while True:
            {work}
    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)
    print("end", flush=True)
    """
    done = in_a_process(script)
    assert (done.stdout, done.returncode) == ("end\n", 0), done.stderr[-2000:]


def test_a_program_may_end_while_threads_of_it_copy_arrays():
    # Each end meets the threads elsewhere: within the engine, NumPy or a destructor.
    script = """
    import threading, time
    import numpy as np
    import plackett

    part = (np.ones((20_000, 40), dtype=np.float32), np.arange(20_000) % 3, np.arange(0, 20_001, 1_000))
    def work():
        while True:
            plackett.Dataset.from_arrays(train=part, test=part)
    for _ in range(8):
        threading.Thread(target=work, daemon=True).start()
    time.sleep({})
    """
    for program in range(12):
        done = in_a_process(script.format(0.01 * program))
        assert done.returncode == 0, done.stderr[-2000:]
