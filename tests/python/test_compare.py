"""Comparisons: cells, tests, reports, folders that continue."""

import pickle

import numpy as np
import pytest

import plackett

SPEC = {"methods": ["dbgd", "pdgd"], "click_models": ["perfect", "random"]}
SIZE = {"runs": 5, "impressions": 300}


def test_cells_are_those_of_simulate(data):
    result = plackett.compare(data, **SPEC, **SIZE, seed=3)
    assert [(cell.method, cell.click_model) for cell in result.cells] == [
        ("dbgd", "perfect"),
        ("pdgd", "perfect"),
        ("dbgd", "random"),
        ("pdgd", "random"),
    ]
    alone = plackett.simulate(data, "pdgd", click_model="random", **SIZE, seed=3)
    assert np.array_equal(result.cells[3].runs.offline, alone.runs.offline)
    assert result.cells[3].offline == alone.offline
    assert not np.array_equal(result.cells[1].runs.offline, alone.runs.offline)


def test_a_folder_is_of_one_kind_of_curve(tmp_path):
    spec = {"runs": 2, "impressions": 50, "out": tmp_path / "a"}
    result = plackett.compare("synthetic", "pdgd", "perfect", curve="final", **spec)
    assert result.cells[0].runs.offline.shape == (2, 1)
    assert "<img" not in result._repr_html_()
    assert plackett.load_results(tmp_path / "a").cells[0].curve.impression.tolist() == [50]
    with pytest.raises(plackett.Error, match="its runs are made with curve final, not whole"):
        plackett.compare("synthetic", "pdgd", "perfect", **spec)
    with pytest.raises(ValueError, match="curve: a list; all cells have the same"):
        plackett.compare("synthetic", "pdgd", "perfect", sweep={"curve": ["whole", "final"]})


def test_contrasts_are_t_tests(data):
    result = plackett.compare(data, **SPEC, **SIZE)
    contrast = result.contrasts[0]
    assert contrast.baseline is result.cells[0] and contrast.cell is result.cells[1]
    mine = contrast.cell.runs.offline[:, -1]
    theirs = contrast.baseline.runs.offline[:, -1]
    spread = np.sqrt(mine.var(ddof=1) / len(mine) + theirs.var(ddof=1) / len(theirs))
    assert contrast.offline.welch.t == pytest.approx((mine.mean() - theirs.mean()) / spread)
    assert contrast.offline.student.degrees == 8
    assert 0 <= contrast.online.welch.p <= 1
    assert contrast.offline.paired.difference == pytest.approx((mine - theirs).mean())
    assert contrast.offline.paired.degrees == 4


QUANTILE_PRECISION = 1e-8  # of SciPy 1.10; at 6 degrees of freedom it is off by 1e-9


def test_contrasts_are_those_of_scipy(data):
    stats = pytest.importorskip("scipy.stats")
    methods = ["dbgd", "pairwise", "pdgd", "pdgd:learning-rate=0.2"]
    result = plackett.compare(data, methods, ["perfect", "random"], runs=7, impressions=200)
    assert len(result.contrasts) == 2 * (2 * 2 + 2)
    family = {name: [] for name in plackett.MeasureTests._fields}
    for contrast in result.contrasts:
        for measure in ("offline", "online"):
            one = getattr(contrast.cell.runs, measure)[:, -1]
            other = getattr(contrast.baseline.runs, measure)[:, -1]
            expected = {
                "paired": stats.ttest_rel(one, other),
                "welch": stats.ttest_ind(one, other, equal_var=False),
                "student": stats.ttest_ind(one, other),
            }
            for name, found in getattr(contrast, measure)._asdict().items():
                assert found.t == pytest.approx(expected[name].statistic, rel=1e-9)
                assert found.p == pytest.approx(expected[name].pvalue, rel=1e-9)
                assert found.difference == pytest.approx(one.mean() - other.mean(), rel=1e-9)
                width = stats.t.ppf(0.975, found.degrees) * found.difference / found.t
                assert found.half_width == pytest.approx(width, rel=QUANTILE_PRECISION)
                if not contrast.cell.baseline:
                    family[name].append(found)
            low, high = expected["paired"].confidence_interval(0.95)
            half_width = getattr(contrast, measure).paired.half_width
            assert half_width == pytest.approx((high - low) / 2, rel=QUANTILE_PRECISION)
    for tests in family.values():
        assert len(tests) == 2 * 2 * 2 * 2
        largest = 0
        for rank, test in enumerate(sorted(tests, key=lambda each: each.p)):
            largest = max(largest, min(1, (len(tests) - rank) * test.p))
            assert test.holm == pytest.approx(largest, rel=1e-12)



