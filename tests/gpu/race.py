#!/usr/bin/env python3
"""Tenon's column beside its peers': networks on a GPU, types and batches one after the other, and a table of all that was measured.

usage: race.py measure TENON RESULTS SECONDS [--profiles FOLDER] [--plans FOLDER] NETWORK:TYPE:BATCH... [-- option of tenon build...]
       race.py again TENON RESULTS PLAN...
       race.py table RESULTS... [PEERS...]

measure: NETWORK is a folder with model.onnx and test_data_set_0, TYPE fp32, tf32, fp16, bf16 or best. Each is built, its outputs on the
recorded data compared with what was recorded, and timed with `tenon bench`: on the device, by its events, inputs and outputs there. A line
of JSON for each is added to RESULTS as soon as it is known; what would begin later than SECONDS after the start is left out, and said.
FOLDER gets for each what the build said, the times of its steps among it, and why other kernels were not chosen. The other FOLDER keeps the plans.
again: times kept plans once more, where nothing else runs, as while peers are timed.
table: Markdown, of each row what was measured last, with the rows of PEERS, what shared/peers/gpu_peers.py wrote on the same machine.
"""
import glob
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np


def tenon(command, *arguments, good=(0,), words=None, timeout=None):
    """Its output. All that it says goes to the file `words`."""
    done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=timeout)
    if words:
        with open(words, "w") as file:
            file.write(done.stderr + done.stdout)
    if done.returncode not in good:
        raise RuntimeError(f"tenon {arguments[0]}: {(done.stderr.strip() or 'no word').splitlines()[-1]}")
    return done.stdout


def recorded(path):
    import onnx
    from onnx import numpy_helper

    with open(path, "rb") as file:
        return numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))


def rms(x):
    return float(np.sqrt(np.mean(np.square(x.astype(np.float64)))))


def check(command, plan, folder, batch, made):
    """The largest error of an output, relative: the root of the mean square, each row of a batch with the recorded one."""
    data = os.path.join(folder, "test_data_set_0")
    inputs = sorted(glob.glob(os.path.join(data, "input_*.pb")), key=lambda n: int(n.split("_")[-1][:-3]))
    tenon(command, "run", plan, "--repeat", "4", "--batch", batch, *[word for name in inputs for word in ("-i", name)], "-o", made)
    worst = 0.0
    for name in glob.glob(os.path.join(made, "output_*.npy")):
        want = recorded(os.path.join(data, f"output_{os.path.basename(name).split('_')[1]}.pb"))
        worst = max(worst, rms(np.load(name).astype(np.float64) - want) / (rms(want) or 1.0))
    return worst


TIMES = ("device_median_ms", "device_p10_ms", "device_p90_ms", "row_median_ms", "enqueue_median_ms", "row_enqueue_median_ms", "steps",
         "arena_bytes", "peak_alive_bytes", "device_peak_bytes", "load_ms", "clock_before_mhz", "clock_after_mhz", "waits", "device")


def time_plan(command, plan, result):
    bench = json.loads(tenon(command, "bench", plan, "--json", "--seconds", "0.6").splitlines()[-1])
    result.update({key: bench.get(key) for key in TIMES})


def measure_one(command, row, profiles, plans, options):
    folder, kind, batch = row.rsplit(":", 2)
    result = {"model": os.path.basename(os.path.normpath(folder)), "type": kind, "batch": int(batch), "peer": "tenon"}
    with tempfile.TemporaryDirectory() as made:
        plan = os.path.join(plans or made, f"{result['model']}.{kind}.{batch}.plan")
        permits = ["--no-tf32"] if kind == "fp32" else ["--" + kind]
        begin = time.time()
        told = os.path.join(profiles, f"{result['model']}.{kind}.{batch}.build.txt") if profiles else None
        tenon(command, "build", os.path.join(folder, "model.onnx"), "--device", "cuda", "--batch", batch, "-o", plan,
              *(["--verbose"] if profiles else []), *permits, *options, words=told)
        result["build_s"] = time.time() - begin
        if profiles:
            tenon(command, "inspect", plan, "--no-run", "--refusals", words=told.replace(".build.txt", ".steps.txt"))
        time_plan(command, plan, result)
        result["error"] = check(command, plan, folder, batch, os.path.join(made, "outputs"))
    return result


