"""Arrays as arguments and results."""

import gc
import weakref

import numpy as np
import pytest

import plackett


def ranker_of(columns):
    ranker = plackett.Ranker(features=columns)
    ranker.parameters = np.linspace(-1, 1, columns)
    return ranker


def strided(rows):
    wide = np.full((len(rows), rows.shape[1] + 3), np.nan, dtype=np.float32)
    wide[:, : rows.shape[1]] = rows
    return wide[:, : rows.shape[1]]


LAYOUTS = {
    "plain": lambda rows: rows,
    "rows with gaps": strided,
    "every second row": lambda rows: np.repeat(rows, 2, axis=0)[::2],
    "Fortran order": np.asfortranarray,
    "rows backwards in memory": lambda rows: rows[::-1].copy()[::-1],
    "columns backwards in memory": lambda rows: np.ascontiguousarray(rows[:, ::-1])[:, ::-1],
    "float64": lambda rows: rows.astype(np.float64),
    "big-endian": lambda rows: rows.astype(">f4"),
    "list of lists": lambda rows: rows.tolist(),
    "not aligned": lambda rows: np.frombuffer(
        b"x" + rows.tobytes(), dtype=np.float32, offset=1
    ).reshape(rows.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_scores(rows, layout):
    ranker = ranker_of(5)
    expected = ranker.score(rows)
    assert np.array_equal(ranker.score(LAYOUTS[layout](rows)), expected)
    assert not np.array_equal(ranker.score(rows[::-1].copy()), expected)  # the check can fail


def test_read_only_features_are_fine(rows):
    expected = ranker_of(5).score(rows)
    rows.flags.writeable = False
    assert np.array_equal(ranker_of(5).score(rows), expected)


def test_broadcast_rows_are_copied():
    rows = np.broadcast_to(np.arange(5, dtype=np.float32), (4, 5))
    assert np.ptp(ranker_of(5).score(rows)) == 0


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.float16, np.bool_])
def test_real_dtypes_are_converted(dtype):
    rows = np.array([[0, 1], [1, 0]]).astype(dtype)
    assert ranker_of(2).score(rows).tolist() == [1, -1]


@pytest.mark.parametrize("dtype", [np.complex64, object, "U3", "datetime64[s]"])
def test_other_dtypes_are_refused(dtype):
    rows = np.array([[0, 1], [1, 0]]).astype(dtype)
    with pytest.raises(TypeError, match="features: dtype .*; expected real numbers"):
        ranker_of(2).score(rows)


@pytest.mark.parametrize("shape", [(5,), (), (2, 5, 1)])
def test_other_dimensions_are_refused(shape):
    with pytest.raises(ValueError, match="features: shape .*two dimensions"):
        ranker_of(5).score(np.zeros(shape, dtype=np.float32))


@pytest.mark.parametrize("call", ["score", "rank"])
def test_other_numbers_of_columns_are_refused(call):
    with pytest.raises(ValueError, match="features: 4 columns; the ranker reads 5"):
        getattr(ranker_of(5), call)(np.zeros((2, 4), dtype=np.float32))
    with pytest.raises(ValueError, match="features: 4 columns; the ranker reads 5"):
        getattr(plackett.PDGD(features=5), "rank")(np.zeros((2, 4), dtype=np.float32))


def test_no_documents_are_refused():
    with pytest.raises(ValueError, match="features: 0 documents; expected at least 1"):
        ranker_of(5).score(np.zeros((0, 5), dtype=np.float32))


@pytest.mark.parametrize("what", [None, "text", 3, {}, [[1, 2], [3]], object()])
def test_other_objects_are_refused(what):
    with pytest.raises((TypeError, ValueError)):
        ranker_of(2).score(what)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_scores_that_are_not_finite_are_refused(value):
    rows = np.ones((3, 2))
    rows[1, 0] = value
    with np.errstate(all="ignore"):
        with pytest.raises(ValueError, match="score is .*finite"):
            ranker_of(2).rank(rows)
        learner = plackett.PDGD(ranker_of(2))
        with pytest.raises(ValueError, match="a document's score is not finite"):
            learner.rank(rows)
    assert learner.impressions == 0  # the failed one doesn't count


def test_a_splits_arrays_are_the_engines_memory(fold):
    train = fold.train
    assert train.features.shape == (len(train.labels), 42)
    assert train.features.dtype == np.float32 and train.labels.dtype == np.uint8
    assert int(train.query_begin[-1]) == len(train.labels)
    query = train[7]
    begin, end = int(train.query_begin[7]), int(train.query_begin[8])
    assert np.shares_memory(query.labels, train.labels)
    assert np.array_equal(query.features, train.features[begin:end])
    assert np.array_equal(query.labels, train.labels[begin:end])
    assert train.features.base is not None


@pytest.mark.parametrize("name", ["features", "labels", "query_begin"])
def test_a_splits_arrays_cant_be_written(fold, name):
    array = getattr(fold.train, name)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True


def test_a_querys_features_are_a_copy(fold):
    """Which PyTorch takes without a warning, and which may be changed."""
    query = fold.train[7]
    features = query.features
    features[:] = -1
    assert not np.shares_memory(features, fold.train.features)
    assert (query.features >= 0).all()
    narrow = np.zeros((4, 5), dtype=np.float32)[:, 1:4]  # rows further apart than they are long
    narrow[:] = np.arange(12).reshape(4, 3)
    part = (narrow, [0, 1, 0, 1], [1, 1, 2, 2])
    rows = plackett.Dataset.from_arrays(train=part, test=part).folds[0].train[1].features
    assert rows.tolist() == [[6, 7, 8], [9, 10, 11]]


