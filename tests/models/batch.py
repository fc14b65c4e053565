#!/usr/bin/env python3
"""Makes a data set of batch 3 of a network's recorded one of batch 1.

usage: batch.py TENON MODEL

MODEL/batch_3 gets input_i.npy and output_i.npy. Row 0 is the recorded one. The others are new, and every row is another, so that a
network that mixes rows up is noticed. Their outputs are ONNX Runtime's where that is installed, else Tenon's at batch 1, which the
recorded row ties to ONNX Runtime.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

ROWS = 3


def read(path):
    with open(path, "rb") as file:
        return numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))


def read_all(folder, kind):
    count = len(glob.glob(os.path.join(folder, f"{kind}_*.pb")))
    return [read(os.path.join(folder, f"{kind}_{i}.pb")) for i in range(count)]


def more_rows(first):
    """The recorded row, the same turned about, and shifted: of the same distribution, and not equal."""
    flat = first.reshape(1, -1)
    rows = [flat, flat[:, ::-1], np.roll(flat, flat.shape[1] // 3, axis=1)]
    return np.concatenate(rows).reshape((ROWS,) + first.shape[1:])


def by_onnxruntime(model, names, inputs):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, inputs)))


def by_tenon(tenon, model, names, inputs, recorded):
    rows = [recorded]
    for row in range(1, ROWS):
        with tempfile.TemporaryDirectory() as folder:
            command = [tenon, "run", model, "--no-cache", "--output", folder]
            for i, value in enumerate(inputs):
                path = os.path.join(folder, f"given_{i}.npy")
                np.save(path, np.ascontiguousarray(value[row:row + 1]))
                command += ["--input", f"{names[i]}={path}"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            rows.append([np.load(glob.glob(os.path.join(folder, f"output_{i}_*.npy"))[0])
                         for i in range(len(recorded))])
    return [np.concatenate([row[i] for row in rows]) for i in range(len(recorded))]


def main():
    tenon, folder = sys.argv[1:3]
    model = os.path.join(folder, "model.onnx")
    graph = onnx.load(model, load_external_data=False).graph
    given = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in given]
    data_set = os.path.join(folder, "test_data_set_0")
    inputs = [more_rows(value) for value in read_all(data_set, "input")]
    recorded = read_all(data_set, "output")
    try:
        outputs = by_onnxruntime(model, names, inputs)
    except ImportError:
        outputs = by_tenon(tenon, model, names, inputs, recorded)
    target = os.path.join(folder, "batch_3")
    os.makedirs(target, exist_ok=True)
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, value in enumerate(values):
            np.save(os.path.join(target, f"{kind}_{i}.npy"), np.ascontiguousarray(value))


if __name__ == "__main__":
    main()
