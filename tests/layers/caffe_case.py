"""Cases of Caffe layers: a small network, what goes into it, what must come out, and the file that holds them.

The file: "TNCAFFE1", then for each case its name, who computed it, the prototxt, the caffemodel (each as a length of 32 bits and
bytes), inputs and outputs (a count of 32 bits; each a name, a rank of 32 bits, extents of 64 bits, floats), little-endian.
"""
import struct
import zlib

import cv2
import numpy as np

from caffemodel import caffemodel

cases = []


def random(name, *dims, low=-2.0, high=2.0):
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return generator.uniform(low, high, dims).astype(np.float32)


def prototxt_of(inputs, layers):
    text = "name: 'case'\n"
    for name, value in inputs.items():
        dims = " ".join(f"dim: {d}" for d in value.shape)
        text += f"input: '{name}'\ninput_shape {{ {dims} }}\n"
    return text + layers.strip() + "\n"


def run_opencv(prototxt, model, inputs, layer):
    # OpenCV takes the extents from the inputs; given for inputs of different ranks it mixes them up.
    prototxt = "".join(line for line in prototxt.splitlines(True) if not line.startswith("input_shape"))
    net = cv2.dnn.readNetFromCaffe(np.frombuffer(prototxt.encode(), np.uint8), np.frombuffer(model, np.uint8))
    net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
    net.enableFusion(False)
    for name, value in inputs.items():
        # Of three axes it takes the last one for channels.
        net.setInput(value[..., None] if value.ndim == 3 else value, name)
    return net.forward(layer) if layer else net.forward()


def case(name, layers, inputs, outputs, blobs=None, encoding="packed", layer=None):
    """`outputs`: {top: array} by NumPy, or one top's name: OpenCV computes it. `blobs`: {layer: [arrays]}."""
    prototxt = prototxt_of(inputs, layers)
    model = caffemodel(blobs or {}, encoding)
    source = "numpy"
    if isinstance(outputs, str):
        source = "opencv"
        outputs = {outputs: run_opencv(prototxt, model, inputs, layer)}
    for top, value in outputs.items():
        assert np.all(np.isfinite(value)), (name, top)
    cases.append((name, source, prototxt, model, inputs, outputs))


def one(name, kind, x, expected=None, more="", blobs=None, **options):
    """A layer with one bottom and one top; without `expected` OpenCV computes it."""
    layers = f"layer {{ name: 'l' type: '{kind}' bottom: 'x' top: 'y' {more} }}"
    case(name, layers, {"x": x}, "y" if expected is None else {"y": expected}, {"l": blobs} if blobs else None, **options)


def bytes_of(data):
    return struct.pack("<I", len(data)) + data


def tensors_of(values):
    content = struct.pack("<I", len(values))
    for name, value in values.items():
        value = np.asarray(value)
        content += bytes_of(name.encode()) + struct.pack(f"<I{value.ndim}q", value.ndim, *value.shape)
        content += np.ascontiguousarray(value, np.float32).tobytes()
    return content


def write(target):
    content = b"TNCAFFE1"
    for name, source, prototxt, model, inputs, outputs in cases:
        content += bytes_of(name.encode()) + bytes_of(source.encode()) + bytes_of(prototxt.encode()) + bytes_of(model)
        content += tensors_of(inputs) + tensors_of(outputs)
    target.write_bytes(content)
    by_opencv = sum(1 for case in cases if case[1] == "opencv")
    print(f"{target}: {len(cases)} cases, {by_opencv} by OpenCV {cv2.__version__}, {len(content)} bytes")
