"""Progress of long work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO, Union

from ._errors import BadType, shown

Progress = Union[None, bool, Callable[[int, int], object]]


class ProgressLine:
    """One line on a terminal: how much is done, and how long the rest takes."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._start = time.monotonic()
        self._last = 0.0
        self._first: int | None = None  # done before: a folder held it

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = done
        if done < total and now - self._last < 0.2:
            return
        self._last = now
        took = now - self._start
        self._out.write(f"\r{done / total:5.1%} of {total} impressions")
        if done >= total:
            self._out.write(f", {took:.1f} s\x1b[K\n")
        elif done > self._first:
            self._out.write(f", {took / (done - self._first) * (total - done):.0f} s left\x1b[K")
        self._out.flush()


def callback(progress: Progress) -> Callable[[int, int], object] | None:
    """What to call with (impressions done, impressions in total), or None. True stands for a line
    on stderr if that is a terminal."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return ProgressLine(sys.stderr) if sys.stderr.isatty() else None
    if not callable(progress):
        rule = "expected None, True or a function of (done, total)"
        raise BadType(f"progress: {shown(progress)}; {rule}")
    return progress
