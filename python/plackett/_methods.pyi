# The settings are those of plackett.methods(); tests/python/run_mypy.py compares them.
from collections.abc import Sequence

from . import _engine
from ._data import Features, Fold

class Cascade(_engine.Learner):
    def __init__(
        self,
        ranker: _engine.Ranker | str | None = ...,
        *,
        features: int | Fold | Features | None = ...,
        hidden: int | Sequence[int] | None = ...,
        activation: str | None = ...,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        learning_rate: float = ...,
        window: int = ...,
        threshold: float = ...,
    ) -> None: ...

class COLTR(_engine.Learner):
    def __init__(
        self,
        ranker: _engine.Ranker | str | None = ...,
        *,
        features: int | Fold | Features | None = ...,
        hidden: int | Sequence[int] | None = ...,
        activation: str | None = ...,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        learning_rate: float = ...,
        candidates: int = ...,
        temperature: float = ...,
        penalty: float = ...,
    ) -> None: ...

class DBGD(_engine.Learner):
    def __init__(
        self,
        ranker: _engine.Ranker | str | None = ...,
        *,
        features: int | Fold | Features | None = ...,
        hidden: int | Sequence[int] | None = ...,
        activation: str | None = ...,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        learning_rate: float = ...,
        interleaving: str = ...,
        projection: str = ...,
    ) -> None: ...

class MGD(_engine.Learner):
    def __init__(
        self,
        ranker: _engine.Ranker | str | None = ...,
        *,
        features: int | Fold | Features | None = ...,
        hidden: int | Sequence[int] | None = ...,
        activation: str | None = ...,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        learning_rate: float = ...,
        candidates: int = ...,
        interleaving: str = ...,
        projection: str = ...,
    ) -> None: ...

class PairRank(_engine.Learner):
    def __init__(
        self,
        ranker: _engine.Ranker | str | None = ...,
        *,
        features: int | Fold | Features | None = ...,
        hidden: int | Sequence[int] | None = ...,
        activation: str | None = ...,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        ridge: float = ...,
        alpha: float = ...,
        disjoint: str = ...,
        refit: int = ...,
    ) -> None: ...

class Pairwise(_engine.Learner):
    def __init__(
        self,
        ranker: _engine.Ranker | str | None = ...,
        *,
        features: int | Fold | Features | None = ...,
        hidden: int | Sequence[int] | None = ...,
        activation: str | None = ...,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        learning_rate: float = ...,
        epsilon: float = ...,
    ) -> None: ...

class PDGD(_engine.Learner):
    def __init__(
        self,
        ranker: _engine.Ranker | str | None = ...,
        *,
        features: int | Fold | Features | None = ...,
        hidden: int | Sequence[int] | None = ...,
        activation: str | None = ...,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        learning_rate: float = ...,
        steps: str = ...,
        pairs: str = ...,
        sharpness: float = ...,
        step_memory: float = ...,
        weight_decay: float = ...,
        restart: float = ...,
    ) -> None: ...

class PLGradient(_engine.Learner):
    def __init__(
        self,
        ranker: _engine.Ranker | str | None = ...,
        *,
        features: int | Fold | Features | None = ...,
        hidden: int | Sequence[int] | None = ...,
        activation: str | None = ...,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        learning_rate: float = ...,
        discount: str = ...,
        debias: str = ...,
        position_bias: float = ...,
        most_weight: float = ...,
    ) -> None: ...

class Steady(_engine.Learner):
    def __init__(
        self,
        ranker: _engine.Ranker | str | None = ...,
        *,
        features: int | Fold | Features | None = ...,
        hidden: int | Sequence[int] | None = ...,
        activation: str | None = ...,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        learning_rate: float = ...,
        pairs: str = ...,
        sharpness: float = ...,
        step_limit: float = ...,
        novelty: float = ...,
        memory: float = ...,
        weight_decay: float = ...,
    ) -> None: ...
