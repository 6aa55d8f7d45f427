"""Learning to rank from clicks.

From data to a learned ranker:

>>> import plackett
>>> data = plackett.load("synthetic")
>>> result = plackett.simulate(data, "pdgd", click_model="navigational", runs=2, impressions=2000)
>>> 0.6 < result.offline.mean < 0.8
True

Your own loop, with your own users:

>>> fold = data.folds[0]
>>> learner = plackett.PDGD(features=fold, learning_rate=0.1, seed=1)
>>> user = plackett.ClickModel("perfect", grades=data.grade_count)
>>> for query in fold.train:
...     impression = learner.rank(query.features)
...     learner.learn(impression, user.click(impression, query.labels))
>>> learner.impressions
480

All of it: docs/reference/python.md. Other examples assume `import plackett` and, as NumPy's own,
`import numpy as np`.
"""

from ._compare import compare
from ._data import Dataset, Fold, load
from ._engine import (
    ClickModel,
    Impression,
    Learner,
    Query,
    Ranker,
    Rng,
    Split,
    click_model_names,
    document_weights,
    evaluate,
    log_probability,
    methods,
    metrics,
    ndcg,
    sample_ranking,
    simd_target,
    stream,
    version,
)
from ._errors import BadType, BadValue, Error, MissingFile
from ._methods import DBGD, MGD, PDGD, Cascade, Pairwise
from ._pairs import Pair, pairs
from ._results import (
    Cell,
    Compared,
    Contrast,
    Curve,
    MeasureTests,
    Moments,
    Runs,
    Simulated,
    TTest,
)
from ._simulate import simulate

__version__ = version()

__all__ = [
    "DBGD",
    "MGD",
    "PDGD",
    "BadType",
    "BadValue",
    "Cascade",
    "Cell",
    "ClickModel",
    "Compared",
    "Contrast",
    "Curve",
    "Dataset",
    "Error",
    "Fold",
    "Impression",
    "Learner",
    "MeasureTests",
    "MissingFile",
    "Moments",
    "Pair",
    "Pairwise",
    "Query",
    "Ranker",
    "Rng",
    "Runs",
    "Simulated",
    "Split",
    "TTest",
    "click_model_names",
    "compare",
    "document_weights",
    "evaluate",
    "load",
    "log_probability",
    "methods",
    "metrics",
    "ndcg",
    "pairs",
    "sample_ranking",
    "simd_target",
    "simulate",
    "stream",
    "version",
]
