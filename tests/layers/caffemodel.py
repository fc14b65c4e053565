"""Writes caffemodels in each encoding that a file may have."""
import struct

import numpy as np

DATA, SHAPE, DOUBLE_DATA, RAW_TYPE, RAW_DATA = 5, 7, 8, 10, 12
RAW_TYPES = {"raw": (1, np.float32), "half": (2, np.float16)}


def varint(value):
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number(field, value):
    return varint(field << 3) + varint(value)


def field(number_, payload):
    return varint(number_ << 3 | 2) + varint(len(payload)) + payload


def shape(dims):
    return field(SHAPE, field(1, b"".join(varint(d) for d in dims)))


def blob(value, encoding):
    value = np.asarray(value, np.float32)
    if encoding == "single":  # each element with its tag, each extent too
        content = b"".join(struct.pack("<Bf", DATA << 3 | 5, v) for v in value.ravel())
        return content + field(SHAPE, b"".join(number(1, d) for d in value.shape))
    if encoding == "double":
        return shape(value.shape) + field(DOUBLE_DATA, value.astype("<f8").tobytes())
    if encoding in RAW_TYPES:
        kind, dtype = RAW_TYPES[encoding]
        return shape(value.shape) + number(RAW_TYPE, kind) + field(RAW_DATA, value.astype(dtype).tobytes())
    if encoding in ("legacy", "v1"):  # four extents, the last ones
        dims = (1,) * (4 - value.ndim) + value.shape
        return b"".join(number(i + 1, d) for i, d in enumerate(dims)) + field(DATA, value.tobytes())
    return field(DATA, value.tobytes()) + shape(value.shape)


def caffemodel(blobs, encoding="packed"):
    """`blobs`: {layer: [arrays]}."""
    content = field(1, b"case")
    for name, values in blobs.items():
        if encoding == "v1":
            layer = field(4, name.encode()) + number(5, 4) + b"".join(field(6, blob(v, encoding)) for v in values)
            content += field(2, layer)
        else:
            layer = field(1, name.encode()) + field(2, b"Layer") + b"".join(field(7, blob(v, encoding)) for v in values)
            content += field(100, layer)
    return content
