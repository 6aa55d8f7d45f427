"""What Python costs: a loop in Python against the engine's own, and plackett.simulate against the
command.

    python3 bench/python/overhead.py --command build/release/bin/plackett [--repeats 7]

The first table has the impressions per second of a loop of rank, click and learn, over queries and
over NumPy arrays, and of plackett.simulate on one thread without its evaluations; PDGD with a linear
ranker. The loop must end with the engine's parameters, bit by bit.

The second compares one plackett.simulate that loads its data, in a running Python, with one
`plackett simulate --json`: wall time, and processor time of all threads. They alternate, and the
result is the median over repeats of Python's time divided by the command's just before it. Exit
status 1 if it is above 1.05 for processor time, or for wall time if the machine is idle: wall times
count only if the command's own vary by less than 5 %.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

import plackett

LIMIT = 1.05


def python_loop(data, impressions, seed, arrays):
    """Seconds, and the learner."""
    train = data.folds[0].train
    count = len(train)
    learner = plackett.PDGD(features=data.folds[0], seed=seed)
    user = plackett.ClickModel("perfect", grades=data.grade_count)
    stream, rank, learn, click = plackett.stream, learner.rank, learner.learn, user.click
    start = time.perf_counter()
    if arrays:
        for number in range(impressions):
            query = train[stream(seed, 0, number, "query").below(count)]
            impression = rank(query.features)
            learn(impression, click(impression, query.labels))
    else:
        for number in range(impressions):
            query = train[stream(seed, 0, number, "query").below(count)]
            impression = rank(query)
            learn(impression, click(impression, query))
    return time.perf_counter() - start, learner


def loops(presets, impressions, repeats):
    print(f"{'data':<18}{'engine':>10}{'queries':>10}{'arrays':>10}   impressions/s (medians of "
          f"{repeats}), and what Python adds per impression")
    for preset in presets:
        data = plackett.load(preset)
        rates = {"engine": [], "queries": [], "arrays": []}
        for repeat in range(repeats):
            run = plackett.simulate(data, runs=1, impressions=impressions, seed=repeat, threads=1)
            took = run.runs.seconds[0] - run.runs.evaluation_seconds[0]
            rates["engine"].append(impressions / took)
            for name in ("queries", "arrays"):
                took, learner = python_loop(data, impressions, repeat, arrays=name == "arrays")
                rates[name].append(impressions / took)
                if not np.array_equal(learner.ranker.parameters, run.ranker.parameters):
                    sys.exit(f"{preset}: the loop over {name} learned something else")
        medians = {name: statistics.median(values) for name, values in rates.items()}
        added = {name: 1e6 * (1 / value - 1 / medians["engine"]) for name, value in medians.items()}
        print(f"{preset:<18}" + "".join(f"{medians[name]:>10.0f}" for name in rates)
              + f"   {added['queries']:.1f} us, {added['arrays']:.1f} us", flush=True)


def by_command(command, preset, spec):
    """Wall and processor seconds, and what it found."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    said = subprocess.run(
        [command, "simulate", "--data", preset, "--json"]
        + [f"--{name}={value}" for name, value in spec.items()],
        check=True,
        stdout=subprocess.PIPE,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used, json.loads(said.stdout)["offline"]["mean"]


def by_module(preset, spec):
    start, used = time.perf_counter(), time.process_time()
    result = plackett.simulate(preset, **spec)
    return time.perf_counter() - start, time.process_time() - used, result.offline.mean


def whole_runs(command, presets, repeats):
    print(f"\n{'data':<18}{'threads':>8}{'command':>12}{'module':>12}{'wall':>8}{'command':>12}"
          f"{'module':>12}{'cpu':>8}   (seconds, medians of {repeats}, and of their ratios)")
    missed = False
    for preset, impressions in presets.items():
        for threads in (1, 2):
            spec = {"runs": 4, "impressions": impressions, "seed": 3, "threads": threads}
            times = []
            for _ in range(repeats):
                theirs = by_command(command, preset, spec)
                ours = by_module(preset, spec)
                if theirs[2] != ours[2]:
                    sys.exit(f"{preset}: the command found {theirs[2]}, the module {ours[2]}")
                times.append((theirs[0], ours[0], theirs[1], ours[1]))
            their_wall, our_wall, their_cpu, our_cpu = zip(*times)
            wall = statistics.median(our / their for our, their in zip(our_wall, their_wall))
            cpu = statistics.median(our / their for our, their in zip(our_cpu, their_cpu))
            spread = statistics.pstdev(their_wall) / statistics.mean(their_wall)
            quiet = spread < 0.05
            over = cpu > LIMIT or (quiet and wall > LIMIT)
            missed = missed or over
            print(f"{preset:<18}{threads:>8}{statistics.median(their_wall):>12.3f}"
                  f"{statistics.median(our_wall):>12.3f}{wall:>8.3f}"
                  f"{statistics.median(their_cpu):>12.3f}{statistics.median(our_cpu):>12.3f}"
                  f"{cpu:>8.3f}"
                  + ("" if quiet else f"   wall times vary by {spread:.0%}: not counted")
                  + ("   OVER" if over else ""), flush=True)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--command", default=os.environ.get("PLACKETT_COMMAND"), required=False)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--impressions", type=int, default=20_000, help="of the loops")
    parser.add_argument("--large", action="store_true", help="also data of MSLR's size")
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error("--command: where the plackett command is")
    large = {"synthetic:mslr": 20_000} if arguments.large else {}
    loops(["synthetic", "synthetic:mq2008", *large], arguments.impressions, arguments.repeats)
    presets = {"synthetic": 100_000, "synthetic:mq2008": 100_000, **large}
    sys.exit(1 if whole_runs(arguments.command, presets, arguments.repeats) else 0)


if __name__ == "__main__":
    main()
