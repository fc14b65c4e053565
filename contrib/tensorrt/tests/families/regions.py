"""Regions of interest."""
import math

import numpy as np

from drawing import Case, Value

F = np.float32


def bilinear(plane, y, x):
    """Plane [C, H, W] at a point inside."""
    top, left = int(y), int(x)
    down, across = F(y - top), F(x - left)
    bottom, right = top + (down > 0), left + (across > 0)
    above = plane[:, top, left] * (1 - across) + plane[:, top, right] * across
    below = plane[:, bottom, left] * (1 - across) + plane[:, bottom, right] * across
    return above * (1 - down) + below * down


def clamped(plane, y, x):
    _, h, w = plane.shape
    return bilinear(plane, min(max(y, 0), h - 1), min(max(x, 0), w - 1))


def roi_align(draw):
    n, r, mode, half, ratio = draw.size(1, 3), draw.size(1, 5), draw.pick(None, 0, 1), draw.pick(None, 0, 1), draw.pick(None, 0, 2)
    x = draw.floats(n, draw.size(1, 3), draw.size(3, 8), draw.size(3, 8))
    rois = draw.uniform(-1, 16, r, 4)
    rois[:, 2:] = rois[:, :2] + draw.uniform(0.2, 9, r, 2)
    height, width, scale = draw.size(1, 3), draw.size(1, 3), draw.pick(None, 0.5)

    def want(x, rois, images):
        y = np.zeros((r, x.shape[1], height, width), F)
        offset = 0 if half == 0 else 0.5
        for k in range(r):
            left, top, right, bottom = (float(v) * (scale or 1) - offset for v in rois[k])
            size = [bottom - top, right - left]
            size = [max(s, 1.0) for s in size] if half == 0 else size
            counts = [ratio or math.ceil(s / b) for s, b in zip(size, (height, width))]
            for i, j in np.ndindex(height, width):
                samples = []
                for p, q in np.ndindex(*counts):
                    at = top + (i + (p + 0.5) / counts[0]) * size[0] / height, left + (j + (q + 0.5) / counts[1]) * size[1] / width
                    samples.append(corners(x[images[k]], *at))
                # max: of the four weighted corners of all samples, as in ONNX.
                y[k, :, i, j] = np.max(samples, (0, 1)) if mode == 0 else np.sum(samples, (0, 1)) / len(samples)
        return y
    return Case("ROIAlign_TRT", [x, Value(rois, fixed=[1]), draw.ints(0, n, r)], want, half=False, version=draw.pick("1", "2"),
                coordinate_transformation_mode=half, mode=mode, output_height=height, output_width=width, sampling_ratio=ratio,
                spatial_scale=scale)


def corners(plane, y, x):
    """The four corners around a point, times their weights; zeros outside."""
    _, h, w = plane.shape
    if y < -1 or y > h or x < -1 or x > w:
        return [np.zeros(plane.shape[0])] * 4
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    top, left = int(y), int(x)
    down, across = y - top, x - left
    return [plane[:, min(top + i, h - 1), min(left + j, w - 1)] * (down if i else 1 - down) * (across if j else 1 - across)
            for i in (0, 1) for j in (0, 1)]


def pyramid_maps(draw, n, levels, size):
    channels = draw.size(1, 2)
    return [draw.floats(n, channels, max(size >> k, 1), max((size + 8) >> k, 1)) for k in range(levels)]


