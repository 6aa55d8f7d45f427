#!/usr/bin/env python3
"""Draws the pictures of docs/how_it_works.md from what the engine says.

    docs/images/make_pictures.py [--command PLACKETT] [--check]

--check: writes nothing; exit code 1 where a picture is not what it would be. The learning curves,
which take a while, are left out then.

Every number in them comes from plackett explain, audit or compare. Pictures follow the reader's
light or dark scheme by themselves; scripts/docs/mkdocs_hooks.py makes one of each for the site.
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

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FONT = ("Inter,ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,"
        "sans-serif")
LIGHT = {"ink": "#1c222b", "muted": "#5b6472", "grid": "#e3e6ea", "card": "#ffffff",
         "edge": "#d5d9df", "accent": "#0068b5", "wash": "#e4f0fa", "warm": "#d1540a",
         "warmwash": "#fdeee3", "green": "#008a64"}
DARK = {"ink": "#eef1f5", "muted": "#a3adba", "grid": "#333a44", "card": "#1b2129",
        "edge": "#3a424e", "accent": "#58aef5", "wash": "#12304a", "warm": "#ff8f52",
        "warmwash": "#40240f", "green": "#35c99d"}


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def add(self, tag, text=None, **attributes):
        named = " ".join(f'{key.rstrip("_").replace("_", "-")}="{_short(value)}"'
                         for key, value in attributes.items())
        self.parts.append(f"<{tag} {named}/>" if text is None else f"<{tag} {named}>{text}</{tag}>")

    def text(self, x, y, words, kind="", anchor="start"):
        self.add("text", words, class_=kind, x=x, y=y, text_anchor=anchor)

    def save(self, path):
        rules = (f"text{{font:15px {FONT};font-variant-numeric:tabular-nums}}"
                 ".small{font-size:13px}.large{font-size:19px;font-weight:600}"
                 ".bold{font-weight:600}.line{fill:none;stroke-width:2.5;stroke-linecap:round;"
                 "stroke-linejoin:round}.thin{fill:none;stroke-width:1}.dots{stroke-dasharray:2 5}")
        style = (rules + _colours(LIGHT) + ":root{color-scheme:light dark}"
                 + "@media (prefers-color-scheme:dark){" + _colours(DARK) + "}")
        body = "\n".join(self.parts)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
                       f'height="{self.height}" viewBox="0 0 {self.width} {self.height}" '
                       f'role="img" aria-label="{self.title}">\n<title>{self.title}</title>\n'
                       f"<style>{style}</style>\n{body}\n</svg>\n")


def _short(value):
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def _colours(palette):
    rules = f"text{{fill:{palette['ink']}}}.muted{{fill:{palette['muted']}}}"
    for name, colour in palette.items():
        rules += f".{name}-fill{{fill:{colour}}}.{name}-line{{stroke:{colour}}}"
    return rules


def explain(command, cases):
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([command, "explain"], input=lines, check=True, capture_output=True,
                          text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


# --- Inferred preferences ------------------------------------------------------------------------

SCORES = [0.9, 0.5, 0.1, -0.2, -0.6]
CLICKED = 2
ROW, STEP = 46, 58


def draw_preferences(command, path):
    """The paper's figure: a click, the pairs inferred from it, the ranking with two swapped."""
    clicks = [int(rank == CLICKED) for rank in range(len(SCORES))]
    ranking = list(range(len(SCORES)))
    swapped = [2, 1, 0, 3, 4]
    shown, other = explain(command, [
        {"scores": SCORES, "ranking": ranking, "clicks": clicks},
        {"scores": SCORES, "ranking": swapped, "clicks": [1, 0, 0, 0, 0]}])
    p_shown, p_other = (math.exp(one["log_probability"]) for one in (shown, other))
    pairs = {pair["loser_rank"]: pair for pair in shown["pairs"]}
    rho = pairs[0]["rho"]
    assert abs(rho - p_other / (p_shown + p_other)) < 1e-9

    picture = Picture(960, 440, "A click, the preferences inferred from it, and the ranking with a "
                                "pair swapped")
    top = 84
    picture.text(24, 34, "The ranking R that was shown", "large")
    picture.text(24, 58, f"drawn with probability {100 * p_shown:.1f} %", "muted")
    picture.text(620, 34, "R*: d1 and d3 swapped", "large")
    picture.text(620, 58, f"drawn with probability {100 * p_other:.1f} %", "muted")
    for rank, doc in enumerate(ranking):
        _row(picture, 24, top + rank * STEP, rank, doc, "click" if rank == CLICKED else
             "seen" if rank in pairs else "unseen")
    for rank, doc in enumerate(swapped):
        _row(picture, 620, top + rank * STEP, rank, doc, "swap" if doc in (0, 2) else "plain")
    begin_x, begin_y = 326, top + CLICKED * STEP + ROW / 2
    for loser, bend in ((0, 76), (1, 36), (3, 36)):
        end_y = top + loser * STEP + ROW / 2
        picture.add("path", class_="line accent-line", d=f"M{begin_x} {begin_y}C{begin_x + bend} "
                    f"{begin_y} {begin_x + bend} {end_y} {begin_x + 6} {end_y}")
        picture.add("path", class_="accent-fill", d=f"M{begin_x - 2} {end_y}l11 -6v12z")
        picture.text(begin_x + 78, end_y - 3, f"d3 beats d{loser + 1}", "bold")
        picture.text(begin_x + 78, end_y + 16, f"ρ = {pairs[loser]['rho']:.3f}", "muted small")
    picture.text(24, top + 5 * STEP + 22, "Nobody knows whether d5 was read: it is part of no "
                 "pair.", "muted small")
    picture.text(620, top + 5 * STEP + 22, f"ρ = P(R*) / (P(R) + P(R*)) = {rho:.3f}", "bold")
    picture.save(path)