def test_an_array_outlives_its_dataset():
    features = plackett.load("synthetic").folds[0].train[3].features
    gc.collect()
    other = plackett.load("synthetic").folds[0].train[3].features
    assert np.array_equal(features, other)


def test_from_arrays_uses_the_features_where_they_are():
    features = np.random.default_rng(2).random((6, 12)).astype(np.float32)[:, :5]
    part = (features, [0, 1, 0, 2, 0, 1], [0, 2, 6])
    data = plackett.Dataset.from_arrays(train=part, test=part, name="mine")
    split = data.folds[0].train
    assert np.shares_memory(split.features, features)
    features[3, 1] = 9
    assert split[1].features[1, 1] == 9  # the same memory, so the check can fail
    assert [len(query) for query in split] == [2, 4]
    assert data.name == "mine" and data.max_label == 2 and data.grade_count == 3


def test_from_arrays_keeps_the_arrays_alive():
    features = np.ones((4, 3), dtype=np.float32)
    gone = weakref.ref(features)
    part = (features, [0, 1, 0, 1], [0, 2, 4])
    data = plackett.Dataset.from_arrays(train=part, test=part)
    del part, features
    gc.collect()
    assert gone() is not None
    query = data.folds[0].train[0]
    del data
    gc.collect()
    assert gone() is not None and query.features.sum() == 6
    del query
    gc.collect()
    assert gone() is None


def test_an_impression_keeps_its_features_alive(rows):
    learner = plackett.PDGD(features=5)
    gone = weakref.ref(rows)
    impression = learner.rank(rows)
    assert impression.features is rows
    del rows
    gc.collect()
    learner.learn(impression, np.arange(len(impression)) == 1)
    assert learner.updates == 1
    del impression
    gc.collect()


def test_from_arrays_reads_qids_of_any_kind():
    features = np.zeros((5, 2), dtype=np.float32)
    labels = np.array([0.0, 1.0, 2.0, 0.0, 1.0])  # as sklearn's load_svmlight_file gives them
    for qid in ([30, 30, 10, 10, 20], np.array(["b", "b", "a", "a", "c"])):
        data = plackett.Dataset.from_arrays(
            train=(features, labels, qid), test=(features, labels, qid)
        )
        assert data.folds[0].train.query_begin.tolist() == [0, 2, 4, 5]


@pytest.mark.parametrize(
    "split, said",
    [
        ((np.zeros((3, 2)), [0, 1, 2], [7, 8, 7]), "qid 7 comes again at document 2"),
        ((np.zeros((3, 2)), [0, 1, 2], [0, 1, 3]), "could be query_begin or a qid"),
        ((np.zeros((3, 2)), [0, 1], [0, 2]), "3 rows of features and 2 labels"),
        ((np.zeros((3, 2)), [0, 1, 32], [0, 3]), "train: labels: 32 at 2; labels are 0 to 31"),
        ((np.zeros((3, 2)), [0, 1, 0.5], [0, 3]), "train: labels: 0.5 at 2; labels are 0 to 31"),
        ((np.zeros((3, 2)), [0, 1, -1], [0, 3]), "train: labels: -1 at 2"),
        ((np.zeros((3, 2)), [0, 1, 2], [0, -3]), "train: query_begin: -3 at 1"),
        ((np.zeros((3, 2)), [0, 1, 2], [0, 2]), "query_begin: ends at 2; there are 3 labels"),
        ((np.zeros((3, 2)), [0, 1, 2], [0, 0, 2, 3]), "a query has at least 1 document"),
        ((np.full((3, 2), np.nan), [0, 1, 2], [0, 3]), "features: nan .*values are finite"),
        ((np.zeros((3, 0)), [0, 1, 2], [0, 3]), "0 columns"),
        ((np.zeros((0, 3)), [], [0]), "no query"),
        ((np.zeros((3, 2)), [0, 1, 2]), "2 entries"),
        ({"features": np.zeros((3, 2)), "labels": [0, 1, 2]}, "one of query_begin and qid"),
        ({"features": [[1.0]], "labels": [0], "qid": [1], "more": 1}, 'train: "more"'),
    ],
)
def test_from_arrays_says_what_is_wrong(split, said):
    right = (np.zeros((1, 2), dtype=np.float32), [0], [0, 1])
    with pytest.raises(ValueError, match=said):
        plackett.Dataset.from_arrays(train=split, test=right)


def test_from_arrays_takes_what_it_is_told_the_third_is():
    arrays = {"features": np.zeros((3, 2), dtype=np.float32), "labels": [0, 1, 2]}
    by = {
        name: plackett.Dataset.from_arrays(
            train={**arrays, name: [0, 1, 3]}, test={**arrays, name: [0, 1, 3]}
        )
        for name in ("query_begin", "qid")
    }
    assert len(by["query_begin"].folds[0].train) == 2
    assert len(by["qid"].folds[0].train) == 3


def test_splits_with_other_features_are_refused():
    two = (np.zeros((1, 2), dtype=np.float32), [1], [0, 1])
    three = (np.zeros((1, 3), dtype=np.float32), [1], [0, 1])
    with pytest.raises(ValueError, match="test: 3 features; the training data has 2"):
        plackett.Dataset.from_arrays(train=two, test=three)
