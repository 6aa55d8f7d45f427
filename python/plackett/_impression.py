"""Unpickling of impressions."""

from __future__ import annotations

from typing import Any

from . import _engine


def impression_again(*state: Any) -> _engine.Impression:
    """What Impression.__reduce__ refers to."""
    return _engine.impression_of(*state)