def _row(picture, x, y, rank, doc, kind):
    fill = {"click": "wash", "swap": "warmwash"}.get(kind, "card")
    edge = {"click": "accent", "swap": "warm"}.get(kind, "edge")
    fade = {"opacity": "0.45"} if kind == "unseen" else {}
    picture.add("rect", class_=f"{fill}-fill {edge}-line", x=x, y=y, width=296, height=ROW, rx=9,
                stroke_width=2 if kind in ("click", "swap") else 1, **fade)
    middle = y + ROW / 2 + 5
    words = "muted" if kind == "unseen" else ""
    picture.text(x + 16, middle, f"{rank + 1}", "muted")
    picture.text(x + 46, middle, f"d{doc + 1}", f"bold {words}")
    score = f"{SCORES[doc]:.1f}".replace("-", "−")
    picture.text(x + 146, middle, f"score {score}", "muted small", "end")
    length = 10 + 60 * (SCORES[doc] - min(SCORES))
    if kind == "click":
        _pointer(picture, x + 262, y + 13)
    picture.add("rect", class_="accent-fill" if kind == "click" else
                "warm-fill" if kind == "swap" else "edge-fill", x=x + 158, y=y + ROW / 2 - 4,
                width=float(length), height=8, rx=4, **fade)


def _pointer(picture, x, y):
    picture.add("path", class_="accent-fill", d=f"M{x} {y}l0 19l5 -5l4 8l4 -2l-4 -8l7 0z")


# --- rho against the difference of scores --------------------------------------------------------

LIST = 10
APART = (1, 3, 8)
DIFFERENCES = [at / 5 for at in range(-20, 21)]


def draw_rho(command, path):
    """rho of one pair in a list of ten, against the difference of its scores."""
    curves = {}
    for above in (True, False):
        for apart in APART:
            cases = [_pair_case(above, apart, difference) for difference in DIFFERENCES]
            winner, loser = (0, apart) if above else (apart, 0)
            curves[above, apart] = [
                next(pair["rho"] for pair in answer["pairs"]
                     if (pair["winner_rank"], pair["loser_rank"]) == (winner, loser))
                for answer in explain(command, cases)]
    picture = Picture(960, 430, "rho of a pair against the difference of its scores")
    for column, above in enumerate((True, False)):
        left = 62 + column * 466
        _rho_panel(picture, left, above, {apart: curves[above, apart] for apart in APART})
    picture.save(path)


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