def pyramid_roi_align(draw):
    n, r, bins = draw.size(1, 2), draw.size(1, 5), draw.size(2, 3)
    image = draw.pick(None, [64, 96])
    h, w = image or [1024, 1024]
    legacy, transform, absolute = draw.pick(None, None, 0, 1), draw.pick(None, -1, 0, 1, 2), draw.pick(None, 0, 1)
    swap, plus, ratio, scale = draw.pick(None, 0, 1), draw.pick(None, 0, 1), draw.pick(None, 0, 2), draw.pick(None, 20, 300)
    maps = pyramid_maps(draw, n, 4, 16)
    is_absolute = absolute in (None, 1) and not legacy
    is_swapped = bool(swap or legacy)
    rois = draw.uniform(-0.1, 1.1, n, r, 4)
    small = draw.uniform(0, 1, n, r, 1) < 0.5
    rois[..., 2:] = np.where(small, rois[..., :2] + draw.uniform(0.01, 0.3, n, r, 2), rois[..., 2:])
    if is_absolute:
        rois = rois * np.array([h, w, h, w] if is_swapped else [w, h, w, h], F)

    def want(rois, *maps):
        c = maps[0].shape[1]
        y = np.zeros((n, r, c, bins, bins), F)
        kind = -1 if legacy else 2 if transform is None else transform
        area = 224 * 224 * 2 / 1024 / 1024 / 16 if legacy else (scale or 224) ** 2 / h / w / 4
        for i, k in np.ndindex(n, r):
            roi = rois[i, k] if is_swapped else rois[i, k][[1, 0, 3, 2]]
            low, high = np.minimum(roi[:2], roi[2:]), np.maximum(roi[:2], roi[2:])
            extent = np.array([h, w], F)
            low, high = [np.clip(v / extent if is_absolute else v, 0, 1) for v in (low, high)]
            size = np.prod(high - low + (1 / extent if plus and not legacy else 0))
            level = sum(size > area * 4 ** q for q in range(3))
            plane = maps[level][i]
            dims = np.array(plane.shape[1:])
            start = low * (dims - 1) if kind == -1 else low * dims - (0.5 if kind == 2 else 0)
            end = high * (dims - 1) if kind == -1 else high * dims - (0.5 if kind == 2 else 0)
            step = (end - start) / (bins - 1 if kind == -1 else bins)
            count = [1, 1] if legacy else [ratio] * 2 if ratio else [max(1, math.ceil(v)) for v in (end - start) / bins]
            offset = 0.5 if kind >= 1 else 0
            for a, b in np.ndindex(bins, bins):
                samples = [clamped(plane, start[0] + step[0] * (a + (p + offset) / count[0]), start[1] + step[1] * (b + (q + offset) / count[1]))
                           for p, q in np.ndindex(*count)]
                y[i, k, :, a, b] = np.mean(samples, 0)
        return y
    return Case("PyramidROIAlign_TRT", [Value(rois, fixed=[2])] + maps, want, half=False, fpn_scale=scale, pooled_size=bins, image_size=image,
                roi_coords_absolute=absolute, roi_coords_swap=swap, roi_coords_plusone=plus, roi_coords_transform=transform,
                sampling_ratio=ratio, legacy=legacy)


def multilevel(draw):
    n, r, bins = draw.size(1, 2), draw.size(1, 5), draw.size(1, 3)
    image = draw.pick(None, [3, 256, 384])
    _, h, w = image or [3, 832, 1344]
    maps = pyramid_maps(draw, n, 5, 24)
    low = draw.uniform(0, 0.5, n, r, 2) * np.array([h, w], F)
    rois = np.concatenate([low, low + draw.uniform(-0.1, 0.6, n, r, 2) * np.array([h, w], F)], -1).astype(F)

    def want(rois, *maps):
        y = np.zeros((n, r, maps[0].shape[1], bins, bins), F)
        for i, k in np.ndindex(n, r):
            y1, x1, y2, x2 = (float(v) for v in rois[i, k])
            if not (y1 >= 0 and x1 >= 0 and y2 <= h and x2 <= w and y1 < y2 and x1 < x2):
                continue
            level = sum((y2 - y1) * (x2 - x1) > 224 * 224 / 4 * 4 ** q for q in range(4))
            scale = 2 ** (level + 2)
            for a, b in np.ndindex(bins, bins):
                y[i, k, :, a, b] = clamped(maps[level][i], (y1 + (y2 - y1) * (a + 0.5) / bins) / scale, (x1 + (x2 - x1) * (b + 0.5) / bins) / scale)
        return y
    return Case("MultilevelCropAndResize_TRT", [Value(rois, fixed=[2])] + maps, want, half=False, pooled_size=bins, image_size=image)


def crop_and_resize(op):
    def function(draw):
        n, r, height, width = draw.size(1, 3), draw.size(1, 4), draw.size(1, 4), draw.size(1, 4)
        x = draw.floats(n, draw.size(1, 3), draw.size(2, 6), draw.size(2, 6))
        rois = draw.uniform(-0.2, 1.2, n, r, 4, 1)

        def want(x, rois):
            _, c, h, w = x.shape
            y = np.zeros((n, r, c, height, width), F)
            for i, k, a, b in np.ndindex(n, r, height, width):
                y1, x1, y2, x2 = rois[i, k, :, 0]
                row = y1 * (h - 1) + a * (y2 - y1) * (h - 1) / (height - 1) if height > 1 else 0.5 * (y1 + y2) * (h - 1)
                column = x1 * (w - 1) + b * (x2 - x1) * (w - 1) / (width - 1) if width > 1 else 0.5 * (x1 + x2) * (w - 1)
                if 0 <= row <= h - 1 and 0 <= column <= w - 1:
                    y[i, k, :, a, b] = bilinear(x[i], row, column)
            return y
        return Case(op, [x, Value(rois, fixed=[2, 3])], want, half=False, crop_height=height, crop_width=width,
                    version=draw.pick("1", "2") if op == "CropAndResizeDynamic" else "1")
    return function


COUNTS = {"PyramidROIAlign_TRT": 16, "ROIAlign_TRT": 8}
OPERATORS = {
    "CropAndResize": crop_and_resize("CropAndResize"),
    "CropAndResizeDynamic": crop_and_resize("CropAndResizeDynamic"),
    "MultilevelCropAndResize_TRT": multilevel,
    "PyramidROIAlign_TRT": pyramid_roi_align,
    "ROIAlign_TRT": roi_align,
}
