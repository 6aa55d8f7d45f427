"""Runs the examples in all public docstrings, including the extension's. Every class, function and
method must have one; properties must have a docstring. Examples assume `import plackett` and, as
NumPy's own, `import numpy as np`; those of the client have a `client` of a service with the model
"shop"."""

import doctest
import importlib.util
import inspect
import sys

import numpy as np
import plackett

from service import running_service

# Examples marked with this are skipped if pandas is missing.
NEEDS_PANDAS = doctest.register_optionflag("NEEDS_PANDAS")


def documented():
    """(name, docstring, whether it needs an example) of the package, its public names and their
    own public members."""
    yield "plackett", plackett.__doc__, True
    for name in plackett.__all__:
        value = getattr(plackett, name)
        yield f"plackett.{name}", value.__doc__, True
        if not inspect.isclass(value):
            continue
        fields = set(getattr(value, "_fields", ())) | set(getattr(value, "__annotations__", ()))
        for member in vars(value):
            if member.startswith("_") or member in fields:
                continue
            function = getattr(value, member)
            yield f"plackett.{name}.{member}", function.__doc__, callable(function)


def main():
    with running_service() as service, plackett.Client(service.url) as client:
        client.create_model("shop", ["price", "rating"], seed=7)
        return run({"plackett": plackett, "np": np, "client": client})


def run(names):
    runner = doctest.DocTestRunner()
    parser = doctest.DocTestParser()
    pandas = importlib.util.find_spec("pandas") is not None
    lacking = []
    for name, text, needs_example in documented():
        test = parser.get_doctest(text or "", dict(names), name, None, 0)
        if not text or (needs_example and not test.examples):
            lacking.append(name)
        for example in test.examples:
            if example.options.get(NEEDS_PANDAS) and not pandas:
                example.options[doctest.SKIP] = True
        runner.run(test)
    print(f"{runner.tries} examples, {runner.failures} failures")
    if lacking:
        print("without a docstring or its example:", ", ".join(lacking))
    # Fewer would mean that they are no longer found.
    return 1 if runner.failures or lacking or runner.tries < 120 else 0


sys.exit(main())
