#!/usr/bin/env python3
"""How far networks in a narrow type are from f64: ours beside PyTorch's.

usage: accuracy.py TENON TYPE DEVICE NETWORK... [-- option of tenon run...]

TYPE is fp16 or bf16, DEVICE a device of Tenon's. PyTorch computes on a GPU where it finds one, else on the CPU. NETWORK is a folder with
model.onnx and test_data_set_0. For each output, over all of its elements, the root of the mean square of the error, relative to that of
the output in f64. The exit status is 1 where ours is more than 1.5 times PyTorch's, 77 where there is no PyTorch or no such device.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np

MOST = 1.5


def size(x):
    return float(np.sqrt(np.mean(np.square(x.astype(np.float64))))) if x.size else 0.0


def read(path):
    import onnx
    from onnx import numpy_helper

    with open(path, "rb") as file:
        return numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))


def ours(tenon, kind, device, folder, options):
    with tempfile.TemporaryDirectory() as made:
        data = os.path.join(folder, "test_data_set_0")
        command = [tenon, "run", os.path.join(folder, "model.onnx"), "--device", device, "--" + kind, "--data-set", data, "-o", made]
        done = subprocess.run(command + options, capture_output=True, text=True)
        if done.returncode not in (0, 1):  # 1: they differ from what was recorded in f32, as they may
            raise RuntimeError(done.stderr.strip() or f"exit status {done.returncode}")
        names = glob.glob(os.path.join(made, "output_*.npy"))
        return [np.load(name) for name in sorted(names, key=lambda n: int(os.path.basename(n).split("_")[1]))]


def compare(tenon, kind, device, folder, options):
    """Lines of the table; whether all are good enough."""
    import onnx
    import torch
    import torch_onnx

    model = onnx.load(os.path.join(folder, "model.onnx"))
    lacking = torch_onnx.missing(model)
    name = os.path.basename(os.path.normpath(folder))
    if lacking:
        return [f"| {name} | | not compared: PyTorch's side has no {', '.join(lacking)} | | |"], True
    data = os.path.join(folder, "test_data_set_0")
    inputs = [read(os.path.join(data, f"input_{k}.pb")) for k in range(len(glob.glob(os.path.join(data, "input_*.pb"))))]
    where = "cuda" if torch.cuda.is_available() else "cpu"
    exact = torch_onnx.run(model, inputs, where, torch.float64)
    try:
        narrow = torch_onnx.run(model, inputs, where, {"fp16": torch.float16, "bf16": torch.bfloat16}[kind])
    except RuntimeError as error:
        return [f"| {name} | | not compared: PyTorch cannot: {str(error).splitlines()[0][:120]} | | |"], True
    lines, good = [], True
    for value, x, theirs, own in zip(model.graph.output, exact, narrow, ours(tenon, kind, device, folder, options)):
        if not np.issubdtype(x.dtype, np.floating):
            continue
        scale = size(x) or 1.0
        errors = [size(y - x) / scale for y in (theirs, own)]
        ratio = errors[1] / errors[0] if errors[0] > 0 else (1.0 if errors[1] == 0 else float("inf"))
        good = good and ratio <= MOST
        lines.append(f"| {name} | {value.name} | {errors[0]:.2e} | {errors[1]:.2e} | {ratio:.2f} |")
    return lines, good


def main():
    arguments = sys.argv[1:]
    options = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    arguments = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if len(arguments) < 4:
        sys.exit(__doc__)
    tenon, kind, device = arguments[:3]
    try:
        import onnx  # noqa: F401
        import torch
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    good = True
    print("| network | output | PyTorch | Tenon | ratio |\n|---|---|---|---|---|")
    for folder in arguments[3:]:
        try:
            lines, is_good = compare(tenon, kind, device, folder, options)
        except (RuntimeError, OSError) as error:
            lines, is_good = [f"| {os.path.basename(os.path.normpath(folder))} | | FAILED: {str(error).splitlines()[-1][:200]} | | |"], False
        good = good and is_good
        print("\n".join(lines), flush=True)
    sys.exit(0 if good else 1)


main()
