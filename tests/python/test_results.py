"""Folders of results as Python objects, data frames, tables and pictures."""

import base64
import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import plackett

SWEPT = {
    "methods": ["dbgd", "pdgd"],
    "click_models": ["perfect", "random"],
    "runs": 3,
    "impressions": 60,
    "sweep": {"learning_rate": [0.01, 0.1], "ranker": ["linear", "neural"]},
}


def cells_by_setting(compared):
    return [(one.method, one.click_model, one.ranker_kind, dict(one.swept)) for one in compared.cells]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of a finished comparison with swept settings and a further metric."""
    folder = tmp_path_factory.mktemp("results")
    plackett.compare("synthetic", **SWEPT, metrics="MAP", out=folder)
    return folder


def test_each_swept_value_gives_cells(data):
    result = plackett.compare(data, **SWEPT)
    assert len(result.cells) == 2 * 2 * 2 * 2
    last = result.cells[-1]
    assert (last.method, last.ranker_kind) == ("pdgd", "neural")
    assert last.swept == {"learning_rate": 0.1, "ranker": "neural"}
    alone = plackett.simulate(
        data, "pdgd", ranker="neural", click_model="random", learning_rate=0.1, runs=3, impressions=60
    )
    assert np.array_equal(last.runs.offline, alone.runs.offline)


def test_progress_counts_what_is_swept(data):
    calls = []
    sweep = {"impressions": [50, 200], "learning_rate": [0.01, 0.1, 0.2]}
    plackett.compare(
        data, ["dbgd", "pdgd"], "perfect", runs=2, sweep=sweep, progress=lambda *now: calls.append(now)
    )
    assert calls[-1] == (2 * 2 * 3 * (50 + 200),) * 2


def test_each_fold_selects_what_was_best_on_its_validation_queries():
    size = {"runs": 10, "impressions": 200, "sweep": {"learning_rate": [1e-6, 0.1]}}
    data = "synthetic:mq2008"
    every = plackett.compare(data, "pdgd", "perfect", **size)
    validated = plackett.compare(data, "pdgd", "perfect", **size, split="validation")
    chosen = plackett.compare(data, "pdgd", "perfect", **size, select="validation")
    assert len(every.cells) == 2 and np.isnan(every.cells[0].runs.validation).all()
    (cell,) = chosen.cells
    wins = [0, 0]
    for fold in range(5):
        of_fold = cell.runs.fold == fold
        best = int(np.argmax([one.runs.offline[of_fold, -1].mean() for one in validated.cells]))
        wins[best] += 1
        assert np.array_equal(cell.runs.offline[of_fold], every.cells[best].runs.offline[of_fold])
        assert np.array_equal(
            cell.runs.validation[of_fold], validated.cells[best].runs.offline[of_fold, -1]
        )
    assert min(wins) > 0  # otherwise this test says nothing
    counts = sorted(zip(wins, ("1e-06", "0.1")), reverse=True)
    assert cell.swept == {"learning_rate": "{1} in {0} folds, {3} in {2}".format(*counts[0], *counts[1])}


@pytest.mark.parametrize(
    "wrong, error, said",
    [
        ({"sweep": {"learning_rat": [1]}}, ValueError, 'sweep: "learning-rat" is neither an option nor'),
        ({"sweep": {"learning_rate": "0.1"}}, TypeError, "sweep: learning_rate: '0.1'; expected several"),
        ({"sweep": {"learning_rate": 0.1}}, TypeError, "sweep: learning_rate: 0.1; expected several"),
        ({"sweep": {"learning_rate": []}}, ValueError, "sweep: learning-rate: no values"),
        ({"sweep": {"learning_rate": [[]]}}, TypeError, r"sweep: learning_rate: \[\]; expected a number"),
        ({"sweep": {"hidden": [32, 64]}}, ValueError, "sweep: hidden: applies to none of the methods"),
        ({"sweep": {"impressions": [0, 5]}}, ValueError, "sweep: impressions: 0; expected an integer"),
        ({"sweep": {"runs": [1, 2]}}, ValueError, "sweep: runs: a list"),
        ({"sweep": [1]}, TypeError, r"sweep: \[1\]; expected a dict"),
        ({"select": "test"}, ValueError, "select: 'test'; expected \"validation\" or None"),
        ({"metrics": ["NDCG@11"]}, ValueError, 'metrics: "NDCG@11"; expected some of'),
        ({"metrics": 3}, TypeError, "metrics: 3; expected a str or several"),
        ({"split": "train"}, ValueError, 'split: "train"; expected test or validation'),
        ({"learning_rate_decay": -1}, ValueError, "learning_rate_decay: -1"),
    ],
)
def test_wrong_sweeps_are_refused(wrong, error, said, data):
    with pytest.raises(error, match=said):
        plackett.compare(data, "pdgd", "perfect", runs=1, impressions=10, **wrong)


def test_runs_of_one_cell_may_differ_in_their_metrics(tmp_path):
    for name, settings in {"rich": {"runs": 1, "metrics": "MAP"}, "poor": {"runs": 2}}.items():
        plackett.compare("synthetic", "pdgd", "perfect", impressions=10, out=tmp_path / name, **settings)
    (cell,) = plackett.load_results([tmp_path / "rich", tmp_path / "poor"]).cells
    assert cell.runs.run.tolist() == [0, 1] and not cell.runs.metrics
    (rich,) = plackett.load_results([tmp_path / "poor", tmp_path / "rich"]).cells
    assert np.array_equal(rich.runs.offline, cell.runs.offline)


def test_validation_queries_and_further_metrics_are_measured():
    data = plackett.load("synthetic:mq2008")
    size = {"runs": 2, "impressions": 100, "metrics": ["MAP", "NDCG@5"]}
    on_test = plackett.simulate(data, **size)
    assert set(on_test.runs.metrics) == {"MAP", "NDCG@5"}
    fold = data.folds[0]
    ends = plackett.evaluate(on_test.learner, fold.test)
    assert on_test.runs.metrics["MAP"][0, -1] == pytest.approx(ends["MAP"], abs=1e-12)
    on_validation = plackett.simulate(data, **size, split="validation")
    ends = plackett.evaluate(on_validation.learner, fold.validation)
    assert on_validation.runs.metrics["NDCG@5"][0, -1] == pytest.approx(ends["NDCG@5"], abs=1e-12)
    assert not np.array_equal(on_test.runs.offline, on_validation.runs.offline)
    decayed = plackett.simulate(data, runs=2, impressions=100, learning_rate_decay=0.9)
    assert decayed.learner.learning_rate < 0.1 * 0.9**50


def test_a_folder_gives_what_compare_gave(folder, data):
    loaded = plackett.load_results(folder)
    made = plackett.compare(data, **SWEPT, metrics="MAP")
    assert type(loaded) is plackett.Compared and loaded.title == made.title
    assert cells_by_setting(loaded) == cells_by_setting(made)
    for one, other in zip(loaded.cells, made.cells):
        assert np.array_equal(one.runs.offline, other.runs.offline)
        assert np.array_equal(one.runs.metrics["MAP"], other.runs.metrics["MAP"])
    for one, other in zip(loaded.contrasts, made.contrasts):
        assert np.array_equal(one.offline, other.offline, equal_nan=True)
        assert np.array_equal(one.metrics["MAP"], other.metrics["MAP"], equal_nan=True)
        ends = [cell.runs.metrics["MAP"][:, -1].mean() for cell in (one.cell, one.baseline)]
        assert one.metrics["MAP"].paired.difference == pytest.approx(ends[0] - ends[1], abs=1e-12)
    assert str(loaded) == str(made)


def test_an_unfinished_folder_is_loaded(tmp_path):
    class Enough(Exception):
        pass

    def stop(done, total):
        if done > 500:
            raise Enough

    spec = {"methods": ["dbgd", "pdgd"], "click_models": "perfect", "impressions": 400}
    with pytest.raises(Enough):
        plackett.compare("synthetic", **spec, runs=100, out=tmp_path, progress=stop)
    part = plackett.load_results(tmp_path)
    runs = [len(cell.runs) for cell in part.cells]
    assert 0 < sum(runs) < 200
    cell = part.cells[0]
    whole = plackett.simulate("synthetic", cell.method, runs=int(cell.runs.run[-1]) + 1, impressions=400)
    assert np.array_equal(cell.runs.offline, whole.runs.offline[cell.runs.run])


def test_several_folders_are_one_comparison(tmp_path, data):
    size = {"click_models": "perfect", "impressions": 100}
    few, more, other = (tmp_path / name for name in ("few", "more", "other"))
    plackett.compare("synthetic", "pdgd", runs=2, out=few, **size)
    plackett.compare("synthetic", "pdgd", runs=4, out=more, **size)
    plackett.compare("synthetic", "dbgd", runs=4, out=other, **size)
    both = plackett.load_results([few, more, str(other)])
    assert [(cell.method, len(cell.runs)) for cell in both.cells] == [("pdgd", 4), ("dbgd", 4)]
    direct = plackett.compare(data, ["pdgd", "dbgd"], runs=4, **size)
    assert both.contrasts[0].offline == direct.contrasts[0].offline
    turned = plackett.load_results([more, other], baselines="pdgd", test="welch")
    assert [one.cell.method for one in turned.contrasts] == ["dbgd"]
    assert "Welch" in str(turned) and "Welch" not in str(both)


def test_folders_that_contradict_each_other_are_refused(tmp_path):
    lines = {"one": "2 qid:1 1:0.5\n0 qid:1 1:0.1\n", "two": "0 qid:1 1:0.5\n2 qid:1 1:0.1\n"}
    for name, text in lines.items():
        letor = tmp_path / name / "data"
        letor.mkdir(parents=True)
        for split in ("train.txt", "test.txt"):
            (letor / split).write_text(text)
        plackett.compare(letor, "pdgd", "perfect", runs=1, impressions=5, out=tmp_path / f"of {name}")
    with pytest.raises(plackett.BadValue, match='of two: made from data "data" '):
        plackett.load_results([tmp_path / "of one", tmp_path / "of two"])


def test_what_is_no_folder_of_results_is_refused(tmp_path):
    with pytest.raises(plackett.MissingFile, match="folders: .*no results; plackett compare makes"):
        plackett.load_results(tmp_path)
    with pytest.raises(plackett.BadType, match="folders: 3; expected a str or several"):
        plackett.load_results(3)
    with pytest.raises(plackett.BadValue, match="folders: none; expected at least one"):
        plackett.load_results([])


def test_wrong_baselines_and_tests_of_a_folder_are_refused(folder):
    with pytest.raises(plackett.BadValue, match='baselines: no method "mgd"; there are'):
        plackett.load_results(folder, baselines="mgd")
    with pytest.raises(plackett.BadValue, match="test: .*z"):
        plackett.load_results(folder, test="z")


def test_data_frames_are_tidy(folder):
    pandas = pytest.importorskip("pandas")
    result = plackett.load_results(folder)
    runs = result.runs_dataframe()
    assert len(runs) == len(result.cells) * 3
    assert list(runs) == [
        "dataset", "click_model", "label", "method", "ranker", "protocol", "impressions", "seed",
        "learning_rate", "run", "fold", "offline", "online", "MAP", "validation", "seconds",
    ]  # fmt: skip
    assert runs["learning_rate"].dtype == np.float64 and set(runs["learning_rate"]) == {0.01, 0.1}
    cell = result.cells[5]
    mine = runs[(runs.label == cell.label) & (runs.click_model == cell.click_model)]
    assert np.array_equal(mine["offline"], cell.runs.offline[:, -1])
    assert np.array_equal(mine["MAP"], cell.runs.metrics["MAP"][:, -1])
    curves = result.curves_dataframe()
    points = len(cell.curve.impression)
    assert len(curves) == len(runs) * points
    mean = curves.groupby(["click_model", "label", "impression"])["offline"].mean()
    assert np.allclose(mean[cell.click_model, cell.label], cell.curve.offline_mean)
    one = curves[(curves.label == cell.label) & (curves.click_model == cell.click_model)]
    assert np.array_equal(one[one.run == 2]["online"], cell.runs.online[2])
    assert isinstance(result.to_dataframe(), pandas.DataFrame)


def test_cells_that_differ_in_what_they_have_are_in_one_frame(data):
    pytest.importorskip("pandas")
    sweep = {"hidden": [8, 16]}
    result = plackett.compare(data, ["pdgd", "pdgd:neural"], "perfect", runs=2, impressions=20, sweep=sweep)
    hidden = result.runs_dataframe()["hidden"]
    assert hidden[:2].isna().all() and set(hidden[2:]) == {8, 16}


@pytest.mark.parametrize("name", ["to_dataframe", "runs_dataframe", "curves_dataframe"])
def test_without_pandas_the_error_is_ours(name, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    result = plackett.compare(data, "pdgd", "perfect", runs=1, impressions=10)
    said = rf"{name}\(\) needs pandas \(Debian: python3-pandas\)"
    with pytest.raises(plackett.MissingModule, match=said):
        getattr(result, name)()
    with pytest.raises(ImportError):
        getattr(result, name)()


def test_printed_it_is_a_table(folder):
    text = str(plackett.load_results(folder))
    assert "PDGD" in text and "NDCG@10" in text and "0.01" in text
    assert max(map(len, text.splitlines())) <= 80


def pictures(html):
    """The SVG documents in a page, parsed."""
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    return [ElementTree.fromstring(base64.b64decode(one)) for one in found]


HOSTILE = '<script>alert("&")</script>'


def test_notebooks_show_tables_and_curves(data):
    result = plackett.compare(
        data, ["dbgd", "pdgd"], "perfect", runs=2, impressions=100, labels={"pdgd": HOSTILE}, title=HOSTILE
    )
    for shown in (result, result.cells[1], plackett.simulate(data, runs=2, impressions=100)):
        html = shown._repr_html_()
        assert "<table>" in html and "<script" not in html
        assert len(pictures(html)) == 1
        assert "color" not in re.sub("base64,[^\"]+", "", html)  # the page's own, light or dark
    whole = result._repr_html_()
    assert whole.count("<tr>") == 4 and "&lt;script&gt;" in whole
    assert f"{result.cells[1].offline.mean:.3f}" in whole


def test_notebooks_show_data_rankers_and_learners(fold):
    part = (np.eye(3, dtype=np.float32), [0, 1, 2], [5, 5, 6])
    small = plackett.Dataset.from_arrays(train=part, test=part, name=HOSTILE)
    for shown in (small, small.folds[0]):
        html = shown._repr_html_()
        assert "<script" not in html and "2 (3)" in html and "none" in html
    learner = plackett.PDGD(features=fold)
    parameters = np.zeros(42)
    parameters[7] = -2.5
    learner.ranker.parameters = parameters
    for shown in (learner, learner.ranker):
        html = shown._repr_html_()
        assert "-2.5000" in html and html.index("-2.5") < html.index("+0.0")
        assert f">{fold.feature_ids[7]}<" in html
    network = plackett.Ranker("neural", features=3, hidden=(8, 4))._repr_html_()
    assert "8, 4" in network and "sigmoid" in network
