"""Writes and reads the weights of a Caffe network (.caffemodel) in protobuf's wire format.

Only what a file of weights needs, with the field numbers of BVLC's caffe.proto:
NetParameter {name 1, layer 100}, LayerParameter {name 1, type 2, blobs 7},
BlobProto {data 5 packed float, shape 7}, BlobShape {dim 1 packed int64}.
"""

import numpy as np

NET_NAME, NET_LAYER = 1, 100
LAYER_NAME, LAYER_TYPE, LAYER_BLOBS = 1, 2, 7
BLOB_DATA, BLOB_SHAPE = 5, 7
SHAPE_DIM = 1
BYTES = 2  # the wire type of strings, messages and packed arrays, the only one used here


def save_weights(path, network_name, weights):
    """`weights` is {layer name: (weights, bias)}.

    Weights of four dimensions belong to a Convolution, of two to an InnerProduct.
    """
    content = _field(NET_NAME, network_name.encode())
    for name, blobs in weights.items():
        layer_type = "Convolution" if blobs[0].ndim == 4 else "InnerProduct"
        layer = _field(LAYER_NAME, name.encode()) + _field(LAYER_TYPE, layer_type.encode())
        layer += b"".join(_field(LAYER_BLOBS, _blob(blob)) for blob in blobs)
        content += _field(NET_LAYER, layer)
    with open(path, "wb") as out:
        out.write(content)


def load_weights(path):
    """Returns what `save_weights` was given."""
    with open(path, "rb") as source:
        content = source.read()
    weights = {}
    for layer in _get_all(content, NET_LAYER):
        name = _get_all(layer, LAYER_NAME)[0].decode()
        weights[name] = tuple(_parse_blob(blob) for blob in _get_all(layer, LAYER_BLOBS))
    return weights


def _varint(value):
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _field(number, payload):
    return _varint(number << 3 | BYTES) + _varint(len(payload)) + payload


def _blob(array):
    dims = b"".join(_varint(dim) for dim in array.shape)
    return _field(BLOB_DATA, array.astype("<f4").tobytes()) + _field(
        BLOB_SHAPE, _field(SHAPE_DIM, dims)
    )


def _read_varint(content, position):
    value = shift = 0
    while True:
        byte = content[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return value, position


def _get_all(content, wanted_number):
    """The payloads of one field, in order."""
    payloads, position = [], 0
    while position < len(content):
        tag, position = _read_varint(content, position)
        if tag & 7 != BYTES:
            raise ValueError(f"field {tag >> 3} has wire type {tag & 7}; only {BYTES} is read here")
        size, position = _read_varint(content, position)
        if tag >> 3 == wanted_number:
            payloads.append(content[position : position + size])
        position += size
    return payloads


def _parse_blob(blob):
    dims, position = [], 0
    packed = _get_all(_get_all(blob, BLOB_SHAPE)[0], SHAPE_DIM)[0]
    while position < len(packed):
        dim, position = _read_varint(packed, position)
        dims.append(dim)
    return np.frombuffer(_get_all(blob, BLOB_DATA)[0], "<f4").reshape(dims)
