#!/usr/bin/env python3
"""Optimises networks with ONNX Runtime and compares Tenon's outputs with ONNX Runtime's.

usage: networks.py TENON WORK FOLDER... [--levels LEVEL...]

Each FOLDER has model.onnx and test_data_set_0 with inputs. Levels: extended and all, of ONNX Runtime's optimiser;
bert, gpt2, vit, t5, unet and others, the model types of onnxruntime.transformers.optimizer. Prints a line for each network and
level: the operators outside of ONNX's domain, and the result. The exit status is 1 if outputs differ.
"""
import argparse
import collections
import pathlib
import shutil
import subprocess
import sys

import block_size

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import numpy_helper
except ImportError as error:
    print(f"skipped: {error}; scripts/python-environment makes an environment with onnxruntime")
    sys.exit(77)

LEVELS = {"extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
          "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}


def optimise(model, level, out):
    """Writes the optimised network. Returns a reason if ONNX Runtime does not."""
    if level in LEVELS:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = LEVELS[level]
        options.optimized_model_filepath = str(out)
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "optimised.bin")
        options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
        onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        return None
    from onnxruntime.transformers import optimizer
    result = optimizer.optimize_model(str(model), model_type=level, opt_level=0)
    result.save_model_to_file(str(out), use_external_data_format=True)
    return None


def operators(path):
    graph = onnx.load(path, load_external_data=False).graph
    counts = collections.Counter(f"{node.domain}::{node.op_type}" if node.domain != "com.microsoft" else node.op_type
                                 for node in graph.node
                                 if node.domain or node.op_type == "SimplifiedLayerNormalization")
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def read_inputs(folder):
    paths = sorted(folder.glob("input_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(path)) for path in paths]


def write(folder, kind, values, infos):
    for index, (value, info) in enumerate(zip(values, infos)):
        (folder / f"{kind}_{index}.pb").write_bytes(
            numpy_helper.from_array(np.asarray(value), info.name).SerializeToString())


def compare(tenon, work, folder, level):
    """Returns the operators and the result."""
    shutil.rmtree(work, ignore_errors=True)
    data = work / "test_data_set_0"
    data.mkdir(parents=True)
    model = work / "model.onnx"
    reason = optimise(folder / "model.onnx", level, model)
    if reason:
        return "", reason
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    inputs = read_inputs(folder / "test_data_set_0")
    feeds = {info.name: value for info, value in zip(session.get_inputs(), inputs)}
    outputs = session.run(None, feeds)
    if level == "all":
        block_size.add(model, block_size.of_processor())
    write(data, "input", [feeds[info.name] for info in session.get_inputs()], session.get_inputs())
    write(data, "output", outputs, session.get_outputs())
    run = subprocess.run([tenon, "suite", str(work), "--rtol", "1e-3", "--no-cache", "--timeout", "600", "--no-measuring"],
                         capture_output=True, text=True)
    lines = (run.stdout + run.stderr).strip().splitlines()
    result = "agrees" if "1 passed" in lines[-1] else " ".join(lines)[:400]
    return operators(model), result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tenon")
    parser.add_argument("work")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--levels", nargs="*", default=["extended", "all"])
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    failures = 0
    print("| network | level | operators of ONNX Runtime | result |\n|---|---|---|---|")
    for folder in map(pathlib.Path, arguments.folders):
        for level in arguments.levels:
            try:
                names, result = compare(arguments.tenon, pathlib.Path(arguments.work) / f"{folder.name}_{level}", folder, level)
            except Exception as error:  # ONNX Runtime raises many types
                names, result = "", f"{type(error).__name__}: {str(error)[:300]}"
            failures += result != "agrees"
            print(f"| {folder.name} | {level} | {names} | {result} |", flush=True)
    sys.exit(failures > 0)


main()
