"""A walk through plackett, to read and run cell by cell; plots go to a folder.

    python3 walk_through.py [FOLDER]

Needs matplotlib (Debian: python3-matplotlib).
"""

# %% The data: queries, each with candidate documents, their features and their labels
import sys
from pathlib import Path

try:
    import matplotlib
except ImportError:
    sys.exit("walk_through.py needs matplotlib (Debian: python3-matplotlib)")

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import plackett

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "walk_through")
folder.mkdir(parents=True, exist_ok=True)

data = plackett.load("synthetic")
fold = data.folds[0]
print(data, fold, fold.train, sep="\n")

INK, SOFT, GRID = "#22223b", "#8d8fa3", "#e6e6ef"
BLUE, ORANGE, GREEN, PURPLE = "#3465d9", "#e8743b", "#2a9d74", "#8a5cc4"
plt.rcParams.update(
    {
        "figure.dpi": 150,
        "figure.facecolor": "white",
        "font.size": 10,
        "text.color": INK,
        "axes.edgecolor": SOFT,
        "axes.labelcolor": INK,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "xtick.color": SOFT,
        "ytick.color": SOFT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "legend.frameon": False,
    }
)


def save(figure, name):
    figure.savefig(folder / name)
    plt.close(figure)
    print("wrote", folder / name)


# %% One query. The arrays are the engine's own memory: no copy, read-only
query = next(one for one in fold.train if len(one) == 18 and one.labels.max() == 4)
print(query, query.features.dtype, query.labels)

order = np.argsort(-query.labels.astype(int), kind="stable")
figure, axes = plt.subplots(figsize=(8.4, 4.6), layout="constrained")
image = axes.imshow(query.features[order], aspect="auto", cmap="Blues", vmin=0, vmax=1)
axes.grid(False)
axes.set_yticks(range(len(order)), [f"label {query.labels[doc]}" for doc in order], fontsize=7)
axes.set_xlabel("feature, scaled within the query")
axes.set_title(f"Query {query.number}: its {len(query)} documents, best first")
figure.colorbar(image, ax=axes, shrink=0.8).outline.set_visible(False)
save(figure, "query.png")

# %% Rank, click, learn: the whole loop is three calls
learner = plackett.PDGD(features=fold, learning_rate=0.1, seed=1)
user = plackett.ClickModel("navigational", grades=data.grade_count)

impression = learner.rank(query.features)
clicks = user.click(impression, query.labels)
print("shown  ", impression.ranking)
print("labels ", query.labels[impression.ranking])
print("clicked", clicks.astype(int))

# %% Learn from 5,000 impressions, and measure on the way
impressions, every = 5_000, 250
at, offline = [0], [plackett.evaluate(learner, fold.test)["NDCG@10"]]
shown_ndcg = []
for number in range(1, impressions + 1):
    drawn = fold.train[plackett.stream(1, 0, number, "query").below(len(fold.train))]
    impression = learner.rank(drawn)
    learner.learn(impression, user.click(impression, drawn))
    if drawn.labels.max() > 0:
        shown_ndcg.append(plackett.ndcg(impression, drawn))
    if number % every == 0 or number in (10, 30, 60, 100, 150):
        at.append(number)
        offline.append(plackett.evaluate(learner, fold.test)["NDCG@10"])
print(f"NDCG@10: {offline[0]:.3f} before, {offline[-1]:.3f} after {learner.updates} updates")

window = 200
smooth = np.convolve(shown_ndcg, np.ones(window) / window, mode="valid")
figure, axes = plt.subplots(figsize=(7.2, 4), layout="constrained")
axes.plot(
    np.linspace(window, impressions, len(smooth)),
    smooth,
    color=ORANGE,
    linewidth=1.2,
    label=f"lists that users saw (mean of {window})",
)
axes.plot(at, offline, color=BLUE, linewidth=2.2, label="the ranker on unseen queries")
axes.set_xlabel("impressions")
axes.set_ylabel("NDCG@10")
axes.set_xlim(0, impressions)
axes.set_title("A linear ranker learning from clicks")
axes.legend(loc="lower right")
save(figure, "learning.png")

# %% What PDGD infers from these clicks: pairs, each weighted so that the list's own bias cancels
impression = learner.rank(query)
example_clicks = np.zeros(len(impression), dtype=bool)
example_clicks[[2, 6]] = True
scores = learner.ranker.score(query.features)
for pair in plackett.pairs(scores, impression, example_clicks)[:3]:
    print(pair)

weights = impression.document_weights(example_clicks)
by_rank = weights[impression.ranking]
figure, axes = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
places = np.arange(1, len(impression) + 1)
axes.barh(places, by_rank, color=np.where(example_clicks, ORANGE, BLUE), height=0.72)
axes.axvline(0, color=INK, linewidth=0.8)
axes.invert_yaxis()
axes.set_yticks(
    places, [f"{place}{'  clicked' if click else ''}" for place, click in zip(places, example_clicks)]
)
axes.grid(axis="y", visible=False)
axes.set_xlabel("weight: how strongly its score should rise or fall")
axes.set_ylabel("place in the shown list")
axes.set_title("Two clicks, seen down to the place after the last")
save(figure, "weights.png")

# %% Compare methods under three kinds of users, with t-tests; report() writes an HTML page of it
methods = {"pdgd": BLUE, "pdgd:neural": PURPLE, "mgd": GREEN, "pairwise": ORANGE}
users = ["perfect", "navigational", "informational"]
compared = plackett.compare(data, list(methods), users, runs=10, impressions=10_000)
compared.report(folder / "report")
for contrast in compared.contrasts:
    if contrast.cell.method == "pdgd" and contrast.cell.ranker_kind == "linear":
        print(
            f"{contrast.cell.click_model}: {contrast.cell.label} {contrast.cell.offline.mean:.3f}, "
            f"{contrast.baseline.label} {contrast.baseline.offline.mean:.3f}, "
            f"p = {contrast.offline.paired.p:.2g}"
        )

figure, panels = plt.subplots(1, 3, figsize=(10.5, 4.2), sharey=True, layout="constrained")
for panel, name in zip(panels, users):
    cells = [cell for cell in compared.cells if cell.click_model == name]
    for cell, color in zip(cells, methods.values()):
        curve = cell.curve
        panel.fill_between(
            curve.impression,
            curve.offline_mean - curve.offline_std,
            curve.offline_mean + curve.offline_std,
            color=color,
            alpha=0.15,
            linewidth=0,
        )
        panel.plot(curve.impression, curve.offline_mean, color=color, linewidth=2, label=cell.label)
    panel.set_xscale("symlog", linthresh=100, linscale=0.6)
    panel.set_xticks([0, 100, 1_000, 10_000], ["0", "100", "1k", "10k"])
    panel.set_xlim(0, 10_000)
    panel.set_title(name)
    panel.set_xlabel("impressions")
    panel.grid(axis="x", visible=False)
panels[0].set_ylabel("NDCG@10 on unseen queries")
panels[2].legend(loc="lower right")
save(figure, "methods.png")

# %% Keep what was learned; the command reads it too: plackett evaluate --model walk_through.plk
learner.save(folder / "walk_through.plk")
again = plackett.PDGD.load(folder / "walk_through.plk", seed=1)
print(again)
