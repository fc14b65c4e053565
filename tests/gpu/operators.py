#!/usr/bin/env python3
"""Single operators on a GPU beside PyTorch, in one run: a seeded draw of operators, sizes, types and orders.

usage: operators.py TENON [--seed N] [--count N] [--seconds S] [--jobs N] [--only WORD,...] [--json FILE] [--models FOLDER]

Each case is a network of one operator in f32 or f16, its images row-major or with channels last. Ours is `row_median_ms` of
`tenon bench --device cuda`, PyTorch's a CUDA graph of the same call, ten replays in a row, so that both have the cost of beginning
a run once for each. Products of f32 may use tf32 in both. Outputs are compared. What would begin later than SECONDS after the start is
left out, and counted.

With --jobs N, where most of the time is that of processes that begin, N plans are built at once, then PyTorch is timed alone, then up to
4 of ours are timed at once, which can only slow them down, and those that are behind once more alone (default: 1, all one by one).

The table has the median of both in microseconds and their ratio: above 1 we are ahead. Exit status 1 if a case fails, differs or is behind.
--models writes the networks and their inputs to FOLDER, and measures nothing.
Needs numpy, onnx, and PyTorch with torchvision for what is measured.
"""
import argparse
import concurrent.futures
import functools
import json
import math
import os
import statistics
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

import race
from operator_cases import FAMILIES, draw

run = functools.partial(race.tenon, timeout=120)
IN_A_ROW, ROWS = 10, 30
AT_ONCE = 4  # processes that time ours


# ---- Ours ----


def data_of(case, k):
    """As the network has input k: of an image, channels last."""
    return np.ascontiguousarray(case.inputs[k].transpose(0, 2, 3, 1)) if case.is_last and k == 0 else case.inputs[k]


def write(case, folder):
    """The network and its inputs, with channels last between two transpositions."""
    names = ["" if x is None else f"x{k}" for k, x in enumerate(case.inputs)]
    inputs, constants, nodes = [], [], []
    for k, x in enumerate(case.inputs):
        if x is None:
            continue
        if k in case.constants:
            constants.append(numpy_helper.from_array(np.asarray(x), names[k]))
        else:
            np.save(os.path.join(folder, f"x{k}.npy"), data_of(case, k))
            inputs.append(helper.make_tensor_value_info(names[k], helper.np_dtype_to_tensor_dtype(x.dtype), data_of(case, k).shape))
    results = [f"y{k}" for k in range(case.outputs)]
    made = results
    if case.is_last:
        nodes.append(helper.make_node("Transpose", ["x0"], ["rows"], perm=[0, 3, 1, 2]))
        names[0], made = "rows", ["made"]
    nodes.append(helper.make_node(case.op, names, made, **case.attributes))
    if case.is_last:
        nodes.append(helper.make_node("Transpose", made, results, perm=[0, 2, 3, 1]))
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name=name) for name in results], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=10)
    onnx.save(model, os.path.join(folder, "model.onnx"))


def build(tenon, folder):
    run(tenon, "build", os.path.join(folder, "model.onnx"), "--device", "cuda", "-o", os.path.join(folder, "model.plan"))


def measure(tenon, case, folder):
    """The bench's last line, and the outputs."""
    given = [word for k, x in enumerate(case.inputs) if x is not None and k not in case.constants
             for word in ("-i", f"x{k}={folder}/x{k}.npy")]
    told = run(tenon, "bench", os.path.join(folder, "model.plan"), "--json", "--seconds", "0.2", "-o", folder, *given)
    bench = json.loads(told.splitlines()[-1])
    names = sorted((name for name in os.listdir(folder) if name.startswith("output_")), key=lambda name: int(name.split("_")[1]))
    return bench, [np.load(os.path.join(folder, name)) for name in names]


# ---- PyTorch ----


def time_peer(torch, case):
    """Microseconds of a graph's replay, and the outputs of a call without one (replays of torchvision's deform_conv2d write none)."""
    tensors = []
    for k, x in enumerate(case.inputs):
        tensor = None if x is None else torch.from_numpy(np.ascontiguousarray(x)).cuda()
        if tensor is not None and tensor.dim() == 4 and case.is_last:
            tensor = tensor.to(memory_format=torch.channels_last)
        tensors.append(tensor)

    def call():
        made = case.peer(torch, *tensors)
        made = made if isinstance(made, tuple) else (made,)
        return [y.permute(0, 2, 3, 1).contiguous() if case.is_last else y for y in made]

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            outputs = call()
    torch.cuda.current_stream().wait_stream(side)
    outputs = [y.cpu().numpy() for y in outputs]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = call()  # where the replays write
    times = []
    for row in range(ROWS + 5):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        for _ in range(IN_A_ROW):
            graph.replay()
        end.record()
        end.synchronize()
        if row >= 5:
            times.append(begin.elapsed_time(end) * 1e3 / IN_A_ROW)
    del kept
    return statistics.median(times), outputs


