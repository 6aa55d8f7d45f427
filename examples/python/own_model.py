"""Your own model, in NumPy: plackett says how each document's score should change, the model does
the rest. Here it is a network with one hidden layer, with its gradient written by hand."""

import numpy as np

import plackett


class Network:
    """score(x) = v . tanh(W x + b)"""

    def __init__(self, features, units, seed):
        random = np.random.default_rng(seed)
        self.W = random.normal(scale=1 / np.sqrt(features), size=(units, features))
        self.b = np.zeros(units)
        self.v = random.normal(scale=1 / np.sqrt(units), size=units)

    def score(self, features):
        return np.tanh(features @ self.W.T + self.b) @ self.v

    def step(self, features, weights, rate):
        """A step up the gradient of the sum over documents of weights[doc] * score(doc)."""
        shown = np.flatnonzero(weights)  # the others' weights are 0
        x, w = features[shown], weights[shown]
        hidden = np.tanh(x @ self.W.T + self.b)
        back = w[:, None] * self.v * (1 - hidden**2)
        self.v += rate * w @ hidden
        self.W += rate * back.T @ x
        self.b += rate * back.sum(axis=0)


def learn(data, impressions, seed):
    """NDCG@10 on the test queries before and after."""
    fold = data.folds[0]
    user = plackett.ClickModel("perfect", grades=data.grade_count)
    model = Network(fold.train.feature_count, units=32, seed=seed)
    before = plackett.evaluate(model.score, fold.test)["NDCG@10"]
    for number in range(impressions):
        query = fold.train[plackett.stream(seed, 0, number, "query").below(len(fold.train))]
        scores = model.score(query.features)
        ranking = plackett.sample_ranking(
            scores, k=10, rng=plackett.stream(seed, 0, number, "ranking")
        )
        clicks = user.click(ranking, query.labels, rng=plackett.stream(seed, 0, number, "clicks"))
        weights = plackett.document_weights(scores, ranking, clicks)
        model.step(query.features, weights, rate=0.1)
    return before, plackett.evaluate(model.score, fold.test)["NDCG@10"]


if __name__ == "__main__":
    data = plackett.load("synthetic")
    for seed in (1, 2, 3):
        before, after = learn(data, impressions=10_000, seed=seed)
        print(f"seed {seed}: NDCG@10 {before:.3f} before, {after:.3f} after 10000 impressions")
