"""Datasets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Union

import numpy as np

from . import _engine
from ._errors import BadType, BadValue, as_array, shown

_DEFAULT: dict[str, Any] = _engine.load_defaults

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Part = Union[tuple[ArrayLike, ArrayLike, ArrayLike], dict[str, Any]]


class _NeverPickled:
    """A pickle would copy all of the data."""

    def __reduce__(self) -> NoReturn:
        advice = "pickle what load read, or the arrays that it was made from"
        raise BadType(f"{type(self).__name__}: it can't be pickled or copied; {advice}")


class Features(NamedTuple):
    """What a ranker reads, without the data: a learner or ranker that was given a Fold has it as
    its parameter `features`, and takes it in place of one.

    >>> fold = plackett.load("synthetic").folds[0]
    >>> plackett.PDGD(features=fold).get_params()["features"].scaling
    'query-minmax'
    """

    feature_ids: tuple[int, ...]  #: for each column, its id in the source file, from 1
    scaling: str  #: how they are scaled

    def __repr__(self) -> str:
        return f"<plackett.Features: {len(self.feature_ids)}, scaling {self.scaling}>"


@dataclass(frozen=True, eq=False, repr=False)
class Fold(_NeverPickled):
    """Training, validation and test queries.

    >>> plackett.load("synthetic").folds[0]
    <plackett.Fold Fold1: 480 training and 160 test queries, 42 features>
    """

    name: str  #: "Fold1"
    train: _engine.Split
    validation: _engine.Split | None  #: None if there are none
    test: _engine.Split
    feature_ids: NDArray[np.uint32]  #: for each column, its id in the source file, from 1
    constant_feature_ids: NDArray[np.uint32]  #: over the raw training file, kept or not
    scaling: str  #: how its features were scaled

    def __repr__(self) -> str:
        queries = f"{len(self.train)} training and {len(self.test)} test queries"
        return f"<plackett.Fold {self.name}: {queries}, {self.train.feature_count} features>"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(_NeverPickled):
    """Folds of queries with features and labels, in memory.

    plackett.load reads one; from_arrays makes one from arrays.

    >>> data = plackett.load("synthetic")
    >>> len(data.folds), data.max_label, data.grade_count
    (5, 4, 5)
    """

    name: str
    origin: str  #: what it was made from, for a person
    folds: tuple[Fold, ...]  #: at least one
    max_label: int  #: the highest label in it
    grade_count: int  #: how many grades its labels have: 2, 3 or 5 if they fit a usual scale
    scaling: str  #: how its features were scaled
    _handle: _engine.DatasetHandle = field()

    def __repr__(self) -> str:
        what = f"{len(self.folds)} folds, labels 0 to {self.max_label}"
        return f"<plackett.Dataset {self.name}: {what}>"

    @staticmethod
    def from_arrays(
        *,
        train: Part | None = None,
        test: Part | None = None,
        validation: Part | None = None,
        folds: Sequence[dict[str, Part]] | None = None,
        name: str = "arrays",
    ) -> Dataset:
        """A dataset over arrays: one fold of train, test and validation, or several `folds`, each a
        dict of these. A split is (features, labels, query_begin) or (features, labels, qid), or a
        dict of these. float32 features with rows at least their length apart are used in place and
        kept alive; others are converted once. Labels and query_begin are copied. Nothing is scaled
        or dropped. Don't change the features while a run uses them.

        >>> features = np.eye(4, dtype=np.float32)
        >>> part = (features, [1, 0, 0, 2], [7, 7, 8, 8])
        >>> data = plackett.Dataset.from_arrays(train=part, test=part)
        >>> np.shares_memory(data.folds[0].train.features, features)
        True
        >>> data.folds[0].train[1].labels
        array([0, 2], dtype=uint8)
        """
        alone = {"train": train, "test": test, "validation": validation}
        if folds is None:
            return dataset_of(_engine.dataset_of(name, [("", _fold(alone, ""))]))
        if any(part is not None for part in alone.values()):
            raise BadType("folds: given with train, test or validation; give one or the other")
        if not isinstance(folds, (list, tuple)):
            raise BadType(f"folds: {shown(folds)}; expected a list of dicts of train and test")
        named = [(f"folds[{number}]", fold) for number, fold in enumerate(folds)]
        given = [(place, _fold(fold, place)) for place, fold in named]
        return dataset_of(_engine.dataset_of(name, given))


def load(
    where: str | os.PathLike[str],
    *,
    scaling: str = _DEFAULT["scaling"],
    keep_constant_features: bool = _DEFAULT["keep_constant_features"],
    keep_feature_ids: Sequence[int] | None = None,
    max_feature_id: int = _DEFAULT["max_feature_id"],
    out_of_range: str = _DEFAULT["out_of_range"],
    unlabelled: str = _DEFAULT["unlabelled"],
    verify_cache: bool = _DEFAULT["verify_cache"],
    threads: int = _DEFAULT["threads"],
    name: str | None = None,
) -> Dataset:
    """A dataset: a folder of LETOR files, a cache file, "synthetic" or "synthetic:PRESET".

    Features are scaled within each query ("query-minmax") or not at all ("none"). Those constant
    over the training file are dropped unless `keep_constant_features`; `keep_feature_ids` keeps
    exactly those, in that order. `out_of_range` says what becomes of values that a float can't
    hold: "refuse", "clamp" or "missing" (0); `unlabelled`, of documents with label -1: "refuse" or
    "skip". `verify_cache` checks a cache's checksums. Reads with `threads` threads (0: one per
    core). Results name the data `name`, by default the folder's name.

    >>> data = plackett.load("synthetic", scaling="none")
    >>> data
    <plackett.Dataset synthetic: 5 folds, labels 0 to 4>
    """
    given = locals()
    options = {option: given[option] for option in _DEFAULT}
    return dataset_of(_engine.load(where, name, options, keep_feature_ids, verify_cache, threads))


def dataset_of(handle: _engine.DatasetHandle) -> Dataset:
    parts = handle.parts()
    folds = tuple(Fold(*fold) for fold in parts.pop("folds"))
    return Dataset(**parts, folds=folds, _handle=handle)


def _require_known(given: Iterable[Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            names = f"{', '.join(known[:-1])} and {known[-1]}"
            raise BadValue(f'{where}: "{key}"; known are {names}')


def _one_dimension(values: Any, name: str) -> NDArray[Any]:
    array = as_array(values, name)
    if array.ndim != 1:
        raise BadValue(f"{name}: shape {array.shape}; expected one dimension")
    return array


def _could_be_begins(third: NDArray[Any], documents: int) -> bool:
    """Whether integers that could be one qid per document could also be query_begin."""
    if third.dtype.kind not in "iu" or third[0] != 0 or third[-1] != documents:
        return False
    return bool((third[1:] > third[:-1]).all())


def _begins(qid: Any, documents: int, where: str) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Where queries begin, from the qid of each document, and their ids if they can be ids."""
    name = f"{where}: qid"
    given = _one_dimension(qid, name)
    if len(given) != documents:
        raise BadValue(f"{where}: {len(given)} qids for {documents} documents; expected one each")
    try:
        codes = np.unique(given, return_inverse=True)[1]
    except TypeError:
        rule = "expected values that can be ordered, as numbers or text"
        raise BadType(f"{name}: {shown(given)}; {rule}") from None
    begins = np.flatnonzero(np.diff(codes, prepend=-1))
    firsts = np.unique(codes[begins], return_index=True)[1]
    for again in np.delete(begins, firsts)[:1]:
        raise BadValue(
            f"{where}: qid {shown(given[again])} comes again at document {again}; "
            "a query's documents must be adjacent"
        )
    first = given[begins]
    ids = first.astype(np.uint64) if first.dtype.kind in "iu" and (first >= 0).all() else None
    return np.append(begins, documents), ids


