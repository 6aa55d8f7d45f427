"""Parameters of learners and rankers as scikit-learn knows them: get_params, set_params and, by
these, sklearn.base.clone. The parameters are the arguments of the constructor."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any, TypeVar, Union

from . import _engine
from ._calls import unknown_parameter

Parametrised = Union[_engine.Learner, _engine.Ranker]
_Self = TypeVar("_Self", _engine.Learner, _engine.Ranker)


def get_params(self: Parametrised, deep: bool = True) -> dict[str, Any]:
    """The arguments that its constructor takes, as given or by default; what it learned is no part
    of them. A Fold is given as Features. `deep` adds those of a ranker that was given, as
    ranker__kind. scikit-learn's clone makes from them a new one that has learned nothing.

    >>> plackett.PDGD(features=3, learning_rate=0.2).get_params()["learning_rate"]
    0.2
    """
    given = self._given
    attributes = getattr(self, "__dict__", {})
    parameters: dict[str, Any] = {}
    declared = signature(type(self)).parameters
    for name, parameter in declared.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            parameters.update((one, given[one]) for one in given if one not in declared)
        elif name in given:
            parameters[name] = given[name]
        else:
            parameters[name] = attributes.get(name, parameter.default)
    if deep:
        for name, value in list(parameters.items()):
            if isinstance(value, _engine.Ranker):
                own = value.get_params()
                parameters.update({f"{name}__{one}": own[one] for one in own})
    return parameters


def set_params(self: _Self, **parameters: Any) -> _Self:
    """Gives it other parameters and returns it. It starts anew: what it learned is gone.

    >>> learner = plackett.PDGD(features=3)
    >>> learner.set_params(learning_rate=0.2).settings["learning_rate"]
    0.2
    """
    if not parameters:
        return self
    now = self.get_params(deep=False)
    inner: dict[str, dict[str, Any]] = {}
    for name, value in parameters.items():
        outer, _, rest = name.partition("__")
        if rest and isinstance(now.get(outer), _engine.Ranker):
            inner.setdefault(outer, {})[rest] = value
        elif name in now or any(
            one.kind is Parameter.VAR_KEYWORD for one in signature(type(self)).parameters.values()
        ):
            now[name] = value
        else:
            raise unknown_parameter(type(self).__name__, name, list(self.get_params()))
    for name, own in inner.items():
        now[name] = type(now[name])(**now[name].get_params(deep=False)).set_params(**own)
    self._become(type(self)(**now))
    return self


for _cls in (_engine.Learner, _engine.Ranker):
    setattr(_cls, "get_params", get_params)
    setattr(_cls, "set_params", set_params)
