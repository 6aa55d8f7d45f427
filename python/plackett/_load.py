"""Reading datasets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _engine
from ._data import Dataset, dataset_of

_DEFAULT: dict[str, Any] = _engine.load_defaults


def load(
    where: str | os.PathLike[str],
    *,
    scaling: str = _DEFAULT["scaling"],
    keep_constant_features: bool = _DEFAULT["keep_constant_features"],
    keep_feature_ids: Sequence[int] | None = None,
    max_feature_id: int = _DEFAULT["max_feature_id"],
    verify_cache: bool = _DEFAULT["verify_cache"],
    threads: int = _DEFAULT["threads"],
    name: str | None = None,
) -> Dataset:
    """A dataset: a folder of LETOR files, a cache file, "synthetic" or "synthetic:PRESET".

    Features are scaled within each query ("query-minmax") or not at all ("none"). Those constant
    over the training file are dropped unless `keep_constant_features`; `keep_feature_ids` keeps
    exactly those, in that order. `verify_cache` checks a cache's checksums. Reads with `threads`
    threads (0: one per core). Results name the data `name`, by default the folder's name.

    >>> import plackett
    >>> data = plackett.load("synthetic", scaling="none")
    >>> data
    <plackett.Dataset synthetic: 5 folds, labels 0 to 4>
    """
    given = locals()
    options = {option: given[option] for option in _DEFAULT}
    handle = _engine.load(where, name, options, keep_feature_ids, verify_cache, threads)
    return dataset_of(handle)