def _rho_panel(picture, left, above, curves):
    top, width, height = 96, 400, 250

    def at(difference, rho):
        return (left + width * (difference + 4) / 8, top + height * (1 - rho))

    where = "above" if above else "below"
    picture.text(left, 34, f"The clicked document stood {where}", "large")
    picture.text(left, 60, "higher score above: a likely order, which weighs less" if above else
                 "higher score below: an unlikely order, which weighs more", "muted")
    for rho in (0, 0.25, 0.5, 0.75, 1):
        y = at(0, rho)[1]
        picture.add("path", class_="thin grid-line", d=f"M{left} {y}h{width}")
        picture.text(left - 10, y + 5, f"{rho:g}", "muted small", "end")
    for difference in (-4, -2, 0, 2, 4):
        x = at(difference, 0)[0]
        sign = f"{difference:+d}".replace("-", "−") if difference else "0"
        picture.text(x, top + height + 22, sign, "muted small", "middle")
    x, _ = at(0, 0)
    picture.add("path", class_="thin dots muted-line", d=f"M{x} {top}v{height}")
    picture.text(left + width / 2, top + height + 48,
                 "score of the clicked document − score of the other", "muted small", "middle")
    for apart, colour in zip(APART, ("accent", "green", "warm")):
        points = [at(*point) for point in zip(DIFFERENCES, curves[apart])]
        picture.add("path", class_=f"line {colour}-line", d="M" + "L".join(
            f"{x:.1f} {y:.1f}" for x, y in points))
    right = above
    for row, (apart, colour) in enumerate(zip(APART, ("accent", "green", "warm"))):
        x = left + (width - 156 if right else 16)
        y = top + 22 + row * 24
        picture.add("path", class_=f"line {colour}-line", d=f"M{x} {y - 5}h22")
        picture.text(x + 32, y, f"{apart} place{'s' if apart > 1 else ''} apart", "small")
    picture.text(left - 34, top - 12, "ρ", "bold")


# --- With and without rho ------------------------------------------------------------------------

USERS = ("perfect", "navigational", "informational", "almost-random", "random", "position-based")


def draw_bias(command, path):
    """Pairs whose expected update has the wrong sign, without rho and with it."""
    shares = {}
    for weight in ("none", "rho"):
        done = subprocess.run([command, "audit", "--weight", weight, "--json"],
                              capture_output=True, text=True)
        assert done.returncode == (1 if weight == "none" else 0), done.stderr
        for user in json.loads(done.stdout)["models"]:
            shares[user["click_model"], weight] = (user["violations"], user["pairs"])
    picture = Picture(960, 380, "Pairs whose expected update has the wrong sign, without rho and "
                                "with it")
    picture.text(24, 34, "Pairs whose expected update is not what the user prefers", "large")
    picture.text(24, 60, f"of {shares[USERS[0], 'rho'][1]:,} pairs in 500 random cases, each "
                 "enumerated whole", "muted")
    left, width = 170, 1400  # of all pairs
    for row, user in enumerate(USERS):
        y = 92 + row * 46
        wrong, pairs = shares[user, "none"]
        held, _ = shares[user, "rho"]
        picture.text(left - 14, y + 20, user, "bold", "end")
        picture.add("rect", class_="warm-fill", x=left, y=y, width=float(width * wrong / pairs),
                    height=14, rx=3)
        picture.text(left + 10 + width * wrong / pairs, y + 12, f"{wrong:,} without ρ", "small")
        picture.add("rect", class_="accent-fill", x=left, y=y + 17,
                    width=float(max(2, width * held / pairs)), height=10, rx=1)
        picture.text(left + 12 + width * held / pairs, y + 27, f"{held:,} with ρ", "small muted")
    picture.save(path)


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
    others = []
    with tempfile.TemporaryDirectory() as folder:
        out = folder if options.check else here
        for name, draw in (("preferences.svg", draw_preferences), ("rho.svg", draw_rho),
                           ("bias.svg", draw_bias)):
            draw(command, os.path.join(out, name))
            if not filecmp.cmp(os.path.join(out, name), os.path.join(here, name), shallow=False):
                others.append(name)
    for name in others:
        print(f"docs/images/{name}: not as it would be drawn today")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main())
