"""How data, rankers and learners show themselves in a notebook. No colours but a picture's own,
which is on white: what they show is readable on any background."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from . import _engine
from ._data import Dataset, Fold

_STRONGEST = 10  # weights of a linear ranker that are shown


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Texts are escaped here."""

    def line(tag: str, values: Iterable[Any]) -> str:
        cells = (f'<{tag} style="text-align:left">{escape(str(one))}</{tag}>' for one in values)
        return f"<tr>{''.join(cells)}</tr>"

    head = f"<thead>{line('th', columns)}</thead>" if columns else ""
    body = "".join(line("td", row) for row in rows)
    return f"<p><b>{escape(title)}</b></p>\n<table>{head}<tbody>{body}</tbody></table>\n"


def picture(svg: bytes, about: str) -> str:
    """As a document of its own: the names inside it don't meet those of the page. Nothing if there
    is none."""
    if not svg:
        return ""
    data = base64.b64encode(svg).decode()
    return f'<img alt="{escape(about)}" src="data:image/svg+xml;base64,{data}">\n'


def _parts(fold: Fold) -> list[Any]:
    splits = (fold.train, fold.validation, fold.test)
    counts = [f"{len(one)} ({len(one.labels)})" if one is not None else "none" for one in splits]
    return [fold.name, *counts, fold.train.feature_count]


def _folds(title: str, folds: Iterable[Fold]) -> str:
    columns = [f"{name} queries (documents)" for name in ("training", "validation", "test")]
    return table(title, ["fold", *columns, "features"], map(_parts, folds))


def _of_dataset(self: Dataset) -> str:
    title = f"{self.name}: labels 0 to {self.max_label}, scaling {self.scaling}"
    return _folds(title, self.folds)


def _of_fold(self: Fold) -> str:
    return _folds(f"{self.name}: scaling {self.scaling}", [self])


def _of_ranker(self: _engine.Ranker) -> str:
    parameters = self.parameters
    facts: dict[str, Any] = {"features": self.feature_count, "parameters": len(parameters)}
    if self.hidden:
        facts["hidden units"] = ", ".join(map(str, self.hidden))
        facts["activation"] = self.activation
    shown = table(f"{self.kind} ranker", [], facts.items())
    if self.kind != "linear":
        return shown
    strongest = np.argsort(-np.abs(parameters), kind="stable")[:_STRONGEST]
    weights = [(self.feature_ids[at], f"{parameters[at]:+.4f}") for at in strongest]
    return shown + table("Strongest weights", ["feature id", "weight"], weights)


def _of_learner(self: _engine.Learner) -> str:
    rows = {"impressions": self.impressions, "updates": self.updates, **self.settings}
    return table(f"{self.method} learner", [], rows.items()) + _of_ranker(self.ranker)


for _cls, _shown in (
    (Dataset, _of_dataset),
    (Fold, _of_fold),
    (_engine.Ranker, _of_ranker),
    (_engine.Learner, _of_learner),
):
    setattr(_cls, "_repr_html_", _shown)
