#!/usr/bin/env python3
"""Writes expected.bin: small frozen graphs and UFF files, what goes into them, and what must come out.

    python3 make_expected.py [FILE]     default: expected.bin beside this script; needs tensorflow-cpu

What must come out is what TensorFlow computes: of a frozen graph by running it, of a UFF file by running the operations that it
was made from. Inputs are random with a fixed seed for each case. The test needs neither. At the end the script says which
operations of the parser no case has.

The file: "TNTF0001", then for each case its name and its model (each a length of 32 bits and bytes), inputs and outputs (a count of
32 bits; each a name, the name of its element type, a rank of 32 bits, extents of 64 bits, elements), little-endian.
"""
import os
import re
import struct
import sys
import zlib
from pathlib import Path

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from google.protobuf import text_format

from uff import Uff

v1 = tf.compat.v1
raw = tf.raw_ops
v1.disable_eager_execution()

MNEMONICS = {"float32": "f32", "float64": "f64", "float16": "f16", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
             "uint16": "u16", "bool": "bool"}
cases = []
seen = {"tensorflow": set(), "": set()}


def bytes_of(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<I", len(value)) + value


def tensors_of(values):
    content = struct.pack("<I", len(values))
    for name, value in values.items():
        value = np.asarray(value)
        content += bytes_of(name) + bytes_of(MNEMONICS[str(value.dtype)])
        content += struct.pack(f"<I{value.ndim}q", value.ndim, *value.shape) + value.tobytes()
    return content


def random(*dims, low=-2.0, high=2.0, seed=0, dtype=np.float32):
    generator = np.random.default_rng(zlib.crc32(repr((dims, low, high, seed)).encode()))
    if np.issubdtype(dtype, np.integer):
        return generator.integers(int(low), int(high), dims).astype(dtype)
    return generator.uniform(low, high, dims).astype(dtype)


def graph_of(build, inputs, shapes=None):
    """Runs build(placeholders...) once: the graph, names of outputs, their values."""
    graph = v1.Graph()
    with graph.as_default():
        placeholders = [v1.placeholder(value.dtype, (shapes or {}).get(name, value.shape), name) for name, value in inputs.items()]
        results = build(*placeholders)
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        results = [r for r in results if r is not None]
        with v1.Session(graph=graph) as session:
            values = session.run(results, {p: v for p, v in zip(placeholders, inputs.values())})
    definition = v1.graph_util.extract_sub_graph(graph.as_graph_def(), [r.op.name for r in results])
    for node in definition.node:
        for key in [k for k in node.attr if k.startswith("_")]:
            del node.attr[key]
        node.device = ""
    definition.ClearField("library")
    names = [r.name[:-2] if r.name.endswith(":0") else r.name for r in results]
    return definition, dict(zip(names, [np.asarray(v) for v in values]))


def tf_case(name, build, *values, shapes=None, text=False, edit=None, **named):
    """Inputs are x, y, z ... in order of `values`, and `named` ones. `edit` makes a node of what TensorFlow computed one of an
    operator that it does not make any more, and that means the same."""
    inputs = {**dict(zip("xyzuvw", values)), **named}
    definition, outputs = graph_of(build, inputs, shapes)
    for node in definition.node if edit else []:
        edit(node)
    seen["tensorflow"].update(node.op for node in definition.node)
    model = text_format.MessageToString(definition).encode() if text else definition.SerializeToString(deterministic=True)
    for output, value in outputs.items():
        assert value.dtype == bool or np.all(np.isfinite(value) | (value == value)), (name, output)
    cases.append((name, model, inputs, outputs))


def uff_case(name, write, build, *values, shapes=None):
    """`write` makes the UFF graph and returns its outputs' names, `build` the same in TensorFlow."""
    inputs = dict(zip("xyzuvw", values))
    uff = Uff()
    for key, value in inputs.items():
        uff.input(key, (shapes or {}).get(key, value.shape), str(value.dtype))
    names = write(uff)
    names = names if isinstance(names, (list, tuple)) else [names]
    _, outputs = graph_of(build, inputs)
    for output in names:
        uff.output(output)
    operations = re.findall(rb"\x1a.([A-Za-z_0-9]+)", uff.binary(), re.S)
    seen[""].update(o.decode() for o in operations)
    cases.append(("uff." + name, uff.binary(), inputs, dict(zip(names, outputs.values()))))


def uff_text_case(name, model, build, *values):
    inputs = dict(zip("xyzuvw", values))
    _, outputs = graph_of(build, inputs)
    cases.append(("uff." + name, model.encode(), inputs, dict(zip(["r"], outputs.values()))))


import cases_tensorflow  # noqa: E402
import cases_uff  # noqa: E402

cases_tensorflow.add(tf_case, random)
cases_uff.add(uff_case, random)
cases_uff.add_text(uff_text_case, random)

content = b"TNTF0001"
for name, model, inputs, outputs in cases:
    content += bytes_of(name) + bytes_of(model) + tensors_of(inputs) + tensors_of(outputs)
target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("expected.bin")
target.write_bytes(content)

# Every row of the parser's tables has a case, but for those that a graph of today cannot be made of.
rows = {"tensorflow": set(), "": set()}
for source in (Path(__file__).parents[2] / "parser_uff/converters").glob("*.c"):
    for macro, operation in re.findall(r"\b(TENON__UFF_ROW|TENON__UFF_TF_ROW|UFF|TF|SAME|MATH_1|MATH_2|PASSES)\(\s*\"(\w+)\"", source.read_text()):
        rows["" if macro in ("TENON__UFF_ROW", "UFF") else "tensorflow"].add(operation)
print(f"{len(cases)} cases, {len(content)} bytes")
for domain, title in (("tensorflow", "TensorFlow"), ("", "UFF")):
    missing = sorted(rows[domain] - seen[domain])
    print(f"{title}: {len(rows[domain])} operations, {len(rows[domain]) - len(missing)} with a case; without: {' '.join(missing)}")
