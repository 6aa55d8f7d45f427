import numpy as np
import pytest

import plackett


@pytest.fixture(scope="session")
def data():
    return plackett.load("synthetic")


@pytest.fixture(scope="session")
def fold(data):
    return data.folds[0]


@pytest.fixture
def rows():
    """Eight documents of five features; a new array for each test."""
    return np.random.default_rng(1).random((8, 5)).astype(np.float32)