def _split(given: Any, where: str) -> _engine.Split:
    if isinstance(given, dict):
        _require_known(given, ("features", "labels", "query_begin", "qid"), where)
        one_third = ("query_begin" in given) != ("qid" in given)
        if not ("features" in given and "labels" in given and one_third):
            raise BadValue(f"{where}: expected features, labels, and one of query_begin and qid")
        parts = given
    elif isinstance(given, (tuple, list)):
        rule = "expected (features, labels, query_begin or qid)"
        if len(given) != 3:
            raise BadValue(f"{where}: {len(given)} entries; {rule}")
        parts = {"features": given[0], "labels": given[1]}
    else:
        rule = "expected (features, labels, query_begin or qid), or a dict of these"
        raise BadType(f"{where}: {type(given).__name__}; {rule}")
    features = as_array(parts["features"], f"{where}: features")
    documents = len(features) if features.ndim else 0
    if parts is not given:
        third = _one_dimension(given[2], f"{where}: query_begin or qid")
        if 0 < documents == len(third) and _could_be_begins(third, documents):
            raise BadValue(
                f"{where}: the third entry could be query_begin or a qid per document; say which "
                "with a dict: features, labels, and query_begin or qid"
            )
        parts["qid" if len(third) == documents else "query_begin"] = third
    if "qid" in parts:
        begins, ids = _begins(parts["qid"], documents, where)
    else:
        begins, ids = parts["query_begin"], None
    return _engine.split_of(features, parts["labels"], begins, ids, where)


def _fold(given: Any, where: str) -> dict[str, _engine.Split]:
    if not isinstance(given, dict):
        rule = "expected a dict of train, test and, if there is one, validation"
        raise BadType(f"{where}: {type(given).__name__}; {rule}")
    _require_known(given, ("train", "test", "validation"), where)
    prefix = f"{where}: " if where else ""
    for part in ("train", "test"):
        if given.get(part) is None:
            raise BadType(f"{prefix}{part}: None; a fold has train and test")
    return {part: _split(one, prefix + part) for part, one in given.items() if one is not None}
