"""Impressions on their way through pickle."""

from __future__ import annotations

from typing import Any

from . import _engine


def impression_again(*state: Any) -> _engine.Impression:
    """What Impression.__reduce__ names."""
    return _engine.impression_of(*state)
