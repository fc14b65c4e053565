"""Decoders in the manner of GPT-2, with weights made up, as ONNX files in three forms:

  states.onnx  one token; the cache of each layer is an input of the whole capacity, and an output of the same extents:
               `tenon build states.onnx --state 'past_*=present_*'` keeps it in the context
  past.onnx    one token; the cache is an input of as many rows as there were tokens, and an output of one row more
  whole.onnx   all tokens at once, each of which sees those before it, without a cache

All three read one file of weights, weights.bin, and compute the same for the same tokens.

  python3 make.py OUT                                               the small ones of the tests
  python3 make.py OUT --layers 12 --width 768 --heads 12 --vocabulary 50257 --capacity 1024 --tokens 128    as GPT-2

Needs onnx and NumPy.
"""
import argparse
import pathlib

import numpy as np
from onnx import TensorProto, checker, helper

# The operator by which states.onnx writes a row into its cache. --write names one.
WRITES = ("tensor_scatter", "scatter_elements", "scatter_nd", "where")


class Weights:
    """One file for all models: a tensor is written once, at a multiple of 64 bytes, and referred to by name."""

    def __init__(self, path, seed):
        self.path = path
        self.file = path.open("wb")
        self.random = np.random.default_rng(seed)
        self.places = {}

    def tensor(self, name, shape, scale, offset=0.0):
        if name not in self.places:
            self.file.write(b"\0" * (-self.file.tell() % 64))
            begin = self.file.tell()
            # Few different numbers, so that the file is small where it is packed.
            numbers = np.round(self.random.standard_normal(shape) * 8).astype(np.float32) / 8
            self.file.write((numbers * np.float32(scale) + np.float32(offset)).tobytes())
            self.places[name] = begin, self.file.tell() - begin
        begin, length = self.places[name]
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape,
                             data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.path.name), ("offset", begin), ("length", length)):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(value)
        return tensor


