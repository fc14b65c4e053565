#!/usr/bin/env python3
"""Quantises networks with ONNX Runtime's tools and compares Tenon's outputs with ONNX Runtime's.

usage: quantized.py TENON WORK FOLDER... [--forms FORM...] [--levels LEVEL...]

Each FOLDER has model.onnx and perhaps test_data_set_0 with inputs. Forms: qdq, qdq_pc (a scale for each channel), sym_pc (i8
without zero points), qdq_16 (activations of 16 bits), qop, qop_pc, dynamic, nbits_2, nbits_4, nbits_8, bnb_4. Levels: none,
and those of ONNX Runtime's optimiser. Prints a line for each network, form and level. Differences are parts of the largest
output: between Tenon and ONNX Runtime, and between ONNX Runtime and the network before quantisation. Rounding in another
order moves some values to the next step, which the rest of the network may amplify. So the mean of the first difference must be
below that of the second one, or 1e-5. The exit status is 1 if it is not.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

import block_size

try:
    import numpy as np
    import onnx
    import onnx.version_converter
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime import quantization
    from onnxruntime.capi import onnxruntime_pybind11_state as state
except ImportError as error:
    print(f"skipped: {error}; scripts/python-environment makes an environment with onnxruntime")
    sys.exit(77)

onnxruntime.set_default_logger_severity(4)
LEVELS = {"none": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
          "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
          "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}
U8, S8, U16 = quantization.QuantType.QUInt8, quantization.QuantType.QInt8, quantization.QuantType.QUInt16
STATIC = {"qdq": ("QDQ", U8, S8, False), "qdq_pc": ("QDQ", U8, S8, True), "sym_pc": ("QDQ", S8, S8, True),
          "qdq_16": ("QDQ", U16, S8, False), "qop": ("QOperator", U8, U8, False), "qop_pc": ("QOperator", U8, S8, True)}
FORMS = [*STATIC, "dynamic", "nbits_2", "nbits_4", "nbits_8", "bnb_4"]


class Samples(quantization.CalibrationDataReader):
    def __init__(self, feeds):
        self.rest = [feeds]

    def get_next(self):
        return self.rest.pop() if self.rest else None


def packed_product(node, weights, form, block=32):
    """A product with constant weights as MatMulNBits or MatMulBnb4, and the constants."""
    depth, columns = weights.shape
    name, bits = node.output[0] or node.name, int(form[-1])
    inputs, attributes = [node.input[0]], {"K": depth, "N": columns, "block_size": block}
    if form == "bnb_4":
        data = np.zeros((depth * columns + 1) // 2, np.uint8)
        scales = np.zeros(-(-depth * columns // block), np.float32)
        state.quantize_matmul_bnb4(data, np.ascontiguousarray(weights.T), scales, block, 1, columns, depth)
        constants, op = [data, scales], "MatMulBnb4"
        attributes["quant_type"] = 1
    else:
        blocks = -(-depth // block)
        data = np.zeros((columns, blocks, block * bits // 8), np.uint8)
        scales = np.zeros((columns, blocks), np.float32)
        zeros = np.zeros((columns, (blocks * bits + 7) // 8), np.uint8)
        quantise = getattr(state, f"quantize_matmul_{bits}bits")
        quantise(data, np.ascontiguousarray(weights), scales, zeros, block, columns, depth, False)
        constants, op = [data, scales, zeros], "MatMulNBits"
        attributes["bits"] = bits
    constants = [numpy_helper.from_array(array, f"{name}_packed_{k}") for k, array in enumerate(constants)]
    return helper.make_node(op, inputs + [c.name for c in constants], node.output, domain="com.microsoft", **attributes), constants


def pack_weights(path, out, form):
    """Replaces products of rank-2 constants. Returns their number."""
    model = onnx.load(path)
    weights = {t.name: t for t in model.graph.initializer}
    count = 0
    for index, node in enumerate(model.graph.node):
        constant = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if constant is not None and len(constant.dims) == 2 and constant.data_type == TensorProto.FLOAT:
            product, constants = packed_product(node, numpy_helper.to_array(constant), form)
            model.graph.node[index].CopyFrom(product)
            model.graph.initializer.extend(constants)
            count += 1
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, out)
    return count


def prepared(path, out):
    """A network as the tools want it: a newer operator set, constants folded, shapes known."""
    model = onnx.load(path)
    onnx.save(model, out)
    try:
        if max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")) < 17:
            onnx.save(onnx.version_converter.convert_version(model, 17), out)
        quantization.quant_pre_process(out, out, skip_symbolic_shape=True)
    except Exception as error:  # the tools raise many types
        print(f"{path.parent.name}: quantised without preparation: {str(error)[:100]}")


def quantise(path, out, form, feeds):
    """Writes the quantised network. Returns a reason if there is nothing to quantise."""
    if form in STATIC:
        layout, activations, weights, per_channel = STATIC[form]
        extra = {"ActivationSymmetric": True, "WeightSymmetric": True, "QuantizeBias": False} if form == "sym_pc" else {}
        quantization.quantize_static(path, out, Samples(feeds), quant_format=quantization.QuantFormat[layout],
                                     activation_type=activations, weight_type=weights, per_channel=per_channel,
                                     extra_options=extra)
    elif form == "dynamic":
        quantization.quantize_dynamic(path, out, weight_type=U8)
    elif pack_weights(path, out, form) == 0:
        return "no products with constant weights"
    return None


def session(path, level, optimised=None):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.log_severity_level = 4
    if optimised:
        options.optimized_model_filepath = str(optimised)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs_of(folder):
    rng, feeds = np.random.default_rng(1), {}
    for index, info in enumerate(session(folder / "model.onnx", "none").get_inputs()):
        path = folder / "test_data_set_0" / f"input_{index}.pb"
        shape = [d if isinstance(d, int) else 1 for d in info.shape]
        if path.exists():
            feeds[info.name] = numpy_helper.to_array(onnx.load_tensor(path))
        elif info.type == "tensor(int64)":
            feeds[info.name] = rng.integers(0, 1000, shape)
        else:
            feeds[info.name] = rng.standard_normal(shape).astype(np.float32)
    return feeds


def run_tenon(tenon, model, feeds, work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    inputs = []
    for index, (name, value) in enumerate(feeds.items()):
        np.save(work / f"input_{index}.npy", value)
        inputs += ["--input", f"{name}={work / f'input_{index}.npy'}"]
    done = subprocess.run([tenon, "run", model, *inputs, "--output", work / "out", "--no-cache", "--no-measuring"],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(" ".join(done.stderr.split()[:60]))
    paths = sorted((work / "out").glob("output_*.npy"), key=lambda path: int(path.name.split("_")[1]))
    return [np.load(path) for path in paths]


def difference(left, right):
    """The mean over each output, as a part of its largest element; the worst output counts."""
    worst = 0.0
    for a, b in zip(left, right):
        if a.shape != b.shape:
            return float("inf")
        if a.size and a.dtype != object:
            a, b = a.astype(np.float64), b.astype(np.float64)
            worst = max(worst, float(np.abs(a - b).mean() / max(np.abs(b).max(), 1e-9)))
    return worst


def compare(arguments, folder, source, form, feeds, exact):
    """Prints a line for each level. Returns the number of failures."""
    name = f"{folder.name} {form}"
    work = arguments.work / f"{folder.name}_{form}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    model = work / "model.onnx"
    try:
        reason = quantise(source, model, form, feeds)
        wanted = reason is None and session(model, "none").run(None, feeds)
    except Exception as error:  # the tools raise many types
        reason = f"ONNX Runtime fails: {str(error).strip().splitlines()[-1][:100]}"
    if reason:
        print(f"{name}: not made: {reason}", flush=True)
        return 0
    failures = 0
    for level in arguments.levels:
        path = model if level == "none" else work / f"{level}.onnx"
        try:
            wanted = session(model, level, None if level == "none" else path).run(None, feeds)
            if level == "all":
                block_size.add(path, block_size.of_processor())
            own, noise = difference(run_tenon(arguments.tenon, path, feeds, work / "run"), wanted), difference(wanted, exact)
            has_failed = not own <= max(noise, 1e-5)
            print(f"{name} {level}: {own:.1e} of {noise:.1e}{' FAILED' if has_failed else ''}", flush=True)
        except Exception as error:
            has_failed = True
            print(f"{name} {level}: FAILED: {str(error)[:400]}", flush=True)
        failures += has_failed
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tenon", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--forms", nargs="*", default=FORMS)
    parser.add_argument("--levels", nargs="*", default=list(LEVELS))
    arguments = parser.parse_args()
    failures = 0
    for folder in arguments.folders:
        feeds = inputs_of(folder)
        exact = session(folder / "model.onnx", "none").run(None, feeds)
        source = arguments.work / f"{folder.name}.onnx"
        arguments.work.mkdir(parents=True, exist_ok=True)
        prepared(folder / "model.onnx", source)
        failures += sum(compare(arguments, folder, source, form, feeds, exact) for form in arguments.forms)
    print(f"{failures} failures")
    return failures > 0


if __name__ == "__main__":
    import logging
    logging.disable(logging.WARNING)
    sys.exit(main())
