#!/usr/bin/env python3
"""Records what ONNX Runtime computes where the test data recorded nothing: silero at 8 kHz, and at batches other than 1.

usage: record_silero.py MODELS OUT

MODELS is the folder that TENON_TEST_DATA names. OUT/MODEL/CASE gets input_i.pb and output_i.pb, as the test data have them.
Needs onnx and onnxruntime, which the tests themselves do not.
"""
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

# Samples of one window with what is kept of the one before: 512 + 64 at 16 kHz, 256 + 32 at 8 kHz.
WINDOWS = {16000: 576, 8000: 288}
STATEFUL = ["onnx_silero_vad_16k_op15", "onnx_silero_vad_op18_ifless"]
CASES = [(8000, 1), (8000, 3), (16000, 2), (16000, 3)]


def speech_like(random, batch, samples, rate):
    """Vowels of different pitch in noise, so that rows differ and not all are silence."""
    time = np.arange(samples) / rate
    rows = []
    for row in range(batch):
        pitch = 110 * (row + 1)
        tone = sum(np.sin(2 * np.pi * pitch * k * time) / k for k in range(1, 6))
        rows.append(0.2 * row * tone + 0.02 * random.standard_normal(samples))
    return np.stack(rows).astype(np.float32)


def write(folder, kind, values, names):
    for i, value in enumerate(values):
        with open(os.path.join(folder, f"{kind}_{i}.pb"), "wb") as file:
            file.write(numpy_helper.from_array(value, names[i]).SerializeToString())


def record(models, out, name, case, feed):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        os.path.join(models, name, "model.onnx"), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    folder = os.path.join(out, name, case)
    os.makedirs(folder, exist_ok=True)
    outputs = session.run(None, {key: feed[key] for key in names})
    write(folder, "input", [feed[key] for key in names], names)
    write(folder, "output", outputs, [value.name for value in session.get_outputs()])
    print(folder, [list(value.shape) for value in outputs], outputs[0].ravel()[:4])


def record_stateful(models, out, name, random):
    for rate, batch in CASES:
        feed = {"input": speech_like(random, batch, WINDOWS[rate], rate),
                "state": 0.1 * random.standard_normal((2, batch, 128)).astype(np.float32),
                "sr": np.array(rate, dtype=np.int64)}
        record(models, out, name, f"sr_{rate}_batch_{batch}", feed)


def main():
    models, out = sys.argv[1:3]
    random = np.random.default_rng(20)
    for name in STATEFUL:
        record_stateful(models, out, name, random)
    feed = {"input": speech_like(random, 3, 4000, 16000)}
    record(models, out, "onnx_silero_vad_v2_mini", "batch_3", feed)
    # silero_vad.onnx of the repository snakers4/silero-vad, which the test data lack.
    if os.path.isdir(os.path.join(models, "onnx_silero_vad_v5")):
        record_stateful(models, out, "onnx_silero_vad_v5", random)


if __name__ == "__main__":
    main()