def test_a_group_stands_for_its_methods(data):
    field = plackett.compare(data, ["field"], "perfect", runs=1, impressions=2)
    labels = [cell.label for cell in field.cells]
    assert "COLTR (linear)" in labels and "DBGD (linear, projection documents)" in labels
    assert len(labels) == 12
    with pytest.raises(ValueError, match="a group of methods has no label"):
        plackett.compare(data, ["field"], "perfect", labels={"field": "all"}, runs=1, impressions=2)


def test_the_report_goes_by_the_test_asked_for(data, tmp_path):
    plackett.compare(data, **SPEC, **SIZE).report(tmp_path / "paired")
    assert "paired t-test, two-tailed" in (tmp_path / "paired" / "tables.md").read_text()
    plackett.compare(data, **SPEC, **SIZE, test="welch").report(tmp_path / "welch")
    assert "Welch's t-test, two-tailed" in (tmp_path / "welch" / "tables.md").read_text()
    with pytest.raises(ValueError, match='test: unknown t-test "z"; known: paired, welch, student'):
        plackett.compare(data, **SPEC, **SIZE, test="z")


def test_the_report_is_written(data, tmp_path):
    result = plackett.compare(data, ["pdgd"], ["perfect"], runs=2, impressions=100, title="Mine")
    assert result.title == "Mine"
    result.report(tmp_path / "report")
    assert "Mine" in (tmp_path / "report" / "report.html").read_text()
    table = (tmp_path / "report" / "tables.md").read_text()
    assert f"{result.cells[0].offline.mean:.3f}" in table


def test_to_dataframe(data):
    pytest.importorskip("pandas")
    frame = plackett.compare(data, **SPEC, runs=2, impressions=100).to_dataframe()
    assert list(frame["method"]) == ["dbgd", "pdgd"] * 2
    assert frame["offline_mean"].between(0, 1).all()


def test_cells_have_dataframes(data):
    pytest.importorskip("pandas")
    cell = plackett.compare(data, ["pdgd"], ["perfect"], runs=2, impressions=100).cells[0]
    assert list(cell.to_dataframe()["offline_mean"]) == cell.curve.offline_mean.tolist()


class Enough(Exception):
    pass


def test_a_folder_continues_after_an_interruption(tmp_path):
    """Resumed, progress starts at what the folder holds, and only the rest is run."""

    def stop_halfway(done, total):
        if done > total / 3:
            raise Enough

    size = {"runs": 6, "impressions": 40_000, "threads": 1}
    spec = {"methods": ["pdgd"], "click_models": ["perfect", "random"]}
    with pytest.raises(Enough):
        plackett.compare("synthetic", **spec, **size, out=tmp_path, progress=stop_halfway)
    header, *kept = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert 3 <= len(kept) < 12 and '"run"' not in header
    told = []
    result = plackett.compare(
        "synthetic", **spec, **size, out=tmp_path, progress=lambda done, total: told.append(done)
    )
    first = min(done for done in told if done > 0)
    assert len(kept) * 40_000 <= first < 480_000
    assert told == sorted(told) and told[-1] == 480_000
    assert set(kept) < set((tmp_path / "runs.jsonl").read_text().splitlines())
    straight = plackett.compare("synthetic", **spec, **size)
    for ours, theirs in zip(result.cells, straight.cells):
        assert np.array_equal(ours.runs.offline, theirs.runs.offline)
        assert len(ours.runs) == 6
    assert (tmp_path / "report.html").exists()


