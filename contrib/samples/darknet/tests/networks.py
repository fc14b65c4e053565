"""Networks after YOLOv2, YOLOv3 tiny, YOLOv4 and YOLOv4 tiny, small and with made-up weights; what NumPy computes of them,
layer by layer, after the description of Darknet's format. networks.py FOLDER"""

import os
import struct
import sys

import numpy as np

folder = sys.argv[1]
random = np.random.default_rng(3)


def conv(filters, size=3, stride=1, bn=1, activation="leaky", **more):
    return ("convolutional", dict(batch_normalize=bn, filters=filters, size=size, stride=stride, pad=1,
                                  activation=activation, **more))


def pool(size=2, stride=2):
    return ("maxpool", dict(size=size, stride=stride))


def route(*layers, **more):
    return ("route", dict(layers=",".join(map(str, layers)), **more))


def shortcut(source, activation="linear"):
    return ("shortcut", {"from": source, "activation": activation})


def head(channels):
    return conv(channels, 1, bn=0, activation="linear")


def yolo(mask, classes, **more):
    anchors = "10,14, 23,27, 37,58, 81,82, 135,169, 344,319"
    return ("yolo", dict(mask=mask, anchors=anchors, classes=classes, num=6, **more))


region = ("region", dict(anchors="1.08,1.19, 3.42,4.41", bias_match=1, classes=4, coords=4, num=2, softmax=1))
V2 = [conv(8), pool(), conv(16), pool(), conv(16), route(-3), conv(8, 1), ("reorg", dict(stride=2)), route(-1, 4),
      conv(16), head(18), region]
V3_TINY = [conv(4), pool(), conv(8), pool(), conv(16), pool(2, 1), conv(16), conv(8, 1), conv(16), head(27),
           yolo("3,4,5", 4), route(-4), conv(4, 1), ("upsample", dict(stride=2)), route(-1, 2), conv(8), head(27),
           yolo("0,1,2", 4)]
V4 = [conv(8, activation="mish"), conv(16, stride=2, activation="mish"), conv(8, 1, activation="mish"), route(-2),
      conv(8, 1, activation="mish"), conv(8, activation="mish"), shortcut(-2), conv(8, 1, activation="mish"),
      route(-1, -6), conv(16, 1), pool(5, 1), route(-2), pool(9, 1), route(-4), pool(13, 1), route(-1, -3, -5, -6),
      conv(16, 1), conv(16, groups=4), head(27), yolo("0,1,2", 4, scale_x_y=1.2)]
V4_TINY = [conv(8, stride=2), conv(16), route(-1, groups=2, group_id=1), conv(8), conv(8), route(-1, -2), conv(16, 1),
           route(-6, -1), pool(), conv(16, dilation=2), head(27), yolo("3,4,5", 4, scale_x_y=1.05)]
CLASSIFIER = [conv(8, activation="swish"), pool(), conv(6, 1, bn=0, activation="linear"), ("dropout", dict(probability=0.5)),
              ("avgpool", {}), ("softmax", dict(groups=1)), ("cost", dict(type="sse"))]


def text(layers, size):
    sections = [("net", dict(batch=1, subdivisions=1, width=size, height=size, channels=3))] + layers
    return "# made up\n" + "\n".join(
        f"[{kind}]\n" + "".join(f"{key} = {value}\n" for key, value in options.items()) for kind, options in sections)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {
    "linear": lambda x: x,
    "leaky": lambda x: np.where(x > 0, x, 0.1 * x),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "swish": lambda x: x * sigmoid(x),
}


def windows(x, size, stride, low, high, fill, dilation=1):
    """All windows of the padded image, [n, c, h, w, size, size]."""
    x = np.pad(x, ((0, 0), (0, 0), (low, high), (low, high)), constant_values=fill)
    span = (size - 1) * dilation + 1
    return np.lib.stride_tricks.sliding_window_view(x, (span, span), (2, 3))[
        :, :, ::stride, ::stride, ::dilation, ::dilation]


