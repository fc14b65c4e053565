#!/usr/bin/env python3
"""Single operators on the CPU beside ONNX Runtime, in one run.

usage: operators.py TENON [--threads N] [--seed N --count M] [--case LINE] [--only WORD|...] [--seconds S] [--rounds N] [--json FILE]
                          [--check]

Cases are the lines of the file `operators`; with --count M, M lines drawn with --seed N (default: 1); with --case, the given line, as
both print it. Each case is a network of one operator. Its plan is built once, then ONNX Runtime and `tenon bench` are timed in turn,
--rounds times (default: 3), each for --seconds (default: 0.2). A line has the medians of both in ms, their ratio (above 1, Tenon is
faster), the spread (the largest part by which a round's median exceeds the smallest), and the largest difference of outputs, relative
to the largest value. Medians are those of the fastest round, because other programs only slow a round down.

--check runs each case once, without measuring, and compares the outputs alone. Cases that ONNX Runtime cannot run are listed and not
counted. The exit status is 1 if a case fails or differs, 77 if onnx or onnxruntime is not installed.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}; scripts/python-environment makes an environment with onnx and onnxruntime")
    sys.exit(77)

import operator_cases

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = 1e-3  # of the largest value; integers may differ by 1 after rounding


def tenon(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise RuntimeError(((done.stderr.strip() or "no message").splitlines())[0])
    return done.stdout


def difference(got, want):
    """The largest, relative to the largest value; infinity if shapes, types or the places of NaN and infinity differ."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return math.inf
    if want.size == 0:
        return 0.0
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return math.inf
    gap = abs(got - want)[finite]
    return float(gap.max(initial=0.0) / (abs(want[finite]).max(initial=0.0) or 1.0))


def agrees(got, want):
    by_one = np.issubdtype(want.dtype, np.integer) and got.shape == want.shape and want.dtype.itemsize == 1
    return difference(got, want) <= TOLERANCE or (by_one and abs(got.astype(int) - want.astype(int)).max(initial=0) <= 1)


def outputs_in(folder):
    names = [name for name in os.listdir(folder) if name.startswith("output_")]
    return [np.load(os.path.join(folder, name)) for name in sorted(names, key=lambda name: int(name.split("_")[1]))]


def median_of_peer(session, inputs, seconds):
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        session.run(None, inputs)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def peer_session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def measure(options, case, folder):
    """A row of the table, without its name."""
    model, plan = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.plan")
    onnx.save(case.model, model)
    given = []
    for name, values in case.inputs.items():
        np.save(os.path.join(folder, name + ".npy"), values)
        given += ["-i", f"{name}={folder}/{name}.npy"]
    threads = ["--threads", str(options.threads)]
    try:
        session = peer_session(model, options.threads)
        want = session.run(None, case.inputs)
    except Exception as error:  # the peer's exceptions have no common class
        return {"skipped": str(error).splitlines()[0][:100]}
    if options.check:
        tenon(options.tenon, "run", model, "--no-measuring", "--no-cache", *threads, "-o", folder, *given)
        rows = {}
    else:
        tenon(options.tenon, "build", model, "-o", plan, *threads)
        bench = (options.tenon, "bench", plan, "--json", "--seconds", str(options.seconds), *threads, "-o", folder, *given)
        rounds = [(median_of_peer(session, case.inputs, options.seconds), json.loads(tenon(*bench).splitlines()[-1])["median_ms"])
                  for _ in range(options.rounds)]
        peers, ours = zip(*rounds)
        rows = {"peer_ms": min(peers), "ms": min(ours), "ratio": min(peers) / min(ours),
                "spread": max(max(peers) / min(peers), max(ours) / min(ours)) - 1}
    got = outputs_in(folder)
    rows["difference"] = max(map(difference, got, want))
    rows["good"] = len(got) == len(want) and all(map(agrees, got, want))
    return rows


def print_row(case, row):
    note = f"  no peer: {row['skipped']}" if "skipped" in row else f"  failed: {row['failed']}" if "failed" in row else ""
    note = note or (f"  {row['difference']:.0e}" + ("" if row["good"] else " differs"))
    times = f"{row['peer_ms']:10.4f} {row['ms']:10.4f} {row['ratio']:6.2f} {row['spread']:6.0%}" if "ratio" in row else ""
    print(f"{case.name:40s} {times}{note}", flush=True)


def print_summary(rows):
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    wrong = sum(not row.get("good", "skipped" in row) for row in rows)
    if ratios:
        mean, limited = (math.exp(statistics.mean(math.log(min(ratio, most)) for ratio in ratios)) for most in (math.inf, 3.0))
        print(f"geometric mean {mean:.2f}, {limited:.2f} with each ratio at most 3; {sum(ratio < 0.8 for ratio in ratios)} below 0.8, "
              f"{sum(ratio < 0.5 for ratio in ratios)} below 0.5, lowest {min(ratios):.2f}")
    print(f"{len(rows)} cases, {wrong} failed or different, {sum('skipped' in row for row in rows)} without a peer")
    return wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tenon")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--case")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    lines = operator_cases.draw(options.seed, options.count) if options.count else operator_cases.read(os.path.join(HERE, "operators"))
    lines = [options.case] if options.case else [line for line in lines if any(word in line for word in options.only.split("|"))]
    rows = []
    for line in lines:
        case = operator_cases.Case(line)
        with tempfile.TemporaryDirectory() as folder:
            try:
                row = measure(options, case, folder)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                row = {"failed": str(error)[:160]}
        rows.append({"case": line, **row})
        print_row(case, row)
        if options.count or not row.get("good", True):
            print(f"    {line}", flush=True)
    wrong = print_summary(rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=0)
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