def test_a_finished_folder_runs_nothing_again(tmp_path):
    size = {"methods": ["pdgd"], "click_models": ["perfect"], "runs": 2, "impressions": 30_000}
    first = plackett.compare("synthetic", **size, out=tmp_path)
    told = []
    again = plackett.compare(
        "synthetic", **size, out=tmp_path, progress=lambda done, total: told.append(done)
    )
    assert set(told) == {60_000}
    assert np.array_equal(first.cells[0].runs.online, again.cells[0].runs.online)


def test_a_folder_can_start_fresh(tmp_path):
    size = {"methods": ["pdgd"], "click_models": ["perfect"], "runs": 2}
    plackett.compare("synthetic", **size, impressions=100, out=tmp_path)
    grown = plackett.compare("synthetic", **size, impressions=200, out=tmp_path)
    assert [cell.impressions for cell in grown.cells] == [100, 200]
    other = plackett.load("synthetic", scaling="none")
    with pytest.raises(plackett.BadValue, match="are made with scaling query-minmax") as caught:
        plackett.compare(other, **size, impressions=100, out=tmp_path)
    assert "out=" in str(caught.value) and "fresh=True" in str(caught.value)
    assert "--" not in str(caught.value)
    result = plackett.compare(other, **size, impressions=200, out=tmp_path, fresh=True)
    assert [cell.impressions for cell in result.cells] == [200]
    with pytest.raises(plackett.BadValue, match="fresh: True; it needs a folder"):
        plackett.compare("synthetic", **size, impressions=200, fresh=True)


def test_baselines_and_labels_are_chosen(data):
    methods = ["pdgd", "pdgd:learning_rate=0.3", "mgd"]
    size = {"click_models": ["perfect"], "runs": 2, "impressions": 50}
    result = plackett.compare(
        data, methods, baselines="pdgd", labels={"pdgd:learning_rate=0.3": "bold"}, **size
    )
    assert [cell.label for cell in result.cells] == ["PDGD (linear)", "bold", "MGD (linear)"]
    assert [cell.baseline for cell in result.cells] == [True, False, False]
    assert [(one.cell.label, one.baseline.label) for one in result.contrasts] == [
        ("bold", "PDGD (linear)"),
        ("MGD (linear)", "PDGD (linear)"),
    ]
    plain = plackett.compare(data, methods, **size)
    assert [cell.baseline for cell in plain.cells] == [False, False, True]
    none = plackett.compare(data, methods, baselines=[], **size)
    assert none.contrasts == []


def test_a_single_run_has_no_deviation(data):
    cell = plackett.simulate(data, runs=1, impressions=50)
    assert cell.offline.mean > 0 and np.isnan(cell.offline.std) and np.isnan(cell.online.std)
    assert np.isnan(cell.curve.offline_std).all()
    assert "(–)" in str(cell) and "nan" not in cell._repr_html_().split("base64")[0]


@pytest.mark.parametrize("method", ["pdgd:learning_rate=0.3", "pdgd:learning-rate=0.3"])
def test_baselines_are_methods_or_labels_in_memory_and_in_folders(method, data, tmp_path):
    methods = ["pdgd", method, "mgd"]
    size = {"click_models": ["perfect"], "runs": 2, "impressions": 50}
    for baselines, expected in (
        ("PDGD (linear)", [True, False, False]),
        (method, [False, True, False]),
        (["bold", "mgd"], [False, True, True]),
    ):
        chosen = {"baselines": baselines, "labels": {method: "bold"}}
        for out in (None, tmp_path / str(baselines)[:6]):
            result = plackett.compare("synthetic" if out else data, methods, **chosen, **size, out=out)
            assert [cell.baseline for cell in result.cells] == expected
        again = plackett.load_results(out, baselines=baselines)
        assert [cell.baseline for cell in again.cells] == expected


