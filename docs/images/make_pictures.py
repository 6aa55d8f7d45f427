#!/usr/bin/env python3
"""Draws the pictures of docs/how_it_works.md from the output of the command.

    docs/images/make_pictures.py [--command PLACKETT] [--check]

--check: writes nothing; exits with 1 if a picture is out of date, and with 77 if there is no
Matplotlib. The learning curves, which take a while, are left out then.

Every number in them comes from plackett explain, audit or compare. The learning curves are the
project's own figure; Matplotlib draws the others.
"""
import argparse
import filecmp
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import matplotlib
    from matplotlib import pyplot
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
except ImportError:
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INK, MUTED, GRID, EDGE = "#1c222b", "#5b6472", "#e3e6ea", "#d5d9df"
BLUE, ORANGE, GREEN = "#0068b5", "#d1540a", "#008a64"

# The same bytes each time: no date, no random identifiers, and text as text.
matplotlib.use("svg")
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "plackett", "font.family": "sans-serif",
    "font.size": 11, "text.color": INK, "axes.edgecolor": EDGE, "axes.titleweight": "bold",
    "axes.labelcolor": MUTED, "xtick.color": MUTED, "ytick.color": MUTED, "grid.color": GRID,
    "axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white"})


def save(figure, path, title):
    figure.savefig(path, metadata={"Date": None, "Creator": None, "Title": title})
    pyplot.close(figure)


def explain(command, cases):
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([command, "explain"], input=lines, check=True, capture_output=True,
                          text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


# --- Inferred preferences ------------------------------------------------------------------------

SCORES = [0.9, 0.5, 0.1, -0.2, -0.6]
CLICKED = 2


def draw_preferences(command, path):
    """The paper's figure: a click, the pairs inferred from it, the ranking with two swapped."""
    swapped = [2, 1, 0, 3, 4]
    shown, other = explain(command, [
        {"scores": SCORES, "ranking": [0, 1, 2, 3, 4], "clicks": [0, 0, 1, 0, 0]},
        {"scores": SCORES, "ranking": swapped, "clicks": [1, 0, 0, 0, 0]}])
    p_shown, p_other = (math.exp(one["log_probability"]) for one in (shown, other))
    pairs = {pair["loser_rank"]: pair["rho"] for pair in shown["pairs"]}
    assert abs(pairs[0] - p_other / (p_shown + p_other)) < 1e-9

    figure, axes = pyplot.subplots(figsize=(10, 4.4))
    figure.subplots_adjust(0, 0, 1, 1)
    axes.set(xlim=(0, 10), ylim=(5.8, -1.2))
    axes.axis("off")
    for x, title, probability in ((0.1, "The ranking R that was shown", p_shown),
                                  (6.5, "R*: d1 and d3 swapped", p_other)):
        axes.text(x, -0.75, title, fontsize=13, fontweight="bold")
        axes.text(x, -0.35, f"drawn with probability {100 * probability:.1f} %", color=MUTED)
    for rank, doc in enumerate(range(5)):
        _row(axes, 0.1, rank, doc, BLUE if rank == CLICKED else EDGE,
             "clicked" if rank == CLICKED else "", MUTED if rank == 4 else INK)
    for rank, doc in enumerate(swapped):
        _row(axes, 6.5, rank, doc, ORANGE if doc in (0, 2) else EDGE)
    for loser, bend in ((0, 0.3), (1, 0.25), (3, -0.25)):
        axes.add_patch(FancyArrowPatch((3.55, CLICKED + 0.4), (3.55, loser + 0.4), color=BLUE, lw=2,
                                       arrowstyle="-|>", mutation_scale=14,
                                       connectionstyle=f"arc3,rad={bend}"))
        axes.text(4.5, loser + 0.38, f"d3 beats d{loser + 1}", fontweight="bold")
        axes.text(4.5, loser + 0.68, f"\u03c1 = {pairs[loser]:.3f}", color=MUTED)
    axes.text(0.1, 5.5, "Nobody knows whether d5 was read: it is part of no pair.", color=MUTED)
    axes.text(6.5, 5.5, f"\u03c1 = P(R*) / (P(R) + P(R*)) = {pairs[0]:.3f}", fontweight="bold")
    save(figure, path, "A click, the preferences inferred from it, and a pair swapped")


def _row(axes, x, rank, doc, edge, note="", ink=INK):
    axes.add_patch(FancyBboxPatch((x, rank + 0.05), 3.3, 0.7, facecolor="white", edgecolor=edge,
                                  boxstyle="round,pad=0,rounding_size=0.1", lw=2 if note else 1.2))
    axes.text(x + 0.15, rank + 0.5, f"{rank + 1}", color=MUTED)
    axes.text(x + 0.5, rank + 0.5, f"d{doc + 1}", fontweight="bold", color=ink)
    axes.text(x + 1.0, rank + 0.5, f"score {SCORES[doc]:.1f}".replace("-", "\u2212"), color=MUTED)
    axes.text(x + 2.3, rank + 0.5, note, color=BLUE, fontweight="bold")


# --- rho against the difference of scores --------------------------------------------------------

LIST = 10
APART = ((1, BLUE), (3, GREEN), (8, ORANGE))
DIFFERENCES = [at / 5 for at in range(-20, 21)]


def draw_rho(command, path):
    """rho of one pair in a list of ten, against the difference of its scores."""
    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4.3), sharey=True, layout="constrained")
    for axes, above in zip(panels, (True, False)):
        for apart, colour in APART:
            winner, loser = (0, apart) if above else (apart, 0)
            answers = explain(command, [_pair_case(above, apart, each) for each in DIFFERENCES])
            rho = [next(pair["rho"] for pair in answer["pairs"]
                        if (pair["winner_rank"], pair["loser_rank"]) == (winner, loser))
                   for answer in answers]
            axes.plot(DIFFERENCES, rho, color=colour, lw=2.5,
                      label=f"{apart} place{'s' if apart > 1 else ''} apart")
        axes.set_title("The clicked document stood " + ("above" if above else "below"), loc="left")
        axes.set_xlabel("score of the clicked document \u2212 score of the other")
        axes.set_ylim(0, 1)
        axes.grid(axis="y")
        axes.axvline(0, color=MUTED, lw=1, ls=":")
        axes.legend(frameon=False, loc="upper right" if above else "upper left")
    panels[0].set_ylabel("\u03c1")
    save(figure, path, "rho of a pair against the difference of its scores")


