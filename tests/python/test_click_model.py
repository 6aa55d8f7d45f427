"""Simulated users."""

import itertools

import numpy as np
import pytest

import plackett


def test_every_name_makes_one():
    for name in plackett.click_model_names():
        user = plackett.ClickModel(name, grades=3)
        assert user.name == name and user.grades >= 3


def test_frequencies_match_the_probabilities():
    """20,000 lists, chi-square over the 8 click patterns, alpha 1e-6; other labels must fail it."""
    user = plackett.ClickModel("informational", grades=5)
    labels, ranking = [4, 0, 2], [2, 0, 1]
    seen = {pattern: 0 for pattern in itertools.product([0, 1], repeat=3)}
    rng = plackett.stream(1)
    for _ in range(20_000):
        seen[tuple(user.click(ranking, labels, rng=rng).astype(int).tolist())] += 1

    def statistic(shown_labels):
        total = 0.0
        for pattern, count in seen.items():
            expected = 20_000 * user.probability(shown_labels, pattern)
            if expected > 0:
                total += (count - expected) ** 2 / expected
            else:
                assert count == 0
        return total

    critical = 40.5  # chi-square, 7 degrees, 1e-6
    assert statistic([2, 4, 0]) < critical < statistic([4, 2, 0])


def test_clicks_are_a_function_of_the_seed():
    user = plackett.ClickModel("random", grades=5)
    labels = [0] * 30
    first = user.click(range(30), labels, seed=1)
    assert first.dtype == np.bool_
    assert np.array_equal(first, user.click(np.arange(30), labels, seed=1))
    assert not np.array_equal(first, user.click(range(30), labels, seed=2))


def test_documents_need_a_seed_or_an_rng(rows):
    """Otherwise every list would get the same draws. An impression has its own stream."""
    user = plackett.ClickModel("random", grades=5)
    labels = [0] * 30
    with pytest.raises(plackett.BadType, match="seed, rng: neither; give one of them"):
        user.click(range(30), labels)
    with pytest.raises(plackett.BadType, match="seed, rng: both; give one of them"):
        user.click(range(30), labels, seed=1, rng=plackett.stream(1))
    rng = plackett.stream(1)
    assert len({tuple(user.click(range(30), labels, rng=rng)) for _ in range(20)}) == 20
    impression = plackett.PDGD(features=5).rank(rows)
    own = user.click(impression, [0] * 8)
    assert np.array_equal(own, user.click(impression, [0] * 8))
    assert np.array_equal(own, user.click(impression, [0] * 8, rng=plackett.stream(1, 0, 0, "clicks")))
    with pytest.raises(plackett.BadType, match="seed, rng: both"):
        user.click(impression, [0] * 8, seed=1, rng=rng)


def test_a_toml_file_makes_one(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('kind = "cascade"\nname = "mine"\nclick = [0.0, 1.0]\nstop = [0.0, 0.0]\n')
    user = plackett.ClickModel(str(file), grades=2)
    assert user.name == "mine"
    assert user.click([0, 1, 2], [1, 0, 1], seed=1).tolist() == [True, False, True]
    with pytest.raises(FileNotFoundError):
        plackett.ClickModel(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "call, error, said",
    [
        (lambda user: user.click([0, 3], [1, 0, 1], seed=1), ValueError, "document 3; documents are 0 to 2"),
        (lambda user: user.click([0, 0], [1, 0, 1], seed=1), ValueError, "document 0 appears twice"),
        (lambda user: user.click([-1], [1, 0, 1], seed=1), ValueError, "ranking: -1 at 0"),
        (lambda user: user.click([0.5], [1, 0, 1], seed=1), ValueError, "ranking: 0.5 at 0"),
        (lambda user: user.click([[0]], [1, 0, 1], seed=1), ValueError, "ranking: shape"),
        (lambda user: user.click([0], [3, 0, 1], seed=1), ValueError, "labels: 3; .* know labels 0 to 2"),
        (lambda user: user.click([0], [1], rng=3), TypeError, "rng: 3; expected a plackett.Rng"),
        (lambda user: user.click([0], [1], seed="x"), TypeError, "seed: 'x'"),
        (lambda user: user.probability([1, 2], [1]), ValueError, "clicks: 1 for 2 labels"),
    ],
)
def test_wrong_lists_are_refused(call, error, said):
    with pytest.raises(error, match=said):
        call(plackett.ClickModel("perfect", grades=3))


def test_labels_of_another_query_are_refused(rows):
    impression = plackett.PDGD(features=5).rank(rows)
    with pytest.raises(ValueError, match="labels: 7 for 8 documents"):
        plackett.ClickModel("perfect").click(impression, [0] * 7)


def test_wrong_users_are_refused():
    with pytest.raises(ValueError, match='unknown click model "angry"; known: perfect'):
        plackett.ClickModel("angry")
    with pytest.raises(ValueError, match="for 4 grades"):
        plackett.ClickModel("perfect", grades=4)
    with pytest.raises(ValueError, match="eta"):
        plackett.ClickModel("position-based", eta=-1)