class Model:
    """A graph that grows node by node; `form` says where keys and values of earlier tokens come from."""

    def __init__(self, options, form, weights):
        self.options, self.form, self.weights = options, form, weights
        self.nodes, self.initializers, self.inputs, self.outputs = [], {}, [], []
        self.count = 0
        self.tokens = options.tokens if form == "whole" else 1
        self.depth = options.width // options.heads

    def node(self, op, *inputs, name=None, **attributes):
        self.count += 1
        output = name or f"{op.lower()}_{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def weight(self, name, *shape, scale=0.05, offset=0.0):
        self.initializers[name] = self.weights.tensor(name, shape, scale, offset)
        return name

    def constant(self, name, array):
        array = np.asarray(array)
        self.initializers[name] = helper.make_tensor(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape,
                                                     array.tobytes(), raw=True)
        return name

    def ints(self, *values):
        return self.constant("ints_" + "_".join(str(value) for value in values), np.array(values, np.int64))

    def add_input(self, name, dtype, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def add_output(self, name, *shape):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    # ---- Layers ----

    def normalise(self, x, name):
        width = self.options.width
        return self.node("LayerNormalization", x, self.weight(f"{name}.scale", width, scale=0.1, offset=1.0),
                         self.weight(f"{name}.bias", width), axis=-1, epsilon=1e-5)

    def linear(self, x, name, fan_in, fan_out):
        product = self.node("MatMul", x, self.weight(f"{name}.weight", fan_in, fan_out, scale=1 / fan_in**0.5))
        return self.node("Add", product, self.weight(f"{name}.bias", fan_out))

    def heads(self, x):
        """[1, tokens, width] to [1, heads, tokens, depth]."""
        split = self.node("Reshape", x, self.ints(1, self.tokens, self.options.heads, self.depth))
        return self.node("Transpose", split, perm=[0, 2, 1, 3])

    def indices(self, op):
        """Where the token's row goes in a cache: [1, heads, 1, depth] along its third axis, or coordinates."""
        heads, depth = self.options.heads, self.depth
        name = f"{op}_indices"
        if not any(node.name == name for node in self.nodes):
            if op == "scatter_elements":
                self.node("Expand", "position", self.ints(1, heads, 1, depth), name=name)
            else:
                heads_of = self.constant("heads_of", np.arange(heads, dtype=np.int64).reshape(1, heads, 1, 1))
                zeros = self.constant("zeros", np.zeros((1, heads, 1, 1), np.int64))
                at = self.node("Expand", "position", self.ints(1, heads, 1, 1))
                self.node("Concat", zeros, heads_of, at, name=name, axis=-1)
        return name

    def write(self, past, row, name):
        op = self.options.write
        if op == "tensor_scatter":
            return self.node("TensorScatter", past, row, "position", name=name, axis=2)
        if op == "scatter_elements":
            return self.node("ScatterElements", past, self.indices(op), row, name=name, axis=2)
        if op == "scatter_nd":
            return self.node("ScatterND", past, self.indices(op), row, name=name)
        rows = self.constant("rows", np.arange(self.options.capacity, dtype=np.int64).reshape(-1, 1))
        return self.node("Where", self.node("Equal", rows, "position"), row, past, name=name)

    def remember(self, row, name):
        """Keys, or values, of all tokens so far."""
        heads, depth, capacity = self.options.heads, self.depth, self.options.capacity
        if self.form == "whole":
            return row
        rows = capacity if self.form == "states" else "past"
        past = self.add_input(f"past_{name}", TensorProto.FLOAT, 1, heads, rows, depth)
        present = f"present_{name}"
        if self.form == "states":
            self.write(past, row, present)
        else:
            self.node("Concat", past, row, name=present, axis=2)
        self.add_output(present, 1, heads, capacity if self.form == "states" else "present", depth)
        return present

    def hide(self, scores):
        """What a token does not see: those behind it, and rows of a cache that none was written into yet."""
        if self.form == "past":
            return scores
        capacity = self.options.capacity if self.form == "states" else self.tokens
        columns = self.constant("columns", np.arange(capacity, dtype=np.int64).reshape(1, -1))
        is_seen = self.node("LessOrEqual", columns, self.node("Unsqueeze", "position", self.ints(1)))
        return self.node("Where", is_seen, scores, self.constant("hidden", np.float32(-1e9)))

    def attend(self, x, name):
        width, depth = self.options.width, self.depth
        joined = self.linear(x, f"{name}.qkv", width, 3 * width)
        parts = [f"{name}_{part}" for part in "qkv"]
        self.nodes.append(helper.make_node("Split", [joined, self.ints(width, width, width)], parts,
                                           name=f"{name}_split", axis=-1))
        query, key, value = (self.heads(part) for part in parts)
        key, value = self.remember(key, f"key_{name}"), self.remember(value, f"value_{name}")
        scores = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 1, 3, 2]))
        scores = self.node("Mul", scores, self.constant("scale", np.float32(1 / depth**0.5)))
        weights = self.node("Softmax", self.hide(scores), axis=-1)
        heads = self.node("Transpose", self.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", heads, self.ints(1, self.tokens, width)), f"{name}.out", width, width)

    def layer(self, x, name):
        width = self.options.width
        x = self.node("Add", x, self.attend(self.normalise(x, f"{name}.norm1"), name))
        inner = self.linear(self.normalise(x, f"{name}.norm2"), f"{name}.up", width, 4 * width)
        inner = self.node("Gelu", inner, approximate="tanh")
        return self.node("Add", x, self.linear(inner, f"{name}.down", 4 * width, width))

    def make(self):
        options, tokens = self.options, self.tokens
        ids = self.add_input("ids", TensorProto.INT64, 1, tokens)
        position = self.add_input("position", TensorProto.INT64, tokens)
        words = self.weight("words", options.vocabulary, options.width, scale=0.5)
        places = self.weight("places", options.capacity, options.width, scale=0.2)
        x = self.node("Add", self.node("Gather", words, ids), self.node("Gather", places, position))
        for k in range(options.layers):
            x = self.layer(x, str(k))
        x = self.normalise(x, "norm")
        self.node("MatMul", x, self.node("Transpose", words, perm=[1, 0]), name="logits")
        self.add_output("logits", 1, tokens, options.vocabulary)
        graph = helper.make_graph(self.nodes, f"decoder_{self.form}", self.inputs, self.outputs,
                                  list(self.initializers.values()))
        opset = 24 if options.write == "tensor_scatter" and self.form == "states" else 20
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    for name, default in (("layers", 2), ("width", 64), ("heads", 4), ("vocabulary", 96), ("capacity", 16),
                          ("tokens", 12), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--write", choices=WRITES, default="scatter_elements")
    parser.add_argument("--forms", default="states,past,whole")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    weights = Weights(options.out / "weights.bin", options.seed)
    for form in options.forms.split(","):
        (options.out / f"{form}.onnx").write_bytes(Model(options, form, weights).make().SerializeToString())
    weights.file.close()
    for form in options.forms.split(","):
        checker.check_model(str(options.out / f"{form}.onnx"), full_check=True)


main()
