#!/usr/bin/env python3
"""Builds and runs recorded cases with one error each. The command must build the model or refuse it.

usage: mutated.py TENON CASES [--domain PREFIX] [--seed N] [--count M] [--only WORD] [--keep FOLDER]

An error is, in a node of a domain that begins with PREFIX, an attribute with another value or none, an input or constant of another shape, or an absent input. The command fails the
test if it ends with another status than 0 or 3 (an error with a message), if it takes longer than 60 seconds, or if its message is one
of a sanitizer. Plans with at most 16 MiB of data run on random inputs. --keep stores models that fail. The exit status is 1 if there is
one, or if no plan runs, 77 if onnx is not installed.
"""
import argparse
import collections
import glob
import json
import math
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx.numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

NUMBERS = (0, -1, 1, 3, 7, 2**31, 2**62, -(2**63), 2**63 - 1)
FLOATS = (0.0, -1.0, float("nan"), float("inf"))


def change_attribute(draw, model, node):
    attribute = draw.choice(node.attribute)
    if draw.random() < 0.2:
        node.attribute.remove(attribute)
    elif attribute.type == onnx.AttributeProto.INT:
        attribute.i = draw.choice(NUMBERS)
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = draw.choice(FLOATS)
    elif attribute.type == onnx.AttributeProto.INTS:
        del attribute.ints[:]
        attribute.ints.extend(draw.choices(NUMBERS, k=draw.randint(0, 5)))
    else:
        attribute.s = b"unknown"


def change_input(draw, model, node):
    extents = draw.choice(model.graph.input).type.tensor_type.shape.dim
    kind = draw.randrange(4)
    if kind == 0 and extents:
        draw.choice(extents).dim_value = draw.choice((0, 1, 3, 5, 7, 2**40, 2**62))
    elif kind == 1:
        del extents[draw.randint(0, len(extents)):]
    elif kind == 2:
        extents.add().dim_value = 2
    else:
        for extent in extents:
            extent.dim_value = draw.randint(0, 1)


def change_constant(draw, model, node):
    tensor = draw.choice(model.graph.initializer)
    if tensor.data_type > onnx.TensorProto.BFLOAT16:
        return  # numbers of less than 8 bits, which old versions of onnx cannot read
    array = onnx.numpy_helper.to_array(tensor)
    shapes = [array[None], array.reshape(-1), array.reshape(-1)[: array.size // 2]]
    if array.ndim > 0:
        shapes += [array[:-1], array[..., :-1]]
    tensor.CopyFrom(onnx.numpy_helper.from_array(np.ascontiguousarray(draw.choice(shapes)), tensor.name))


def leave_out(draw, model, node):
    node.input[draw.randrange(len(node.input))] = ""


def mutate(draw, path, domain):
    model = onnx.load(path)
    node = draw.choice([node for node in model.graph.node if node.domain.startswith(domain)] or model.graph.node)
    changes = [change_attribute] * 3 * bool(node.attribute) + [change_input] * bool(model.graph.input)
    changes += [change_constant] * bool(model.graph.initializer) + [leave_out] * bool(node.input)
    change = draw.choice(changes)
    change(draw, model, node)
    return model, f"{node.op_type}: {change.__name__}"


def command(tenon, *words):
    """Returns the exit status, or a word, and the text of a command."""
    try:
        done = subprocess.run([tenon, *words], capture_output=True, text=True, errors="replace", timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "timeout", "", ""
    is_fault = "Sanitizer" in done.stderr or "runtime error" in done.stderr
    return ("sanitizer" if is_fault else done.returncode), done.stdout, done.stderr


def is_small(description):
    """Returns whether inputs, outputs and memory of a plan, as `inspect --json` prints it, are small enough to run."""
    limit = 2**24
    rows = [json.loads(line) for line in description.splitlines()]
    elements = sum(abs(math.prod(row.get("max", row["shape"]))) for row in rows if "input" in row or "output" in row)
    return elements <= limit // 4 and rows[0]["arena_bytes"] + rows[0]["scratch_bytes"] <= limit


def status_of(tenon, model):
    """Returns the exit status, or a word, the last line of the messages, and whether the plan was run."""
    plan = model + ".plan"
    is_run = False
    status, _, text = command(tenon, "build", model, "-o", plan, "--no-measuring", "--no-cache")
    if status == 0:
        status, description, text = command(tenon, "inspect", plan, "--json", "--no-run")
        is_run = status == 0 and is_small(description)
    if is_run:
        status, _, text = command(tenon, "run", plan)
        status = 0 if status == 3 else status  # random indices may be out of range
    return status, (text.strip().splitlines() or [""])[-1], is_run


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tenon")
    parser.add_argument("cases")
    parser.add_argument("--domain", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    options = parser.parse_args()
    models = sorted(glob.glob(f"{options.cases}/**/model.onnx", recursive=True))
    models = [model for model in models if options.only in model]
    counts, faults, runs = collections.Counter(), 0, 0
    for seed in range(options.seed, options.seed + options.count):
        draw = random.Random(seed)
        model, name = mutate(draw, draw.choice(models), options.domain)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            with open(path, "wb") as file:
                file.write(model.SerializeToString())
            status, message, is_run = status_of(options.tenon, path)
        counts[status] += 1
        runs += is_run
        if status not in (0, 3):
            faults += 1
            print(f"seed {seed}: {name}: {status}: {message}", flush=True)
            if options.keep:
                onnx.save(model, os.path.join(options.keep, f"{seed}.onnx"))
    print(f"{options.count} models: {counts[0]} built, {runs} of them run, {counts[3]} refused, {faults} faults")
    return 1 if faults or runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
