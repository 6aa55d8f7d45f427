"""Runs this folder's tests; 77, which is a skip, where pytest is missing."""

import sys

try:
    import pytest
except ImportError:
    print("pytest is missing (Debian: python3-pytest)")
    sys.exit(77)

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:], "."]))