def convolve(x, o, weights):
    n, size, groups, dilation = o["filters"], o["size"], o.get("groups", 1), o.get("dilation", 1)
    c = x.shape[1] // groups
    vectors = [random.normal(0, 0.1, n)]
    if o["batch_normalize"]:
        vectors += [random.uniform(0.5, 1.5, n), random.normal(0, 0.1, n), random.uniform(0.5, 1.5, n)]
    filters = random.normal(0, 1.3 / np.sqrt(c * size * size), (n, c, size, size))
    vectors = [v.astype(np.float32) for v in vectors]
    filters = filters.astype(np.float32)
    weights += [*vectors, filters]
    pad = size // 2 * dilation
    w = windows(x, size, o["stride"], pad, pad, 0, dilation)
    parts = [np.einsum("nchwij,ocij->nohw", w[:, g * c : (g + 1) * c],
                       filters[g * n // groups : (g + 1) * n // groups].astype(np.float64)) for g in range(groups)]
    y = np.concatenate(parts, 1)
    column = lambda v: v.astype(np.float64).reshape(1, -1, 1, 1)
    if o["batch_normalize"]:
        biases, scales, means, variances = map(column, vectors)
        y = (y - means) / np.sqrt(variances + 1e-6) * scales + biases
    else:
        y = y + column(vectors[0])
    return ACTIVATIONS[o["activation"]](y)


def reorganize(x, s):
    """Element by element, as Darknet's loop does it."""
    n, c, h, w = x.shape
    source, y = x.reshape(n, -1), np.empty((n, c * h * w))
    for k in range(c):
        offset, c2 = divmod(k, c // (s * s))
        for j in range(h):
            for i in range(w):
                from_x, from_y = i * s + offset % s, j * s + offset // s
                y[:, i + w * (j + h * k)] = source[:, from_x + w * s * (from_y + h * s * c2)]
    return y.reshape(n, c * s * s, h // s, w // s)


def detect(x, boxes, o, is_region):
    y = x.reshape(x.shape[0], boxes, -1, *x.shape[2:]).copy()
    y[:, :, [0, 1, 4]] = sigmoid(y[:, :, [0, 1, 4]])
    if is_region and o.get("softmax"):
        e = np.exp(y[:, :, 5:] - y[:, :, 5:].max(2, keepdims=True))
        y[:, :, 5:] = e / e.sum(2, keepdims=True)
    else:
        y[:, :, 5:] = sigmoid(y[:, :, 5:])
    scale = o.get("scale_x_y", 1)
    y[:, :, :2] = y[:, :, :2] * scale - (scale - 1) / 2
    return y.reshape(x.shape)


def run(x, layers, weights):
    outputs, results = [], []
    at = lambda k, number: outputs[k + number if number < 0 else number]
    for k, (kind, o) in enumerate(layers):
        if kind == "convolutional":
            x = convolve(x, o, weights)
        elif kind == "maxpool":
            padding = o["size"] - 1
            x = windows(x, o["size"], o["stride"], padding // 2, padding - padding // 2, -np.inf).max((4, 5))
        elif kind == "route":
            parts = [at(k, int(number)) for number in o["layers"].split(",")]
            groups = o.get("groups", 1)
            x = np.concatenate([np.split(part, groups, 1)[o.get("group_id", 0)] for part in parts], 1)
        elif kind == "shortcut":
            x = ACTIVATIONS[o["activation"]](x + at(k, o["from"]))
        elif kind == "upsample":
            x = x.repeat(o["stride"], 2).repeat(o["stride"], 3)
        elif kind == "reorg":
            x = reorganize(x, o["stride"])
        elif kind in ("yolo", "region"):
            x = detect(x, len(o["mask"].split(",")) if kind == "yolo" else o["num"], o, kind == "region")
        elif kind == "avgpool":
            x = x.mean((2, 3), keepdims=True)
        elif kind == "softmax":
            x = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        outputs.append(x)
        if kind in ("yolo", "region") or k + 1 == len(layers):
            results.append(x)
    return results


def save(name, layers, size, version=(0, 2)):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    x = random.uniform(0, 1, (2, 3, size, size)).astype(np.float32)
    weights = []
    results = run(x.astype(np.float64), layers, weights)
    with open(f"{folder}/{name}/network.cfg", "w", encoding="utf-8") as file:
        file.write(text(layers, size))
    head = struct.pack("<iii", *version, 0) + struct.pack("<q" if version >= (0, 2) else "<i", 0)
    data = b"".join(array.astype("<f4").tobytes() for array in weights)
    with open(f"{folder}/{name}/network.weights", "wb") as file:
        file.write(head + data)
    np.save(f"{folder}/{name}/input_0.npy", x)
    for k, result in enumerate(results):
        np.save(f"{folder}/{name}/output_{k}.npy", result.astype(np.float32))


save("v2", V2, 32)
save("v3_tiny", V3_TINY, 32)
save("v4", V4, 24)
save("v4_tiny", V4_TINY, 32)
save("classifier", CLASSIFIER, 16, (0, 1))
