import os

from typing_extensions import Self

from . import _engine

class _Method(_engine.Learner):
    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        shown: int = ...,
        seed: int = ...,
        run: int = ...,
        protocol: str = ...,
        **settings: float | str,
    ) -> Self: ...