@pytest.mark.parametrize("method", ["pdgd:learning_rate=0.3", "pdgd:learning-rate=0.3"])
def test_settings_are_written_either_way(method, data):
    spec = {"runs": 2, "impressions": 50}
    by_keyword = plackett.simulate(data, "pdgd", learning_rate=0.3, **spec)
    assert plackett.simulate(data, method, **spec).offline == by_keyword.offline
    assert plackett.compare(data, [method], ["perfect"], **spec).cells[0].offline == by_keyword.offline
    assert plackett.simulate(data, "pdgd", **spec).offline != by_keyword.offline


LETOR = "2 qid:1 1:0.5 2:1\n0 qid:1 1:0.1 2:3\n"


def test_a_path_is_loaded_once_and_under_its_own_name(tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("train.txt", "test.txt"):
        (folder / name).write_text(LETOR)
    size = {"methods": ["pdgd"], "click_models": ["perfect"], "runs": 2, "impressions": 20}
    expected = plackett.load(folder).name
    straight = plackett.compare(folder, **size)
    monkeypatch.setattr("plackett._engine.load", None)  # the engine's own loading is another
    for where in (folder, str(folder) + "/", "synthetic"):
        result = plackett.compare(where, **size, out=tmp_path / "out", fresh=True)
        assert result.cells[0].dataset == ("synthetic" if where == "synthetic" else expected)
        if where != "synthetic":
            assert result.cells[0].offline == straight.cells[0].offline
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        plackett.compare(tmp_path / "nowhere", **size, out=tmp_path / "out")


def test_data_is_named(tmp_path):
    size = {"methods": ["pdgd"], "click_models": ["perfect"], "runs": 1, "impressions": 20}
    twice = [plackett.load("synthetic"), plackett.load("synthetic", scaling="none")]
    with pytest.raises(plackett.BadValue, match=r'two .* "synthetic"; .*\(load\(\.\.\., name=\)\)'):
        plackett.compare(twice, **size)
    named = [twice[0], plackett.load("synthetic", scaling="none", name="raw")]
    assert named[1].name == "raw"
    for options in ({}, {"out": tmp_path}):
        cells = plackett.compare(named, **size, **options).cells
        assert [cell.dataset for cell in cells] == ["synthetic", "raw"]
    with pytest.raises(plackett.BadValue, match="name: ''; must not be empty"):
        plackett.load("synthetic", name="")
    with pytest.raises(plackett.BadType, match="name: 3; expected a str"):
        plackett.load("synthetic", name=3)


def test_cells_and_contrasts_are_pickled_and_the_whole_is_not(data):
    result = plackett.compare(data, **SPEC, runs=2, impressions=100)
    cells, contrasts = pickle.loads(pickle.dumps((result.cells, result.contrasts)))
    assert cells[1].offline == result.cells[1].offline and contrasts[0].cell is cells[1]
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(result)


def test_results_are_equal_only_to_themselves(data):
    """Comparing field by field would need the truth value of an array."""
    first, second = (plackett.compare(data, ["pdgd"], ["perfect"], runs=2, impressions=100) for _ in "ab")
    assert first == first and first.cells[0] in first.cells
    assert first.cells[0] != second.cells[0] and first.cells[0].curve != second.cells[0].curve
    assert len({first.cells[0], second.cells[0]}) == 2
    assert first.cells[0].offline == second.cells[0].offline


def test_arrays_have_no_folder(fold, tmp_path):
    part = (fold.train.features, fold.train.labels, fold.train.query_begin)
    mine = plackett.Dataset.from_arrays(train=part, test=part)
    assert plackett.compare(mine, ["pdgd"], ["perfect"], runs=1, impressions=50).cells
    with pytest.raises(ValueError, match="out: arrays is made from arrays"):
        plackett.compare(mine, ["pdgd"], ["perfect"], runs=1, impressions=50, out=tmp_path)


@pytest.mark.parametrize(
    "arguments, error, said",
    [
        ({"methods": []}, ValueError, "method"),
        ({"methods": ["sgd"]}, ValueError, "sgd"),
        ({"methods": [3]}, TypeError, "methods: 3; expected a str"),
        ({"methods": [["pdgd"]]}, TypeError, r"methods: \['pdgd'\]; expected a str"),
        ({"methods": ["pdgd", "pdgd"]}, ValueError, "pdgd"),
        ({"click_models": ["angry"]}, ValueError, "angry"),
        ({"runs": 0}, ValueError, "runs: 0"),
        ({"hidden": 8}, ValueError, r"hidden: \(8,\); a linear ranker has none"),
        ({"baselines": ["mgd"]}, ValueError, 'baselines: no method "mgd"; there are pdgd'),
        ({"baselines": 3}, TypeError, "baselines: 3"),
        ({"labels": {"mgd": "x"}}, ValueError, "labels: 'mgd'; expected one of the methods"),
        ({"labels": {"pdgd": 3}}, TypeError, "labels: 3; expected a str"),
        ({"labels": ["x"]}, TypeError, r"labels: \['x'\]; expected a dict"),
        ({"fresh": "yes"}, TypeError, "fresh: 'yes'; expected True or False"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, said, data):
    spec = {"methods": ["pdgd"], "click_models": ["perfect"], "runs": 1, "impressions": 20}
    with pytest.raises(error, match=said):
        plackett.compare(data, **{**spec, **arguments})


def test_hidden_layers_are_those_of_the_networks(data):
    size = {"click_models": ["perfect"], "runs": 1, "impressions": 20}
    cells = plackett.compare(data, ["pdgd", "pdgd:neural"], hidden=8, **size).cells
    alone = plackett.simulate(data, "pdgd:neural", hidden=8, runs=1, impressions=20)
    assert np.array_equal(cells[1].runs.offline, alone.runs.offline)


def test_several_datasets_are_compared(data):
    result = plackett.compare(
        [data, "synthetic:mq2008"], ["pdgd"], ["perfect"], runs=1, impressions=20
    )
    assert [cell.dataset for cell in result.cells] == ["synthetic", "synthetic:mq2008"]


def test_drift_is_what_a_spec_file_has(data, tmp_path):
    drift = [{"of": "labels", "at": 60, "pace": "linear", "over": 20},
             {"of": "users", "at": 80, "click_model": "informational"}]
    size = {"runs": 1, "impressions": 100, "seed": 3}
    still = plackett.compare(data, "pdgd", "perfect", **size)
    drifting = plackett.compare(data, "pdgd", "perfect", drift=drift, **size)
    assert "labels at=60 over=20 change=intents; users at=80" in str(drifting)
    assert "Under drift" not in str(still)
    assert still.cells[0].online.mean != drifting.cells[0].online.mean


@pytest.mark.parametrize(
    "drift, said",
    [
        ([{"of": "moods", "at": 5}], 'unknown drift "moods"; known: labels, users'),
        ([{"of": "labels", "at": 100}], "drift 1: at 100; a run of 100 impressions"),
        ([{"of": "labels"}], "a drift without the key at"),
        ([{"of": "features", "at": 5, "dies": [9999]}], "has no feature 9999"),
    ],
)
def test_drift_that_cannot_be_is_refused(data, drift, said):
    with pytest.raises(plackett.BadValue, match=said):
        plackett.compare(data, "pdgd", "perfect", runs=1, impressions=100, drift=drift)


@pytest.mark.parametrize("drift", [3, ["labels"], [{1: 2}], [{"of": object()}]])
def test_drift_of_the_wrong_type_is_refused(data, drift):
    with pytest.raises(plackett.BadType, match="drift"):
        plackett.compare(data, "pdgd", "perfect", runs=1, impressions=100, drift=drift)
