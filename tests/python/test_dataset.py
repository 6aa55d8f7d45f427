"""Datasets, folds, splits, queries."""

import numpy as np
import pytest

import plackett


def test_a_split_is_a_sequence(fold):
    train = fold.train
    assert len(train) == 480
    assert train[-1].number == 479 and train[479].number == 479
    assert [query.number for query in train] == list(range(480))
    assert [query.number for query in train[478:]] == [478, 479]
    assert [query.number for query in train[3:0:-2]] == [3, 1]
    for outside in (480, -481):
        with pytest.raises(IndexError, match="there are 480"):
            train[outside]
    with pytest.raises(TypeError):
        train["first"]


def test_parts_are_the_same_objects_each_time(data):
    assert data.folds[0] is data.folds[0]
    assert data.folds[0].train is data.folds[0].train


def test_scaling_is_as_asked(data):
    assert data.folds[0].train.features.max() == 1
    raw = plackett.load("synthetic", scaling="none")
    assert raw.folds[0].train.features.max() > 10
    assert raw.scaling == "none" and data.scaling == "query-minmax"


def test_constant_features_are_dropped_or_kept(fold):
    kept = plackett.load("synthetic", keep_constant_features=True).folds[0]
    assert kept.train.feature_count == 46 and fold.train.feature_count == 42
    assert set(kept.feature_ids) - set(fold.feature_ids) == set(fold.constant_feature_ids)
    chosen = plackett.load("synthetic", keep_feature_ids=[3, 1]).folds[0]
    assert chosen.feature_ids.tolist() == [3, 1]


def test_letor_files_are_read(tmp_path):
    (tmp_path / "train.txt").write_text("2 qid:1 1:0.5 2:1\n0 qid:1 1:0.1 2:3\n")
    (tmp_path / "test.txt").write_text("1 qid:2 1:0.5 2:1\n0 qid:2 1:0.1 2:3\n")
    data = plackett.load(tmp_path, scaling="none")
    assert np.allclose(data.folds[0].train.features, [[0.5, 1], [0.1, 3]])
    assert data.folds[0].validation is None
    (tmp_path / "train.txt").write_text("2 qid:1 0:0.5\n")
    with pytest.raises(ValueError, match="train.txt:1: .*ids start at 1"):
        plackett.load(tmp_path)


def part(seed, features=3, most=2):
    random = np.random.default_rng(seed)
    rows = random.random((6, features)).astype(np.float32)
    return rows, [0, 1, most, 0, 1, 0], [0, 3, 6]


def test_arrays_make_several_folds():
    folds = [{"train": part(1), "test": part(2)}, {"train": part(3, most=4), "test": part(4), "validation": part(5)}]
    data = plackett.Dataset.from_arrays(folds=folds, name="mine")
    assert [fold.name for fold in data.folds] == ["Fold1", "Fold2"] and data.name == "mine"
    assert data.max_label == data.folds[0].train.max_label == 4
    assert data.folds[0].validation is None and len(data.folds[1].validation) == 2
    for fold, given in zip(data.folds, folds):
        assert np.shares_memory(fold.train.features, given["train"][0])
        assert np.array_equal(fold.test.features, given["test"][0])
    result = plackett.simulate(data, runs=3, impressions=20)
    assert result.runs.fold.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "arguments, error, said",
    [
        ({}, TypeError, "train: None; a fold has train and test"),
        ({"train": part(1)}, TypeError, "test: None; a fold has train and test"),
        ({"folds": []}, ValueError, "folds: none; expected at least 1"),
        ({"folds": 3}, TypeError, "folds: 3; expected a list of dicts"),
        ({"folds": [part(1)]}, TypeError, r"folds\[0\]: tuple; expected a dict of train"),
        ({"folds": [{"train": part(1)}]}, TypeError, r"folds\[0\]: test: None; a fold has"),
        ({"folds": [{"trian": part(1)}]}, ValueError, r'folds\[0\]: "trian"; known are train'),
        (
            {"folds": [{"train": part(1), "test": part(2)}, {"train": part(1, 2), "test": part(2, 2)}]},
            ValueError,
            r"folds\[1\]: 2 features; folds\[0\] has 3",
        ),
        (
            {"folds": [{"train": part(1), "test": part(2, 2)}]},
            ValueError,
            r"folds\[0\]: test: 2 features; the training data has 3",
        ),
        (
            {"folds": [{"train": part(1, most=40), "test": part(2)}]},
            ValueError,
            r"folds\[0\]: train: labels: 40 at 2; labels are 0 to 31",
        ),
        ({"folds": [{}], "train": part(1)}, TypeError, "folds: given with train, test or validation"),
    ],
)
def test_wrong_folds_are_refused(arguments, error, said):
    with pytest.raises(error, match=said) as caught:
        plackett.Dataset.from_arrays(**arguments)
    assert isinstance(caught.value, plackett.Error)


def test_threads_dont_matter(fold):
    for threads in (0, 3):
        again = plackett.load("synthetic", threads=threads).folds[0]
        assert np.array_equal(again.train.features, fold.train.features)


def test_missing_data_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere: no such file or folder") as caught:
        plackett.load(tmp_path / "nowhere")
    assert isinstance(caught.value, plackett.Error)
    with pytest.raises(ValueError, match="no dataset in this folder"):
        plackett.load(tmp_path)
    with pytest.raises(ValueError, match="synthetic"):
        plackett.load("synthetic:nothing")
    with pytest.raises(ValueError, match="scaling"):
        plackett.load("synthetic", scaling="some")
    with pytest.raises(TypeError, match="where: 3; expected a str or a path"):
        plackett.load(3)


def test_ids_are_those_of_the_source(tmp_path):
    for name in ("train.txt", "test.txt"):
        lines = ["1 qid:70 1:1 #docid = GX1", "0 qid:70 1:2", "1 qid:5 1:3 #docid = \udcffz"]
        text = "\n".join(lines) + "\n"
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    train = plackett.load(tmp_path).folds[0].train
    assert [query.id for query in train] == [70, 5]
    assert [query.document_ids for query in train] == [["GX1", ""], ["\udcffz"]]
    synthetic = plackett.load("synthetic").folds[0].train[3]
    assert (synthetic.id, synthetic.document_ids) == (4, None)


@pytest.mark.parametrize(
    "qid, ids",
    [
        (np.array([7, 7, 2**64 - 1], np.uint64), [7, 2**64 - 1]),
        ([-1, -1, 4], [None, None]),
        (["a", "a", "b"], [None, None]),
    ],
)
def test_integers_given_as_qid_are_ids(qid, ids):
    part = {"features": np.eye(3), "labels": [0, 1, 2], "qid": qid}
    data = plackett.Dataset.from_arrays(train=part, test=part)
    assert [query.id for query in data.folds[0].train] == ids


def test_what_a_file_may_hold_is_said(tmp_path):
    for name in ("train.txt", "test.txt"):
        (tmp_path / name).write_text("1 qid:1 1:1e39 2:1\n0 qid:1 1:2 2:3\n-1 qid:2 1:2\n")
    with pytest.raises(plackett.Error, match="out-of-range clamp or missing"):
        plackett.load(tmp_path)
    with pytest.raises(plackett.Error, match="unlabelled skip"):
        plackett.load(tmp_path, out_of_range="missing")
    data = plackett.load(tmp_path, out_of_range="missing", unlabelled="skip", scaling="none")
    assert data.folds[0].train.features.tolist() == [[0, 1], [2, 3]]