# ---- Both ----


def error_of(got, want):
    """The root of the mean square of the difference, relative."""
    return race.rms(got.astype(np.float64) - want) / (race.rms(want) or 1.0) if got.shape == want.shape else math.inf


def kind_of(case):
    return "f16" if any(x is not None and x.dtype == np.float16 for x in case.inputs) else "f32"


def begin_row(case):
    return {"op": case.op, "case": case.title, "type": kind_of(case), "order": "last" if case.is_last else "rows"}


def take(row, function, *arguments):
    """What the function returns; of a failure its first line is in the row, and None returned."""
    try:
        return function(*arguments)
    except Exception as error:  # of either side: the others are timed all the same
        row["failed"] = (str(error).splitlines() or [repr(error)])[0][:160]
        return None


def enter(row, bench, outputs, peer):
    row["us"] = (bench.get("row_median_ms") or bench.get("device_median_ms") or bench["median_ms"]) * 1e3
    row["kind"] = "row" if bench.get("row_median_ms") else "device" if bench.get("device_median_ms") else "wall"
    row["peer_us"], wanted = peer
    row["error"] = max(error_of(got, want) for got, want in zip(outputs, wanted))
    row["good"] = len(outputs) == len(wanted) and row["error"] <= 3e-3
    row["ratio"] = row["peer_us"] / row["us"]


def compare_batch(tenon, torch, batch, jobs):
    rows = [begin_row(case) for case, _ in batch]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda row, one: take(row, build, tenon, one[1]), rows, batch))
    peers = [None if "failed" in row else take(row, time_peer, torch, case) for row, (case, _) in zip(rows, batch)]

    def time_ours(row, one, peer):
        made = None if "failed" in row else take(row, measure, tenon, *one)
        if made is not None:
            take(row, enter, row, *made, peer)

    with concurrent.futures.ThreadPoolExecutor(min(jobs, AT_ONCE)) as pool:
        list(pool.map(time_ours, rows, batch, peers))
    for row, one, peer in zip(rows, batch, peers):
        if jobs > 1 and row.get("ratio", 1) < 1:
            time_ours(row, one, peer)
    return rows


def tell(row):
    begin = f"{row['op']:22s} {row['case']:44s} {row['type']} {row['order']}"
    if "failed" in row:
        return f"{begin} failed: {row['failed']}"
    notes = ("" if row["good"] else f" differs by {row['error']:.1e}") + ("" if row["kind"] == "row" else f" ({row['kind']})")
    return f"{begin} {row['us']:9.2f} {row['peer_us']:9.2f} {row['ratio']:6.2f}{notes}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tenon")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=len(FAMILIES))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--models")
    options = parser.parse_args()
    begin = time.time()
    words = [word for word in options.only.lower().split(",") if word]
    cases = [case for case in draw(options.seed, options.count) if not words or any(word in case.op.lower() for word in words)]
    with tempfile.TemporaryDirectory() as made:
        folders = [os.path.join(options.models or made, f"{k:03d}_{case.op}") for k, case in enumerate(cases)]
        for case, folder in zip(cases, folders):
            os.makedirs(folder, exist_ok=True)
            write(case, folder)
        return 0 if options.models else compare_all(options, cases, folders, begin)


def compare_all(options, cases, folders, begin):
    import torch

    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.set_grad_enabled(False)
    rows, left_out = [], 0
    for first in range(0, len(cases), options.jobs):
        batch = list(zip(cases, folders))[first:first + options.jobs]
        if time.time() - begin > options.seconds:
            left_out += len(batch)
            continue
        made = compare_batch(options.tenon, torch, batch, options.jobs)
        rows += made
        print("\n".join(map(tell, made)), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"seed": options.seed, "rows": rows}, file, indent=0)
    timed = [row for row in rows if "ratio" in row]
    behind = [row for row in timed if row["ratio"] < 1]
    wrong = [row for row in rows if "failed" in row or not row["good"]]
    mean = math.exp(statistics.mean(math.log(row["ratio"]) for row in timed)) if timed else 0.0
    print(f"{len(rows)} cases of seed {options.seed}, {mean:.2f} times ahead in the geometric mean, {len(behind)} behind, "
          f"{len(wrong)} failed or different, {left_out} left out: the time was over")
    return 1 if behind or wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
