"""A PyTorch ranker that learns from clicks by PDGD: minus (weights * scores).sum() is its loss.

It is shaped, started and stepped as the engine's own neural ranker, and ends where that one ends:
the means over seeds must lie within TOLERANCE of each other, or the example fails.
"""

import sys

import numpy as np
import torch

import plackett

IMPRESSIONS = 5_000
SEEDS = (0, 1, 2, 3, 4)  # each on a fold of its own
# Within a fold, the engine's runs have a standard deviation of 0.009. So the difference between the
# means of 5 and of 25 runs has a standard error of 0.0045: four of those.
TOLERANCE = 0.018


def make_model(features, seed):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(features, 64), torch.nn.Sigmoid(), torch.nn.Linear(64, 1, bias=False)
    )
    torch.nn.init.xavier_uniform_(model[0].weight)
    torch.nn.init.zeros_(model[0].bias)
    torch.nn.init.xavier_uniform_(model[2].weight)
    return model


def learn(data, seed):
    """NDCG@10 on the test queries of a model trained on IMPRESSIONS lists."""
    fold = data.folds[seed % len(data.folds)]
    user = plackett.ClickModel("navigational", grades=data.grade_count)
    model = make_model(fold.train.feature_count, seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number in range(IMPRESSIONS):
        query = fold.train[plackett.stream(seed, 0, number, "query").below(len(fold.train))]
        features = torch.from_numpy(query.features)
        scores = model(features).squeeze(1)
        shown_scores = scores.detach().numpy()
        ranking = plackett.sample_ranking(
            shown_scores, k=10, rng=plackett.stream(seed, 0, number, "ranking")
        )
        clicks = user.click(ranking, query.labels, rng=plackett.stream(seed, 0, number, "clicks"))
        if not clicks.any():
            continue
        weights = torch.from_numpy(plackett.document_weights(shown_scores, ranking, clicks)).float()
        loss = -(weights * scores).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def score(features):
        with torch.no_grad():
            return model(torch.from_numpy(features)).squeeze(1).numpy()

    return plackett.evaluate(score, fold.test)["NDCG@10"]


def main():
    torch.set_num_threads(1)
    data = plackett.load("synthetic")
    torchs = []
    for seed in SEEDS:
        torchs.append(learn(data, seed))
        print(f"seed {seed}: NDCG@10 {torchs[-1]:.3f}", flush=True)
    own = plackett.simulate(
        data,
        "pdgd",
        ranker="neural",
        click_model="navigational",
        runs=25,
        impressions=IMPRESSIONS,
        learning_rate=0.1,
    )
    start = own.curve.offline_mean[0]
    print(f"PyTorch {np.mean(torchs):.3f}, the engine's own {own.offline.mean:.3f} "
          f"(both from about {start:.3f}) after {IMPRESSIONS} impressions")
    if abs(np.mean(torchs) - own.offline.mean) > TOLERANCE:
        sys.exit(f"they differ by more than {TOLERANCE}")


if __name__ == "__main__":
    main()
