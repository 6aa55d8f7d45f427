"""One class per method of the engine. Their types are in _methods.pyi."""

from inspect import Parameter, Signature, signature

from . import _engine

# The keywords of every learner, with their defaults.
_COMMON = {
    name: parameter.default
    for name, parameter in signature(_engine.Learner).parameters.items()
    if parameter.kind is Parameter.KEYWORD_ONLY
}


def _keyword(name):
    return name.replace("-", "_")


def _keyword_only(defaults):
    only = Parameter.KEYWORD_ONLY
    return [Parameter(name, only, default=value) for name, value in defaults.items()]


def _class_of(method):
    name = method["name"]
    lines = [
        f"{method['title']}(ranker=None, *, features=None, ..., **settings)",
        "",
        f"{method['summary'][0].upper()}{method['summary'][1:]}.",
        "",
        f"plackett.Learner(\"{name}\", ...) with the settings",
        "",
    ]
    keywords = dict(_COMMON)
    for setting in method["settings"]:
        keyword = _keyword(setting["name"])
        keywords[keyword] = setting["default"]
        choice = f" ({', '.join(setting['names'])})" if "names" in setting else ""
        lines.append(f"    {keyword}={setting['default']!r}: {setting['help']}{choice}")
    lines += [
        "",
        f">>> plackett.{method['title']}(features=10).method",
        repr(name),
    ]

    def __init__(self, ranker=None, **keywords):
        _engine.Learner.__init__(self, name, ranker, **keywords)

    __init__.__signature__ = Signature(
        [
            Parameter("self", Parameter.POSITIONAL_OR_KEYWORD),
            Parameter("ranker", Parameter.POSITIONAL_OR_KEYWORD, default=None),
            *_keyword_only(keywords),
        ]
    )
    made = type(
        method["title"],
        (_engine.Learner,),
        {
            "__init__": __init__,
            "__doc__": "\n".join(lines),
            "__module__": "plackett",
            "_name": name,
        },
    )
    made.__init__.__doc__ = None
    assert signature(made)  # what help() shows
    return made


def _load(cls, path, **options):
    """The learner of a saved model. The file doesn't hold seed, run, shown, protocol and settings:
    give them again (the saved learner has properties of these names), or they have their defaults.
    The learning rate is the file's unless the settings name one. Fails if the settings would drop
    what the learner kept between updates (steps="adagrad" left out).

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.plk")
    ...     learner = plackett.PDGD(features=3, shown=5, steps="adagrad")
    ...     learner.save(path)
    ...     again = plackett.PDGD.load(path, shown=learner.shown, **learner.settings)
    >>> again
    <plackett pdgd learner, linear ranker: 0 impressions, 0 updates>
    """
    found = _engine.load_learner(getattr(cls, "_name", None), path, **options)
    if cls is _engine.Learner:
        return found
    made = cls.__new__(cls)
    made.__setstate__(found.__getstate__())
    return made


_load.__signature__ = Signature(
    [
        Parameter("cls", Parameter.POSITIONAL_OR_KEYWORD),
        Parameter("path", Parameter.POSITIONAL_OR_KEYWORD),
        *_keyword_only({name: _COMMON[name] for name in ("shown", "seed", "run", "protocol")}),
        Parameter("settings", Parameter.VAR_KEYWORD),
    ]
)
_load.__name__ = "load"
_load.__qualname__ = "Learner.load"
_engine.Learner.load = classmethod(_load)

_classes = {method["title"]: _class_of(method) for method in _engine.methods()}

Cascade = _classes["Cascade"]
COLTR = _classes["COLTR"]
DBGD = _classes["DBGD"]
MGD = _classes["MGD"]
PairRank = _classes["PairRank"]
Pairwise = _classes["Pairwise"]
PDGD = _classes["PDGD"]
PLGradient = _classes["PLGradient"]
Steady = _classes["Steady"]
