"""How a typed program uses the module: mypy --strict must accept every line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import plackett


def learn(data: plackett.Dataset, impressions: int) -> plackett.Ranker:
    fold = data.folds[0]
    learner = plackett.PDGD(features=fold, learning_rate=0.1, seed=1)
    user = plackett.ClickModel("perfect", grades=data.grade_count)
    for number in range(impressions):
        query = fold.train[plackett.stream(1, 0, number, "query").below(len(fold.train))]
        impression = learner.rank(query.features)
        clicks: NDArray[np.bool_] = user.click(impression, query.labels)
        learner.learn(impression, clicks)
    return learner.ranker


def serve(url: str) -> str:
    with plackett.Client(url, token="x", timeout=2.5) as client:
        ranking = client.rank("shop", ["a", {"id": "b", "features": [1.0]}], k=3, unit="u-1")
        impression: str = ranking["impression"]
        file: bytes = client.export_model("shop")
        names: list[str] = [model["name"] for model in client.models()]
        arms = [{"name": "old", "policy": "given", "share": 0.9}, {"name": "new", "policy": "model", "share": 0.1}]
        state: str = client.start_experiment("shop", "first", arms, metric="dcg")["state"]
        names += [state, *client.what_if("shop", ["current@0"], lists=1000)]
        try:
            return client.click("shop", impression, "a")
        except plackett.ServiceError as error:
            status: int = error.status
            return f"{status} {len(file)} {names}"


def main() -> float:
    data = plackett.load("synthetic", scaling="none")
    ranker = learn(data, 10)
    means: dict[str, float] = plackett.evaluate(ranker, data.folds[0].test)
    result = plackett.simulate(data, "mgd", runs=1, impressions=10, progress=True, candidates=9)
    compared = plackett.compare([data, "synthetic:mq2008"], ["pdgd"], runs=1, impressions=10)
    pairs: list[plackett.Pair] = plackett.pairs([0.0, 1.0], [1, 0], [0, 1])
    fitted = plackett.fit([np.eye(3), (np.eye(3), 2)], learner="pdgd", learning_rate=0.2)
    tau: float = fitted.fitted.kendall_tau
    assert tau <= 1 and fitted.ranker.kind == "linear"
    loaded: plackett.MGD = plackett.MGD.load("model.plk", shown=5)
    assert loaded.shown == 5
    query = data.folds[0].train[0]
    impression = loaded.rank(query)
    weights: NDArray[np.float64] = impression.document_weights([1, 0, 0, 0, 0])
    told: dict[str, float | str] = loaded.settings
    again = plackett.compare(
        [plackett.load("synthetic", name="mine")],
        ["pdgd", "mgd"],
        baselines=["mgd"],
        labels={"pdgd": "ours"},
        out="folder",
        fresh=True,
    )
    swept = plackett.compare(data, "pdgd", sweep={"learning_rate": [0.1, 0.2]}, select="validation")
    loaded_again: plackett.Compared = plackett.load_results(["folder", "other"], baselines="mgd")
    learner: plackett.PDGD = plackett.PDGD(features=data.folds[0]).set_params(learning_rate=0.2)
    print(swept.cells[0].swept, loaded_again.cells[0].runs.metrics["MAP"], learner.get_params())
    test: plackett.TTest = again.contrasts[0].offline.paired
    print(plackett.ndcg(impression, query), weights.sum(), told, loaded.protocol, test.p)
    for cell in compared.cells:
        print(cell.label, cell.offline.mean, cell.curve.impression.shape)
    return means["NDCG@10"] + result.offline.mean + pairs[0].rho + float(ranker.parameters.sum())
