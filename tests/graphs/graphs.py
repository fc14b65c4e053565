#!/usr/bin/env python3
"""Random valid ONNX graphs, Tenon against ONNX Runtime. See README.md.

usage: graphs.py BUILD [--first SEED] [--count N] [--jobs N] [--modes NAME,...] [--nodes A:B] [--out FOLDER]
                 [--only FUNCTION,...] [--open P] [--zero P] [--threads N] [--no-reduce] [--minutes M] [--coverage]
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import threading
import time

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}; scripts/python-environment makes an environment with onnx and onnxruntime")
    sys.exit(77)

import draw_compute
import draw_elementwise
import draw_movement
import draw_other
from graph import ML_OPSET, OPSETS, Graph, run_onnxruntime
from reduce import Part, listing, reduce_graph, write_case
from runner import Runner, differs, tolerance_of

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = {"default": "", "reference": "reference no-measuring", "no-fusion": "no-fusion no-measuring",
         "no-measuring": "no-measuring", "file": "file no-measuring", "refit": "refit no-measuring",
         "far": "device=far no-measuring", "cuda": "device=cuda no-measuring", "cuda-measured": "device=cuda"}
CPU_MODES = "default,reference,no-fusion,no-measuring,file,refit,far"
NOT_REFITTED = {"refit-refused": "refit: refused by name", "refit-invalid": "refit: the other weights are not valid"}
CONTENTS = 1024  # maximum elements of integer weights that a plan may use as constants: a refit keeps them
FUNCTIONS = [f for module in (draw_elementwise, draw_movement, draw_compute, draw_other)
             for f, weight in module.DRAW for _ in range(weight)]


def read_table(name, columns):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        rows = [[c.strip() for c in line.split(" | ")] for line in file if line.strip() and line[0] != "#"]
    for row in rows:
        if len(row) != columns:
            sys.exit(f"{name}: {columns} columns are needed: {row}")
    return rows


def without_details(message):
    """The message without names and numbers, which the reduction changes."""
    return re.sub(r"'[^']*'|\[[^]]*\]|\([^)]*\)|\d+", "", message)


def profile_of(part):
    """Extents from 1 (or 0) to twice the value's for open extents."""
    ranges = []
    for name, dims in part.dims.items():
        shape = part.values[name].shape
        if any(isinstance(d, str) for d in dims):
            least = [1 if isinstance(d, str) else d for d in dims]
            most = [2 * s if isinstance(d, str) else d for s, d in zip(shape, dims)]
            ranges.append((name, (least, shape, most)))
    return ranges


