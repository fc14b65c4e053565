"""Writes arrays as .npy files and networks as ONNX files, with Python's standard library alone."""

import os
import struct
import sys


def output_folder():
    """Makes the folder of the files, the only argument of the script, and returns it."""
    os.makedirs(sys.argv[1], exist_ok=True)
    return sys.argv[1]


def write_array(path, shape, values):
    """Writes floats, in row-major order."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %r, }" % (tuple(shape),)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%df" % len(values), *values))


def _number(value):
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes(encoded) + bytes([value])


def _field(key, value):
    if isinstance(value, int):
        return _number(key << 3) + _number(value)
    if isinstance(value, float):
        return _number(key << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _number(key << 3 | 2) + _number(len(data)) + data


def _attribute(name, value):
    if isinstance(value, float):
        return _field(1, name) + _field(2, value) + _field(20, 1)
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    if isinstance(value, str):
        return _field(1, name) + _field(4, value) + _field(20, 3)
    return _field(1, name) + b"".join(_field(8, item) for item in value) + _field(20, 7)


def node(domain, kind, inputs, outputs, **attributes):
    """One node. Attributes are floats, integers, texts or lists of integers."""
    data = b"".join(_field(1, name) for name in inputs) + b"".join(_field(2, name) for name in outputs)
    data += _field(4, kind) + _field(7, domain)
    return data + b"".join(_field(5, _attribute(*item)) for item in attributes.items())


def _tensor(name, shape, values):
    data = b"".join(_field(1, extent) for extent in shape) + _field(2, 1) + _field(8, name)
    return data + _field(9, struct.pack("<%df" % len(values), *values))


def _value(name, shape):
    dims = b"".join(_field(1, _field(1, extent)) for extent in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, 1) + _field(2, dims)))


def write_network(path, domains, nodes, inputs, outputs, constants=()):
    """Writes a network of floats. inputs and outputs: (name, shape); constants: (name, shape, values)."""
    graph = b"".join(_field(1, item) for item in nodes) + _field(2, "network")
    graph += b"".join(_field(5, _tensor(*item)) for item in constants)
    graph += b"".join(_field(11, _value(*item)) for item in inputs)
    graph += b"".join(_field(12, _value(*item)) for item in outputs)
    model = _field(1, 8) + _field(7, graph)
    for domain, version in [("", 17), *((domain, 1) for domain in domains)]:
        model += _field(8, _field(1, domain) + _field(2, version))
    with open(path, "wb") as file:
        file.write(model)
