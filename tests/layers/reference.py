"""Layers as BVLC, SSD and Faster R-CNN describe them, element by element: slow, plain, independent of what is tested."""
import itertools
import math

import numpy as np


def across(vector):
    return vector[None, :, None, None]


def windows(extents, kernel, stride, pad, dilation):
    """How many windows there are along each axis, rounded down."""
    return [(n + 2 * p - (d * (k - 1) + 1)) // s + 1 for n, k, s, p, d in zip(extents, kernel, stride, pad, dilation)]


def convolution(x, w, b, stride=None, pad=None, dilation=None, group=1):
    axes = x.ndim - 2
    stride, pad, dilation = stride or (1,) * axes, pad or (0,) * axes, dilation or (1,) * axes
    kernel = w.shape[2:]
    out = windows(x.shape[2:], kernel, stride, pad, dilation)
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0)] + [(p, p) for p in pad])
    y = np.zeros((x.shape[0], w.shape[0], *out))
    inputs, outputs = x.shape[1] // group, w.shape[0] // group
    for n, m in itertools.product(range(x.shape[0]), range(w.shape[0])):
        channels = slice(m // outputs * inputs, (m // outputs + 1) * inputs)
        for at in itertools.product(*map(range, out)):
            window = tuple(slice(a * s, a * s + d * (k - 1) + 1, d) for a, s, d, k in zip(at, stride, dilation, kernel))
            y[(n, m) + at] = np.sum(padded[(n, channels) + window] * w[m]) + b[m]
    return y


def deconvolution(x, w, b, stride, dilation, pad):
    rows = stride[0] * (x.shape[2] - 1) + dilation[0] * (w.shape[2] - 1) + 1
    columns = stride[1] * (x.shape[3] - 1) + dilation[1] * (w.shape[3] - 1) + 1
    y = np.zeros((x.shape[0], w.shape[1], rows, columns))
    for i, j, p, q in itertools.product(range(x.shape[2]), range(x.shape[3]), range(w.shape[2]), range(w.shape[3])):
        y[:, :, i * stride[0] + p * dilation[0], j * stride[1] + q * dilation[1]] += x[:, :, i, j].astype(np.float64) @ w[:, :, p, q]
    return y[:, :, pad[0]:rows - pad[0], pad[1]:columns - pad[1]] + across(b)


def pooled_extent(n, k, s, p, up):
    count = (math.ceil if up else math.floor)((n + 2 * p - k) / s) + 1
    if p and (count - 1) * s >= n + p:
        count -= 1
    return count


def pool(x, method, kernel, stride, pad, up=True):
    out = [pooled_extent(x.shape[2 + i], kernel[i], stride[i], pad[i], up) for i in range(2)]
    y = np.zeros(x.shape[:2] + tuple(out))
    for i, j in itertools.product(*map(range, out)):
        begin = [i * stride[0] - pad[0], j * stride[1] - pad[1]]
        end = [min(begin[a] + kernel[a], x.shape[2 + a] + pad[a]) for a in range(2)]
        size = (end[0] - begin[0]) * (end[1] - begin[1])
        window = x[:, :, max(begin[0], 0):min(end[0], x.shape[2]), max(begin[1], 0):min(end[1], x.shape[3])].astype(np.float64)
        if method == "MAX":
            y[:, :, i, j] = window.max((2, 3))
        elif method == "AVE":
            y[:, :, i, j] = window.sum((2, 3)) / size
        else:
            y[:, :, i, j] = (window * window).sum((2, 3)) / window.sum((2, 3))
    return y


def pool_with_places(x, kernel, stride):
    out = [pooled_extent(x.shape[2 + i], kernel[i], stride[i], 0, True) for i in range(2)]
    y, places = np.zeros(x.shape[:2] + tuple(out)), np.zeros(x.shape[:2] + tuple(out))
    for n, c, i, j in itertools.product(*map(range, y.shape)):
        window = x[n, c, i * stride[0]:i * stride[0] + kernel[0], j * stride[1]:j * stride[1] + kernel[1]]
        row, column = np.unravel_index(window.argmax(), window.shape)
        y[n, c, i, j] = window[row, column]
        places[n, c, i, j] = (i * stride[0] + row) * x.shape[3] + j * stride[1] + column
    return y, places


def unpool(pooled, places, rows, columns):
    y = np.zeros(pooled.shape[:2] + (rows * columns,))
    for n, c, i, j in itertools.product(*map(range, pooled.shape)):
        y[n, c, int(places[n, c, i, j])] = pooled[n, c, i, j]
    return y.reshape(pooled.shape[:2] + (rows, columns))


def spp(x, height, method):
    levels = []
    for level in range(height):
        bins = 2 ** level
        kernel = [math.ceil(n / bins) for n in x.shape[2:]]
        pad = [(k * bins - n + 1) // 2 for k, n in zip(kernel, x.shape[2:])]
        levels.append(pool(x, method, kernel, kernel, pad))
    return levels[0] if height == 1 else np.concatenate([v.reshape(x.shape[0], -1) for v in levels], 1)


def rounded(value):
    return math.floor(value + 0.5)


def roi_pooling(x, rois, rows, columns, scale):
    y = np.zeros((len(rois), x.shape[1], rows, columns))
    for r, roi in enumerate(rois):
        left, top, right, bottom = [rounded(v * scale) for v in roi[1:]]
        height, width = max(bottom - top + 1, 1) / rows, max(right - left + 1, 1) / columns
        for i, j in itertools.product(range(rows), range(columns)):
            i0, i1 = [min(max(v + top, 0), x.shape[2]) for v in (math.floor(i * height), math.ceil((i + 1) * height))]
            j0, j1 = [min(max(v + left, 0), x.shape[3]) for v in (math.floor(j * width), math.ceil((j + 1) * width))]
            if i1 > i0 and j1 > j0:
                y[r, :, i, j] = x[int(roi[0]), :, i0:i1, j0:j1].max((1, 2))
    return y


def lrn(x, size, alpha, beta, k):
    squares = np.pad(x.astype(np.float64) ** 2, [(0, 0), (size // 2, size // 2), (0, 0), (0, 0)])
    near = sum(squares[:, i:i + x.shape[1]] for i in range(size))
    return x / (k + alpha / size * near) ** beta


def lrn_within(x, size, alpha, beta):
    near = pool(x.astype(np.float64) ** 2, "AVE", (size, size), (1, 1), (size // 2, size // 2))
    return x * (1 + alpha * near) ** -beta


def batch_norm(x, mean, variance, eps):
    return (x - across(mean)) / np.sqrt(across(variance) + eps)


def mvn(x, deviation, channels, eps):
    axes = (1, 2, 3) if channels else (2, 3)
    centred = x - x.mean(axes, keepdims=True)
    return centred / (np.sqrt((centred ** 2).mean(axes, keepdims=True)) + eps) if deviation else centred


def normalize(x, whole, scale):
    norm = np.sqrt((x.astype(np.float64) ** 2).sum((1, 2, 3) if whole else 1, keepdims=True) + 1e-10)
    return x / norm * scale.reshape(1, -1, 1, 1)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def im2col(x, kernel, pad, stride, dilation):
    out = windows(x.shape[2:], kernel, stride, pad, dilation)
    padded = np.pad(x, [(0, 0), (0, 0), (pad[0], pad[0]), (pad[1], pad[1])])
    columns = [padded[:, c, p * dilation[0]:p * dilation[0] + stride[0] * (out[0] - 1) + 1:stride[0],
                      q * dilation[1]:q * dilation[1] + stride[1] * (out[1] - 1) + 1:stride[1]]
               for c, p, q in itertools.product(range(x.shape[1]), range(kernel[0]), range(kernel[1]))]
    return np.stack(columns, 1)


def argmax(x, k, with_values, axis=None):
    """Of equal values the last comes first."""
    rows = x.reshape(len(x), -1) if axis is None else np.moveaxis(x, axis, -1)
    order = np.zeros(rows.shape[:-1] + (k,), int)
    for at in np.ndindex(rows.shape[:-1]):
        order[at] = sorted(range(rows.shape[-1]), key=lambda i: (rows[at][i], i), reverse=True)[:k]
    values = np.take_along_axis(rows, order, -1)
    if axis is not None:
        return np.moveaxis(values if with_values else order, -1, axis)
    both = np.stack([order, values], 1) if with_values else order[:, None]
    return both.reshape(both.shape + (1,) * max(x.ndim - 3, 0))


def interp(x, rows, columns):
    y = np.zeros(x.shape[:2] + (rows, columns))
    for i, j in itertools.product(range(rows), range(columns)):
        r = i * (x.shape[2] - 1) / (rows - 1) if rows > 1 else 0
        c = j * (x.shape[3] - 1) / (columns - 1) if columns > 1 else 0
        r0, c0 = int(r), int(c)
        r1, c1 = min(r0 + 1, x.shape[2] - 1), min(c0 + 1, x.shape[3] - 1)
        a, b = r - r0, c - c0
        y[:, :, i, j] = ((1 - a) * ((1 - b) * x[:, :, r0, c0] + b * x[:, :, r0, c1])
                         + a * ((1 - b) * x[:, :, r1, c0] + b * x[:, :, r1, c1]))
    return y


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, goes_on, w, static, states):
    units = w["h"].shape[1]
    h, c = (states[0][0], states[1][0]) if states else (np.zeros((x.shape[1], units)), np.zeros((x.shape[1], units)))
    outputs = []
    for step, cont in zip(x, goes_on):
        gates = step @ w["x"].T + w["b"] + (cont[:, None] * h) @ w["h"].T + (static @ w["static"].T if static is not None else 0)
        i, f, o, g = np.split(gates, 4, 1)
        c = cont[:, None] * sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs), [h[None], c[None]]


def rnn(x, goes_on, w, static, states):
    h = states[0][0] if states else np.zeros((x.shape[1], w["h"].shape[1]))
    outputs = []
    for step, cont in zip(x, goes_on):
        h = np.tanh(step @ w["x"].T + w["b"] + (cont[:, None] * h) @ w["h"].T + (static @ w["static"].T if static is not None else 0))
        outputs.append(np.tanh(h @ w["o"].T + w["bo"]))
    return np.stack(outputs), [h[None]]


def prior_box(maps, image, settings):
    """One min_size and no ratios, as `settings` says."""
    given = dict(zip(settings.replace(":", "").split()[::2], map(float, settings.replace(":", "").split()[1::2])))
    rows, columns = maps[2:]
    height, width = image[2:]
    step_h, step_w = given.get("step_h", height / rows), given.get("step_w", width / columns)
    half, offset = given["min_size"] / 2, given.get("offset", 0.5)
    boxes = []
    for i, j in itertools.product(range(rows), range(columns)):
        x, y = (j + offset) * step_w, (i + offset) * step_h
        boxes += [(x - half) / width, (y - half) / height, (x + half) / width, (y + half) / height]
    return np.stack([boxes, [given.get("variance", 0.1)] * len(boxes)])[None]


def detection_text(settings):
    nms = " ".join(f"{k}: {v}" for k, v in settings.items() if k in ("nms_threshold", "top_k", "eta"))
    rest = " ".join(f"{k}: {str(v).lower() if isinstance(v, bool) else v}" for k, v in settings.items()
                    if k not in ("nms_threshold", "top_k", "eta"))
    return f"{rest} nms_param {{ {nms} }}"


def overlap(a, b, unit=0.0):
    width, height = min(a[2], b[2]) - max(a[0], b[0]) + unit, min(a[3], b[3]) - max(a[1], b[1]) + unit
    if width <= 0 or height <= 0:
        return 0.0
    area = [(v[2] - v[0] + unit) * (v[3] - v[1] + unit) for v in (a, b)]
    return width * height / (sum(area) - width * height)


def decode(prior, variance, location, code, in_target):
    location = location if in_target else location * variance
    size = np.array([prior[2] - prior[0], prior[3] - prior[1]])
    if code == "CORNER":
        return prior + location
    if code == "CORNER_SIZE":
        return prior + location * np.tile(size, 2)
    middle = (prior[:2] + prior[2:]) / 2 + location[:2] * size
    half = np.exp(location[2:]) * size / 2
    return np.concatenate([middle - half, middle + half])


def detection_output(loc, conf, prior, classes, code_type, share_location=True, variance_encoded_in_target=False, keep_top_k=-1,
                     nms_threshold=0.3, top_k=-1, eta=1.0, confidence_threshold=-1e30):
    images, priors = len(loc), prior.shape[2] // 4
    boxes, variances = prior.astype(np.float64).reshape(2, priors, 4)
    loc = loc.astype(np.float64).reshape(images, priors, -1, 4)
    conf = conf.astype(np.float64).reshape(images, priors, classes)
    rows = []
    for image in range(images):
        kept = []
        for label in range(1, classes):
            own = [decode(boxes[p], variances[p], loc[image, p, 0 if share_location else label], code_type, variance_encoded_in_target)
                   for p in range(priors)]
            order = sorted((p for p in range(priors) if conf[image, p, label] > np.float32(confidence_threshold)),
                           key=lambda p: -conf[image, p, label])
            threshold, chosen = nms_threshold, []
            for p in order[:top_k] if top_k >= 0 else order:
                if all(overlap(own[p], own[q]) <= threshold for q in chosen):
                    chosen.append(p)
                    threshold *= eta if eta < 1 and threshold > 0.5 else 1
            kept += [(conf[image, p, label], label, own[p]) for p in chosen]
        if 0 <= keep_top_k < len(kept):
            kept = sorted(sorted(kept, key=lambda e: -e[0])[:keep_top_k], key=lambda e: e[1])
        rows += [[image, label, score, *box] for score, label, box in kept]
    if not rows:
        rows = [[image] + [-1] * 6 for image in range(images)]
    return np.array(rows)[None, None]


def make_anchors(base, ratios, scales):
    middle, anchors = (base - 1) / 2, []
    for ratio in ratios:
        width = np.round(np.sqrt(base * base / ratio))
        height = np.round(width * ratio)
        for scale in scales:
            w, h = width * scale, height * scale
            anchors.append([middle - (w - 1) / 2, middle - (h - 1) / 2, middle + (w - 1) / 2, middle + (h - 1) / 2])
    return np.array(anchors)


def proposals(prob, delta, info, stride, ratios, scales, pre_top, post_top, threshold, min_size):
    """For one image: rows with a 0 before them, and their scores."""
    anchors = make_anchors(stride, ratios, scales)
    count = len(anchors)
    entries = []
    for i, j, a in itertools.product(range(prob.shape[2]), range(prob.shape[3]), range(count)):
        anchor = anchors[a] + stride * np.array([j, i, j, i])
        size = anchor[2:] - anchor[:2] + 1
        d = delta[0, 4 * a:4 * a + 4, i, j].astype(np.float64)
        middle, half = anchor[:2] + size / 2 + d[:2] * size, np.exp(d[2:]) * size / 2
        last = np.array([info[0, 1] - 1, info[0, 0] - 1])
        box = np.concatenate([np.clip(middle - half, 0, last), np.clip(middle + half, 0, last)])
        if np.all(box[2:] - box[:2] + 1 >= min_size * info[0, 2]):
            entries.append((float(prob[0, count + a, i, j]), box))
    entries = sorted(entries, key=lambda e: -e[0])[:pre_top]
    chosen = []
    for entry in entries:
        if len(chosen) < post_top and all(overlap(entry[1], other[1], 1.0) <= threshold for other in chosen):
            chosen.append(entry)
    return np.array([[0, *box] for _, box in chosen]), np.array([[score] for score, _ in chosen])


def rproi(prob, delta, maps, info, stride, ratios, scales, pre_top, post_top, threshold, min_size, rows, columns, scale):
    rois = np.zeros((len(prob), 1, post_top, 4))
    for n in range(len(prob)):
        found, _ = proposals(prob[n:n + 1], delta[n:n + 1], info[n:n + 1], stride, ratios, scales, pre_top, post_top, threshold, min_size)
        rois[n, 0, :len(found)] = found[:, 1:]
    lines = np.concatenate([np.repeat(np.arange(len(prob)), post_top)[:, None], rois.reshape(-1, 4)], 1)
    pooled = roi_pooling(maps, lines.astype(np.float32), rows, columns, scale)
    return rois, pooled.reshape(len(prob), post_top, *pooled.shape[1:])