class Tester:
    def __init__(self, settings):
        self.settings = settings
        self.counts, self.operators = collections.Counter(), collections.Counter()
        paths = ":".join(os.path.join(settings.build, p) for p in ("plugins", "tests/far_device"))
        self.runner = Runner(os.path.join(settings.build, "tests/graphs_runner"), paths,
                             os.path.join(settings.out, "runner.log"))
        self.known = [(re.compile(row[4]), row[0]) for row in read_table("differences", 5) if row[4] != "-"]
        self.failures = 0

    def other_weights(self, part):
        """A model with other weights of f32 and 8 bits, and the weights that a refit sets."""
        shapes = {n for node in part.nodes if node.op_type == "Resize" for n in node.input[1:]}
        names = [n for n in part.constants
                 if part.values[n].dtype in (np.float32, np.uint8, np.int8) and n not in shapes
                 and part.values[n].size > (1 if part.values[n].dtype == np.float32 else CONTENTS)]
        values = dict(part.values)
        for name in names:
            value = values[name]
            other = value * np.float32(.75) + np.float32(.125) if value.dtype == np.float32 else value ^ 1
            values[name] = np.asarray(other)
        return part.model(values), [(n, part.values[n]) for n in names]

    def try_part(self, part, mode):
        """None, or (kind, message)."""
        model, weights = self.other_weights(part) if mode == "refit" else (part.model(), [])
        if mode == "refit" and not weights:
            return None
        feeds = {n: part.values[n] for n in part.inputs}
        options = f"{MODES[mode]} threads={self.settings.threads}"
        kind, message, outputs = self.runner.run(options, model.SerializeToString(), feeds, profile_of(part), weights)
        if mode == "refit" and "the plan expects" in message:
            kind = "refit-refused"  # a weight decides an extent
        if mode == "refit" and kind == "refused" and not self.is_valid(model, feeds):
            kind = "refit-invalid"  # the other weights decide extents or indices that do not fit
        if kind != "right":
            return kind, message
        rounded = None
        for name, output in zip(part.outputs, outputs):
            found = differs(name, output, part.values[name])
            if found and found[0] == "values" and self.is_sensitive(part.part_of(name)):
                rounded = "rounding", found[1]
            elif found:
                return found
        return rounded

    @staticmethod
    def is_valid(model, feeds):
        try:
            run_onnxruntime(model, feeds)
            return True
        except Exception:
            return False

    def is_sensitive(self, part):
        """Whether small changes of the leaves change the result as much as the tolerance: rounding decides."""
        random = np.random.default_rng(0)
        leaves = part.inputs + part.constants
        for _ in range(3):
            values = dict(part.values)
            for name in leaves:
                if values[name].dtype.kind == "f":
                    noise = random.uniform(-1, 1, values[name].shape) * 2e-6
                    values[name] = np.asarray(values[name] * (1 + noise), values[name].dtype)
            try:
                results = run_onnxruntime(part.model(values, {}), {n: values[n] for n in part.inputs})
            except Exception:
                return True
            for name, result in zip(part.outputs, results):
                wanted = part.values[name]
                if result.shape != wanted.shape:
                    return True
                if wanted.dtype == object or not wanted.size:
                    continue
                if (np.abs(result.astype(float) - wanted.astype(float)) > np.asarray(tolerance_of(wanted)) / 10).any():
                    return True
        return False

    def known_cause(self, failure):
        return next((cause for pattern, cause in self.known if pattern.search(f"{failure[0]}: {failure[1]}")), None)

    def try_seed(self, seed):
        graph = Graph(seed, self.settings, self.functions())
        if not graph.outputs:
            return
        part = Part(graph, graph.outputs, set(), set(graph.constants), graph.dims)
        try:  # Rounding through the whole graph is part of what is compared.
            feeds = {n: graph.values[n] for n in part.inputs}
            graph.values.update(zip(graph.outputs, run_onnxruntime(part.model(dims={}), feeds)))
        except Exception:
            self.counts["not run by ONNX Runtime"] += 1
            return
        self.counts["graphs"] += 1
        self.counts["nodes"] += len(graph.nodes)
        self.operators.update(n.op_type for n in graph.nodes)
        self.operators.update(m.op_type for n in graph.nodes for a in n.attribute if a.HasField("g") for m in a.g.node)
        for mode in self.settings.modes:
            failure = self.try_part(part, mode)
            if failure and failure[0] == "rounding":
                self.counts[f"{mode}: rounding"] += 1
            elif failure and failure[0] in NOT_REFITTED:
                self.counts[NOT_REFITTED[failure[0]]] += 1
            elif failure and self.known_cause(failure):
                self.counts[f"known: {self.known_cause(failure)}"] += 1
            elif failure:
                self.counts[f"{mode}: {failure[0]}"] += 1
                if not self.report(graph, seed, mode, failure):
                    break
            else:
                self.counts[f"{mode}: right"] += 1

    def functions(self):
        only = self.settings.only
        return [f for f in FUNCTIONS if not only or f.__name__ in only]

    def report(self, graph, seed, mode, failure):
        """Prints and writes the reduced graph. False: other modes of this seed need no report."""
        self.failures += 1
        is_open = " with open extents" if graph.dims else ""
        print(f"seed {seed}, {mode}{is_open}: {failure[0]}: {failure[1][:400]}", flush=True)
        if not self.settings.reduce:
            return True

        def fails(part):
            found = self.try_part(part, mode)
            return found is not None and found[0] == failure[0] and (
                failure[0] != "refused" or without_details(found[1]) == without_details(failure[1]))

        part = reduce_graph(graph, fails)
        found = self.try_part(part, mode)
        folder = os.path.join(self.settings.out, f"seed_{seed}_{mode}")
        write_case(part, folder)
        print(f"  reduced to {folder}: {found}\n{listing(part)}", flush=True)
        return False


def work(settings):
    """One process: a line of JSON for each seed."""
    tester = Tester(settings)
    for seed in range(settings.first, settings.first + settings.count, settings.jobs):
        print("@begin", seed, flush=True)
        tester.try_seed(seed)
        print("@end", json.dumps([tester.counts, tester.operators, tester.failures]), flush=True)
        tester.counts.clear()
        tester.operators.clear()
        tester.failures = 0
    status = tester.runner.finish()
    if status != 0:
        print(f"graphs_runner ends with status {status}: see {tester.runner.log}", flush=True)
        tester.failures = 1
    print("@end", json.dumps([{}, {}, tester.failures]), flush=True)
    print("@refusals", json.dumps(settings.refusals), flush=True)