def measure(arguments):
    options = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    arguments = arguments[: arguments.index("--")] if "--" in arguments else arguments
    command, results, seconds, rows = arguments[0], arguments[1], float(arguments[2]), arguments[3:]
    folders = {"--profiles": None, "--plans": None}
    while rows and rows[0] in folders:
        os.makedirs(rows[1], exist_ok=True)
        folders[rows[0]], rows = rows[1], rows[2:]
    begin = time.time()
    good = True
    for row in rows:
        if time.time() - begin > seconds:
            print(f"left out, the time is over: {row}", flush=True)
            continue
        try:
            result = measure_one(command, row, folders["--profiles"], folders["--plans"], options)
        except (RuntimeError, OSError, ValueError) as error:
            result = {"row": row, "failed": str(error)[:300]}
            good = False
        with open(results, "a") as file:
            file.write(json.dumps(result) + "\n")
        print(json.dumps(result), flush=True)
    return 0 if good else 1


def again(arguments):
    command, results, plans = arguments[0], arguments[1], arguments[2:]
    for plan in plans:
        model, kind, batch, _ = os.path.basename(plan).rsplit(".", 3)
        result = {"model": model, "type": kind, "batch": int(batch), "peer": "tenon"}
        time_plan(command, plan, result)
        with open(results, "a") as file:
            file.write(json.dumps(result) + "\n")
    return 0


# ---- The table ----


def read_rows(paths):
    """Times in ms by (model, type, batch), by column."""
    rows, notes = {}, {}
    for path in paths:
        with open(path) as file:
            text = file.read()
        try:
            items = json.loads(text)["rows"]  # a peer's
        except (ValueError, KeyError):
            items = [json.loads(line) for line in text.splitlines() if line]
        for item in items:
            if "model" not in item or item.get("peer") == "error":
                continue
            key = (item["model"], item.get("type", item.get("prec")), item["batch"])
            rows.setdefault(key, {})[item["peer"]] = item.get("device_median_ms", item.get("ms"))
            if item["peer"] == "tenon":
                notes.setdefault(key, {}).update(item)
    return rows, notes


def table(arguments):
    rows, notes = read_rows(arguments)
    peers = ["eager", "eager+cudagraph", "compile+cudagraph", "freeze+cudagraph"]
    print("| model | type | batch | " + " | ".join(peers) + " | tenon | p10–p90 | best peer / tenon | eager+graph / tenon | error | build s |")
    print("|" + "---|" * (len(peers) + 9))
    ratios = []
    for key in sorted(rows):
        own = rows[key].get("tenon")
        note = notes.get(key, {})
        others = [rows[key][p] for p in peers[1:] if rows[key].get(p)]
        cells = [f"{rows[key][p]:.3f}" if rows[key].get(p) else "–" for p in peers]
        eager = rows[key].get("eager+cudagraph")
        ratios += [min(others) / own] if own and others else []
        cells += [f"**{own:.3f}**", f"{note['device_p10_ms']:.3f}–{note['device_p90_ms']:.3f}"] if own else ["–", "–"]
        cells += [f"{min(others) / own:.2f}" if own and others else "–", f"{eager / own:.2f}" if own and eager else "–"]
        cells += [f"{note['error']:.1e}", f"{note['build_s']:.1f}"] if own else ["–", "–"]
        print(f"| {key[0]} | {key[1]} | {key[2]} | " + " | ".join(cells) + " |")
    if ratios:
        print(f"\nGeometric mean of best peer / tenon over {len(ratios)} rows: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    return 0


if __name__ == "__main__":
    for word, least, function in (("measure", 5, measure), ("again", 5, again), ("table", 3, table)):
        if len(sys.argv) >= least and sys.argv[1] == word:
            sys.exit(function(sys.argv[2:]))
    sys.exit(__doc__)
