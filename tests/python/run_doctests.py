"""Runs the examples in the docstrings of everything that is public, the extension's too."""

import doctest
import inspect
import sys

import plackett


def documented():
    """(name, docstring) of the package, its public names and their own members."""
    yield "plackett", plackett.__doc__
    for name in plackett.__all__:
        value = getattr(plackett, name)
        yield f"plackett.{name}", value.__doc__
        if inspect.isclass(value):
            for member, inner in vars(value).items():
                yield f"plackett.{name}.{member}", getattr(inner, "__doc__", None)


def main():
    runner = doctest.DocTestRunner()
    parser = doctest.DocTestParser()
    undocumented = [name for name, text in documented() if name.count(".") == 1 and not text]
    for name, text in documented():
        if text:
            runner.run(parser.get_doctest(text, {}, name, None, 0))
    print(f"{runner.tries} examples, {runner.failures} failures")
    if undocumented:
        print("without a docstring:", ", ".join(undocumented))
    # Fewer would mean that they are no longer found.
    return 1 if runner.failures or undocumented or runner.tries < 50 else 0


sys.exit(main())
