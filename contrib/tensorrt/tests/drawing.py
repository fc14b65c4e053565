"""Random cases of single nodes, and their outputs by references in NumPy.

A module of families/ has OPERATORS: a dictionary from names to functions that draw a Case. COUNTS has the number of
recorded cases of operators with many attributes. To add an operator, add a function there; no other file changes. A function gets a Draw and returns a Case with f32 data and the reference. The
references are written from the documentation of the plugins, not from the plugin's code. The harness makes f16 cases of
some (`half`), dynamic extents of some (`fixed` names the axes that stay known), and constants of some weights.
"""
import importlib
import pathlib
import sys
import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[2] / "tests" / "contrib"))

import draws  # noqa: E402: its folder is known now

# The domains in which exporters write the nodes.
DOMAINS = ("", "TRT", "trt.plugins")
# The tolerances of `tenon suite` for each group of cases, with the reason.
GROUPS = {
    # Sums in another order, and approximations of exp and erf: errors of some 1e-6.
    "f32": ("1e-4", None),
    # The expected values are computed in f32 of f16 inputs. Steps between kernels round to f16, 2^-11 each.
    "f16": ("0.01", "0.01"),
    # Integers and moved data: equal.
    "equal": ("0", "0"),
}


class Case:
    """A node. inputs: Value, array or None (absent); want: a function from input arrays to the outputs.

    tolerance: one of GROUPS. keep: outputs that stay f32 in a case of f16. half: there may be a case of f16. domain:
    None is one of DOMAINS. version: of the plugin. An attribute None is absent.
    """

    def __init__(self, op, inputs, want, domain=None, half=True, tolerance="f32", keep=(), version="1", **attributes):
        self.op = op
        self.inputs = [Value(i) if isinstance(i, (np.ndarray, np.generic)) else i for i in inputs]
        self.want, self.domain, self.half, self.tolerance, self.keep = want, domain, half, tolerance, keep
        self.attributes = {name: value for name, value in attributes.items() if value is not None}
        self.version = version

Draw, Value = draws.Draw, draws.Value


def helper_tensor(array):
    """An attribute that is a tensor."""
    return numpy_helper.from_array(array, "weights")


def families():
    return draws.families(FOLDER)


def counts():
    """COUNTS of all modules: name to number."""
    modules = [importlib.import_module(f"families.{path.stem}") for path in sorted((FOLDER / "families").glob("*.py"))]
    return {name: count for module in modules for name, count in getattr(module, "COUNTS", {}).items()}


def info_of(name, array, open_axes):
    shape = [None if axis in open_axes else extent for axis, extent in enumerate(array.shape)]
    element = numpy_helper.from_array(np.empty(0, array.dtype)).data_type  # also with Debian's onnx 1.12
    return helper.make_tensor_value_info(name, element, shape)


def model_of(case, domain, arrays, is_const, is_open, outputs, has_version):
    names = [f"i{k}" if array is not None else "" for k, array in enumerate(arrays)]
    results = [f"o{k}" if array is not None else "" for k, array in enumerate(outputs)]
    attributes = dict(case.attributes)
    if has_version or case.version != "1":
        attributes |= {"plugin_version": case.version, "plugin_namespace": ""}
    nodes = [helper.make_node(case.op, names, results, name="node", domain=domain, **attributes)]
    inputs, constants = [], []
    for k, array in enumerate(arrays):
        if array is not None and is_const[k]:
            constants.append(numpy_helper.from_array(array, names[k]))
        elif array is not None:
            open_axes = [axis for axis in range(array.ndim) if is_open and axis not in case.inputs[k].fixed]
            inputs.append(info_of(names[k], array, open_axes))
    infos = [info_of(name, array, range(array.ndim)) for name, array in zip(results, outputs) if array is not None]
    graph = helper.make_graph(nodes, case.op, inputs, infos, constants)
    imports = [helper.make_opsetid("", 17)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def halved(array):
    with np.errstate(over="ignore"):
        return array.astype(np.float16) if array is not None and array.dtype == np.float32 else array


def rounded(value, array):
    """f16 in the file, f32 of the same value for the reference."""
    stored = array if value is None or value.keep else halved(array)
    wide = stored.astype(np.float32) if stored is not None and stored.dtype == np.float16 else stored
    return stored, wide


def outputs_of(case, arrays):
    results = case.want(*arrays)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    return [None if r is None else np.ascontiguousarray(r) for r in results]


def write(folder, case, draw, as_half, domain):
    """Writes model.onnx and test_data_set_0."""
    arrays = [None if v is None else v.array for v in case.inputs]
    if as_half:
        pairs = [rounded(v, a) for v, a in zip(case.inputs, arrays)]
        results = outputs_of(case, [wide for _, wide in pairs])
        arrays = [stored for stored, _ in pairs]
        results = [r if k in case.keep else halved(r) for k, r in enumerate(results)]
    else:
        results = outputs_of(case, arrays)
    is_const = [v is not None and (v.const or (v.weight and draw.chance(0.7))) for v in case.inputs]
    if all(c or v is None for c, v in zip(is_const, case.inputs)):
        is_const = [v is not None and v.const for v in case.inputs]
    model = model_of(case, domain, arrays, is_const, draw.chance(), results, draw.chance(0.7))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    inputs = [(f"i{k}", a) for k, a in enumerate(arrays) if a is not None and not is_const[k]]
    outputs = [(f"o{k}", r) for k, r in enumerate(results) if r is not None]
    for kind, values in (("input", inputs), ("output", outputs)):
        for index, (name, array) in enumerate(values):
            (data / f"{kind}_{index}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())


def write_case(out, name, function, seed, index):
    """Draws case `index` of an operator. Returns its folder."""
    draw = Draw([seed, zlib.crc32(name.encode()), index])
    case = function(draw)
    as_half = case.half and case.tolerance == "f32" and index % 4 == 3
    folder = pathlib.Path(out) / ("f16" if as_half else case.tolerance) / f"{name}_{index}"
    write(folder, case, draw, as_half, DOMAINS[index % 3] if case.domain is None else case.domain)
    return folder


__all__ = ["Case", "Draw", "Value", "families", "helper_tensor", "write_case"]
