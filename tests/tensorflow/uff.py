"""Writes UFF files, as TensorFlow's converter to UFF did."""
import struct

import numpy as np

INCREMENT = 0x7FFFFFFF
DTYPES = {"int8": 0x10008, "int16": 0x10010, "int32": 0x10020, "int64": 0x10040, "float16": 0x20010, "float32": 0x20020}


def varint(value):
    value &= 2**64 - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, payload):
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def ints(values):
    return block(1, b"".join(varint(v) for v in values)) if values else b""


class Ref(str):
    """A key into referenced_data."""


class Type(str):
    """NumPy's name of an element type."""


def data(value):
    if value is None:
        return b""
    if isinstance(value, Ref):
        return block(100, value)
    if isinstance(value, Type):
        return number(101, DTYPES.get(value, 7))
    if isinstance(value, str):
        return block(1, value)
    if isinstance(value, bool):
        return number(5, value)
    if isinstance(value, int):
        return number(7, value)
    if isinstance(value, float):
        return varint(3 << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, bytes):
        return block(9, value)
    if value and isinstance(value[0], float):
        return block(4, block(1, struct.pack(f"<{len(value)}d", *value)))
    return block(8, ints(list(value)))


def order(text):
    """N+C, NC+, +CK, +KC, NC, CK ...: K counts as N."""
    codes = []
    for letter in text:
        codes += [2, INCREMENT] if letter == "+" else [1 if letter == "C" else 0]
    return block(1, number(1, -1) + block(2, ints(codes)))


class Uff:
    def __init__(self):
        self.nodes = []
        self.referenced = {}

    def orders(self, *texts):
        key = "orders_" + "_".join(texts)
        self.referenced[key] = block(104, b"".join(block(1, order(t)) for t in texts))
        return Ref(key)

    def node(self, name, operation, inputs=(), **fields):
        entries = b"".join(block(4, block(1, key) + block(2, data(value))) for key, value in fields.items())
        self.nodes.append(block(1, name) + b"".join(block(2, i) for i in inputs) + block(3, operation) + entries)
        return name

    def input(self, name, shape, dtype="float32"):
        return self.node(name, "Input", shape=list(shape), dtype=Type(dtype))

    def const(self, name, value):
        value = np.asarray(value)
        self.referenced["weights_" + name] = block(9, value.tobytes())
        return self.node(name, "Const", shape=list(value.shape), dtype=Type(str(value.dtype)), values=Ref("weights_" + name))

    def output(self, name):
        self.node(f"MarkOutput_{len(self.nodes)}", "MarkOutput", [name])

    def binary(self):
        # Nodes stand from the outputs to the inputs.
        graph = block(1, "main") + b"".join(block(2, n) for n in reversed(self.nodes))
        descriptors = block(3, block(1, "tensorflow_extension") + number(2, 1))
        referenced = b"".join(block(5, block(1, k) + block(2, v)) for k, v in self.referenced.items())
        return number(1, 1) + number(2, 1) + descriptors + block(4, graph) + referenced