class Supervisor:
    """Deals the seeds out to processes. If ONNX Runtime ends one of them, the next seed goes on in a new one."""

    def __init__(self, settings):
        self.settings, self.lock = settings, threading.Lock()
        self.counts, self.operators, self.failures = collections.Counter(), collections.Counter(), 0
        self.end = time.time() + 60 * settings.minutes if settings.minutes else float("inf")

    def take(self, line):
        if line.startswith("@end "):
            counts, operators, failures = json.loads(line[5:])
            self.counts.update(counts)
            self.operators.update(operators)
            self.failures += failures
        elif line.startswith("@refusals "):
            self.settings.refusals.update(json.loads(line[10:]))
        elif not line.startswith("@"):
            print(line, end="", flush=True)

    def run_process(self, first):
        """Returns the next seed, or None at the end."""
        settings, seed = self.settings, None
        last = settings.first + settings.count
        command = [sys.executable, *sys.argv, "--work", "--first", str(first), "--count", str(last - first)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                with self.lock:
                    seed = int(line.split()[1]) if line.startswith("@begin ") else seed
                    self.take(line)
                if time.time() > self.end:
                    process.kill()
                    return None
        if process.returncode == 0:
            return None
        if seed is None:
            self.failures += 1
            return None
        with self.lock:
            if process.returncode > 0:
                self.failures += 1
            print(f"seed {seed}: graphs.py or ONNX Runtime ended with status {process.returncode}", flush=True)
        return seed + settings.jobs

    def run_job(self, job):
        first = self.settings.first + job
        while first is not None and first < self.settings.first + self.settings.count:
            first = self.run_process(first)

    def run(self):
        jobs = [threading.Thread(target=self.run_job, args=[k]) for k in range(self.settings.jobs)]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()


def print_coverage(operators):
    """Which operators of these versions are never drawn, and why. False: a reason is missing, or has no use."""
    reasons = dict(read_table("omitted", 2))
    names = {s.name for s in onnx.defs.get_all_schemas_with_history()
             if (s.domain, s.deprecated) in (("", False), ("ai.onnx.ml", False))
             and s.since_version <= (OPSETS[-1] if s.domain == "" else ML_OPSET)
             and not onnx.defs.get_schema(s.name, OPSETS[-1] if s.domain == "" else ML_OPSET, s.domain).deprecated}
    missing = sorted(names - set(operators))
    for name in missing:
        print(f"omitted: {name}: {reasons.get(name, 'NO REASON')}")
    unused = sorted(set(reasons) & set(operators))
    if unused:
        print(f"drawn, but listed as omitted: {', '.join(unused)}")
    print(f"{len(operators)} operators drawn, {len(missing)} omitted")
    return all(n in reasons for n in missing) and not unused and len(operators) >= 150


def main():
    parser = argparse.ArgumentParser(add_help=True)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--modes", default=CPU_MODES)
    parser.add_argument("--nodes", default="8:60")
    parser.add_argument("--out", default="/tmp/tenon-graphs")
    parser.add_argument("--only", default="")
    parser.add_argument("--constants", type=float, default=.4)
    parser.add_argument("--open", type=float, default=.4)
    parser.add_argument("--zero", type=float, default=.08)
    parser.add_argument("--threads", type=int, default=1, help="threads of each run (default: 1)")
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--no-reduce", dest="reduce", action="store_false")
    parser.add_argument("--coverage", action="store_true", help="fail if an operator is neither drawn nor listed in `omitted`")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    settings = parser.parse_args()
    settings.least, settings.most = (int(n) for n in settings.nodes.split(":"))
    settings.modes = settings.modes.split(",")
    settings.only = [n for n in settings.only.split(",") if n]
    settings.refusals = {}
    os.makedirs(settings.out, exist_ok=True)
    if settings.work:
        work(settings)
        return
    started = time.time()
    supervisor = Supervisor(settings)
    supervisor.run()
    counts, operators, failures = supervisor.counts, supervisor.operators, supervisor.failures
    for name, refusal in sorted(settings.refusals.items()):
        if name not in operators:
            print(f"ONNX Runtime never takes {name}: {refusal}")
    complete = print_coverage(operators) or not settings.coverage
    for key, count in sorted(counts.items()):
        print(f"{key}: {count}")
    print(f"{failures} failures in {time.time() - started:.0f} s")
    sys.exit(0 if complete and failures == 0 and counts["graphs"] > 0 else 1)


if __name__ == "__main__":
    main()
