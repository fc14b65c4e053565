"""Random cases of single operators, and their outputs by ONNX Runtime.

A module of families/ has OPERATORS: a dictionary from names to functions that draw a Case. To add an operator, add a
function there; no other file changes. A function gets a Draw and returns a Case with f32 data. The harness makes f16
cases of some (`half`), dynamic extents of some (`fixed` names the axes that stay known), and constants of some weights.
"""
import pathlib
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[2] / "tests" / "contrib"))

import draws  # noqa: E402: its folder is known now

# The tolerances of `tenon suite` for each group of cases, with the reason.
GROUPS = {
    # Sums in another order, and ONNX Runtime's approximations of exp, erf and tanh: errors of some 1e-6.
    "f32": ("1e-4", None),
    # The expected values are computed in f32 of f16 inputs. Steps between kernels round to f16, 2^-11 each.
    "f16": ("0.01", "0.01"),
    # Quantised values: a sum on the border between two steps may round to either.
    "steps": ("0", "1"),
    # ONNX Runtime rounds x and the states of a recurrent layer to 8 bits. Tenon keeps f32.
    "dynamic": ("0.03", "0.03"),
    # Integers, texts and moved data: equal.
    "equal": ("0", "0"),
}


class Case:
    """A node. inputs: Value, array or None (absent); outputs: a number, or a list of truths: which are present.

    tolerance: one of GROUPS. want: a function of the input arrays for operators that ONNX Runtime's CPU provider lacks.
    types: element types of outputs that ONNX Runtime does not infer. keep: outputs that stay f32 in a case of f16. half: there may be a case of f16.
    """

    def __init__(self, op, inputs, outputs=1, domain="com.microsoft", opset=17, half=True, tolerance="f32", want=None,
                 keep=(), types=None, **attributes):
        self.op = op
        self.inputs = [Value(i) if isinstance(i, (np.ndarray, np.generic)) else i for i in inputs]
        self.outputs = [True] * outputs if isinstance(outputs, int) else outputs
        self.domain, self.opset, self.half, self.tolerance, self.want, self.keep = domain, opset, half, tolerance, want, keep
        self.types = types or {}
        self.attributes = {name: value for name, value in attributes.items() if value is not None}


Draw, Value = draws.Draw, draws.Value


def families():
    return draws.families(FOLDER)


def model_of(case, arrays, is_const, is_open, outputs=None):
    names = [f"i{k}" if array is not None else "" for k, array in enumerate(arrays)]
    results = [f"o{k}" if present else "" for k, present in enumerate(case.outputs)]
    nodes = [helper.make_node(case.op, names, results, domain=case.domain, **case.attributes)]
    inputs, constants = [], []
    for k, array in enumerate(arrays):
        if array is None:
            continue
        if is_const[k]:
            constants.append(numpy_helper.from_array(array, names[k]))
        else:
            shape = [None if is_open and axis not in case.inputs[k].fixed else extent
                     for axis, extent in enumerate(array.shape)]
            inputs.append(helper.make_tensor_value_info(names[k], helper.np_dtype_to_tensor_dtype(array.dtype), shape))
    infos = []
    for k, present in enumerate(case.outputs):
        if present and outputs is None:
            infos.append(helper.make_tensor_value_info(f"o{k}", case.types[k], None) if k in case.types
                         else onnx.ValueInfoProto(name=f"o{k}"))
        elif present:
            array = outputs[sum(case.outputs[:k])]
            infos.append(helper.make_tensor_value_info(f"o{k}", helper.np_dtype_to_tensor_dtype(array.dtype),
                                                       [None] * array.ndim))
    graph = helper.make_graph(nodes, case.op, inputs, infos, constants)
    imports = [helper.make_opsetid("", case.opset)]
    if case.domain:
        imports.append(helper.make_opsetid(case.domain, 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def expected(case, arrays):
    """Outputs that are present, of f32 data."""
    if case.want is not None:
        results = case.want(*arrays)
        results = results if isinstance(results, (list, tuple)) else [results]
        return [np.asarray(r) for r, present in zip(results, case.outputs) if present]
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    is_const = [v is not None and v.const for v in case.inputs]
    model = model_of(case, arrays, is_const, False)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {f"i{k}": a for k, a in enumerate(arrays) if a is not None and not is_const[k]}
    return session.run(None, feeds)


def halved(array):
    with np.errstate(over="ignore"):
        return array.astype(np.float16) if array is not None and array.dtype == np.float32 else array


def write(folder, case, draw, as_half):
    """Writes model.onnx and test_data_set_0."""
    arrays = [None if v is None else v.array for v in case.inputs]
    if as_half:
        rounded = [a if v is None or v.keep else halved(a) for v, a in zip(case.inputs, arrays)]
        arrays = [a.astype(np.float32) if a is not None and a.dtype == np.float16 else a for a in rounded]
    results = expected(case, arrays)
    if as_half:
        arrays = rounded
        shown = [k for k, present in enumerate(case.outputs) if present]
        results = [r if shown[k] in case.keep else halved(r) for k, r in enumerate(results)]
    is_const = [v is not None and (v.const or (v.weight and draw.chance(0.7))) for v in case.inputs]
    if all(c or v is None for c, v in zip(is_const, case.inputs)):
        is_const = [v is not None and v.const for v in case.inputs]
    model = model_of(case, arrays, is_const, draw.chance(), results)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    inputs = [(f"i{k}", a) for k, a in enumerate(arrays) if a is not None and not is_const[k]]
    outputs = zip([f"o{k}" for k, present in enumerate(case.outputs) if present], results)
    for kind, values in (("input", inputs), ("output", outputs)):
        for index, (name, array) in enumerate(values):
            (data / f"{kind}_{index}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())


def write_case(out, name, function, seed, index):
    """Draws case `index` of an operator. Returns its folder; None if there is no such case."""
    draw = Draw([seed, zlib.crc32(name.encode()), index])
    case = function(draw)
    as_half = case.half and case.tolerance == "f32" and index % 4 == 3
    folder = pathlib.Path(out) / ("f16" if as_half else case.tolerance) / f"{name}_{index}"
    write(folder, case, draw, as_half)
    return folder


__all__ = ["Case", "Draw", "TensorProto", "Value", "families", "write_case"]
