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

# "as" marks what the package exports.
from ._compare import compare as compare
from ._calls import check_calls as _check_calls
from ._client import (
    Client as Client,
    ServiceError as ServiceError,
    ServiceUnreachable as ServiceUnreachable,
)
from ._data import Dataset as Dataset, Features as Features, Fold as Fold, load as load
from ._engine import (
    ClickModel as ClickModel,
    Impression as Impression,
    Learner as Learner,
    Query as Query,
    Ranker as Ranker,
    Rng as Rng,
    Split as Split,
    click_model_names as click_model_names,
    document_weights as document_weights,
    evaluate as evaluate,
    log_probability as log_probability,
    methods as methods,
    metrics as metrics,
    ndcg as ndcg,
    sample_ranking as sample_ranking,
    simd_target as simd_target,
    stream as stream,
    version as version,
)
from ._errors import (
    BadType as BadType,
    BadValue as BadValue,
    Error as Error,
    MissingFile as MissingFile,
    MissingModule as MissingModule,
)
from ._fit import Agreement as Agreement, Fitted as Fitted, fit as fit
from ._methods import (
    COLTR as COLTR,
    DBGD as DBGD,
    MGD as MGD,
    PDGD as PDGD,
    Cascade as Cascade,
    PairRank as PairRank,
    Pairwise as Pairwise,
    PLGradient as PLGradient,
    Steady as Steady,
)
from ._log import read_log as read_log
from ._off_policy import (
    Estimate as Estimate,
    Learned as Learned,
    LearnStage as LearnStage,
    OffPolicy as OffPolicy,
    RankSupport as RankSupport,
    learn as learn,
    off_policy as off_policy,
)
from ._pairs import Pair as Pair, pairs as pairs
from . import _params as _params
from ._results import (
    Cell as Cell,
    Compared as Compared,
    Contrast as Contrast,
    Curve as Curve,
    MeasureTests as MeasureTests,
    Moments as Moments,
    Runs as Runs,
    Simulated as Simulated,
    TTest as TTest,
    load_results as load_results,
)
from ._simulate import simulate as simulate

__version__ = version()
__all__ = sorted(name for name in globals() if not name.startswith("_"))
_check_calls(globals(), __all__)