def _pair_case(above, apart, difference):
    """The winner's score is `difference` above the loser's; the others have 0."""
    scores = [0.0] * LIST
    winner, loser = (0, apart) if above else (apart, 0)
    scores[winner], scores[loser] = difference / 2, -difference / 2
    clicks = [0] * LIST
    clicks[winner] = 1
    if above:
        clicks[apart + 1] = 1  # so that the loser is known to have been read
    return {"scores": scores, "ranking": list(range(LIST)), "clicks": clicks}


# --- With and without rho ------------------------------------------------------------------------

USERS = ("perfect", "navigational", "informational", "almost-random", "random", "position-based")


def draw_bias(command, path):
    """Pairs whose expected update has the wrong sign, without rho and with it."""
    figure, axes = pyplot.subplots(figsize=(10, 3.8), layout="constrained")
    for weight, colour, shift, label in (("none", ORANGE, -0.2, "without \u03c1"),
                                         ("rho", BLUE, 0.2, "with \u03c1")):
        done = subprocess.run([command, "audit", "--weight", weight, "--json"],
                              capture_output=True, text=True)
        assert done.returncode == (1 if weight == "none" else 0), done.stderr
        models = {each["click_model"]: each for each in json.loads(done.stdout)["models"]}
        wrong = [models[user]["violations"] for user in USERS]
        bars = axes.barh([place + shift for place in range(len(USERS))], wrong, height=0.36,
                         color=colour)
        axes.bar_label(bars, [f"{each:,} {label}" for each in wrong], padding=4)
    axes.set_yticks(range(len(USERS)), USERS, color=INK)
    axes.invert_yaxis()
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.margins(x=0.15)
    axes.set_title("Pairs whose expected update is not what the user prefers,\nof "
                   f"{models[USERS[0]]['pairs']:,} pairs in 500 random cases", loc="left")
    save(figure, path, "Pairs whose expected update has the wrong sign, without rho and with it")


def draw_curves(command, path):
    """The learning curves that ./start makes."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "start")
        subprocess.run([command, "compare", "--spec", os.path.join(ROOT, "experiments/quick.toml"),
                        "--out", out], check=True, stdout=subprocess.DEVNULL)
        shutil.copyfile(os.path.join(out, "curves.svg"), path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default=os.path.join(ROOT, "build/release/bin/plackett"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    command = os.path.abspath(options.command)
    here = os.path.dirname(os.path.abspath(__file__))
    if not options.check:
        draw_curves(command, os.path.join(here, "learning_curves.svg"))
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        out = folder if options.check else here
        for name, draw in (("preferences.svg", draw_preferences), ("rho.svg", draw_rho),
                           ("bias.svg", draw_bias)):
            draw(command, os.path.join(out, name))
            if not filecmp.cmp(os.path.join(out, name), os.path.join(here, name), shallow=False):
                stale.append(name)
    for name in stale:
        print(f"docs/images/{name} is out of date: run docs/images/make_pictures.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
