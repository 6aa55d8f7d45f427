"""Reading datasets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _engine

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
) -> _engine.Dataset:
    """A dataset: a folder of LETOR files, a cache file, "synthetic" or "synthetic:PRESET".

    Features are scaled within each query ("query-minmax") or not at all ("none"). Those constant
    over the training file are dropped unless kept; `keep_feature_ids` keeps exactly those, in that
    order. A cache's checksums are verified unless you trust it. Reading takes `threads` (0: one a
    core). Results call the data `name`, or by the folder's own.

    >>> import plackett
    >>> data = plackett.load("synthetic", scaling="none")
    >>> data
    <plackett.Dataset synthetic: 5 folds, labels 0 to 4>
    """
    return _engine.load(
        where,
        scaling,
        keep_constant_features,
        keep_feature_ids,
        max_feature_id,
        verify_cache,
        threads,
        name,
    )
