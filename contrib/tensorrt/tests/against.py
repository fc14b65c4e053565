#!/usr/bin/env python3
"""Compares references of families/ with ONNX Runtime, and with torchvision if it is installed.

usage: against.py [--count N] [--seed S]

The references are what the cases of the tests expect. This program shows that they are what other people's code computes, for operators
that others have. The exit status is 1 if one differs, 77 if onnxruntime is not installed. It is no test: the cases are recorded.
"""
import argparse
import sys

import numpy as np

try:
    import onnxruntime
    import drawing
    from onnx import helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from families import nms as nms_family

FUNCTIONS = drawing.families()
F = np.float32


def ort(op, arrays, outputs=1, domain="", opset=22, **attributes):
    """The outputs of one node."""
    names = [f"i{k}" if a is not None else "" for k, a in enumerate(arrays)]
    results = [f"o{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, domain=domain, **{k: v for k, v in attributes.items() if v is not None})
    inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in zip(names, arrays) if a is not None]
    graph = helper.make_graph([node], op, inputs, [helper.make_empty_tensor_value_info(name) for name in results])
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {n: a for n, a in zip(names, arrays) if a is not None})


def drawn(name, draw):
    case = FUNCTIONS[name](draw)
    arrays = [v.array for v in case.inputs]
    results = case.want(*arrays)
    return arrays, case.attributes, results if isinstance(results, (tuple, list)) else [results]


def roi_align(draw):
    (x, rois, images), a, want = drawn("ROIAlign_TRT", draw)
    mode = "half_pixel" if a.get("coordinate_transformation_mode", 1) else "output_half_pixel"
    return want, ort("RoiAlign", [x, rois, images.astype(np.int64)], opset=16, mode="avg" if a.get("mode", 1) else "max",
                     coordinate_transformation_mode=mode, output_height=a["output_height"], output_width=a["output_width"],
                     sampling_ratio=a.get("sampling_ratio", 0), spatial_scale=a.get("spatial_scale", 1.0))


def crop_and_resize(draw):
    (x, rois), a, want = drawn("CropAndResize", draw)
    n, r = rois.shape[:2]
    y = ort("CropAndResize", [x, rois.reshape(n * r, 4), np.repeat(np.arange(n), r).astype(np.int32),
                              np.array([a["crop_height"], a["crop_width"]], np.int32)], domain="com.microsoft")[0]
    return want, [y.reshape(want[0].shape)]


def resize_nearest(draw):
    (x,), a, want = drawn("ResizeNearest_TRT", draw)
    return want, ort("Resize", [x, None, np.array([1, 1, a["scale"], a["scale"]], F)], mode="nearest", nearest_mode="floor",
                     coordinate_transformation_mode="asymmetric")


def instance_norm(draw):
    (x,), a, want = drawn("InstanceNormalization_TRT", draw)
    y = ort("InstanceNormalization", [x, np.array(a["scales"], F), np.array(a["bias"], F)], epsilon=a.get("epsilon", 1e-5))[0]
    return want, [np.where(y > 0, y, y * a.get("alpha", 0)) if a.get("relu") else y]


def group_norm(draw):
    (x, scale, bias), a, want = drawn("GroupNormalizationPlugin", draw)
    return want, ort("GroupNormalization", [x, scale, bias], num_groups=a["num_groups"], epsilon=a.get("eps", 1e-5))


def deformable_convolution(draw):
    (x, offset, mask, weight, *bias), a, want = drawn("ModulatedDeformConv2d", draw)
    padding = a.get("padding", 0)
    padding = padding if isinstance(padding, list) else [padding] * 2
    return want, ort("DeformConv", [x, weight, offset, bias[0] if bias else None, mask], strides=a.get("stride"), dilations=a.get("dilation"),
                     pads=padding * 2, group=a["group"], offset_group=a["deformable_group"])


def deformable_attention(draw):
    (value, shapes, starts, locations, weights), _, want = drawn("MultiscaleDeformableAttnPlugin_TRT", draw)
    n, queries, heads, levels, points, _ = locations.shape
    total = 0
    for k in range(levels):
        h, w = (int(v) for v in shapes[k])
        plane = value[:, starts[k]:starts[k] + h * w].transpose(0, 2, 3, 1).reshape(n * heads, -1, h, w)
        grid = (2 * locations[:, :, :, k] - 1).transpose(0, 2, 1, 3, 4).reshape(n * heads, queries, points, 2).astype(F)
        y = ort("GridSample", [np.ascontiguousarray(plane), grid], mode="linear", align_corners=0)[0]
        total = total + (y * weights[:, :, :, k].transpose(0, 2, 1, 3).reshape(n * heads, 1, queries, points)).sum(-1)
    return want, [total.reshape(n, heads, -1, queries).transpose(0, 3, 1, 2)]


def batched_nms(draw):
    """The greedy choice of each class, where no overlap and no score is at the threshold."""
    boxes, scores = nms_family.draw_boxes(draw, 1, 16), draw.uniform(0, 1, 1, 16, 3)
    kept = nms_family.batched_image(boxes[0, :, None], scores[0], 0.3, 0.45, -1, 4096, 100, 0)
    rows = ort("NonMaxSuppression", [boxes, scores.transpose(0, 2, 1).copy(), np.array([100]), np.array([0.45], F), np.array([0.3], F)])[0]
    found = sorted((-scores[0, p, c], c, p) for _, c, p in rows)
    pairs = [(p, c) for _, p, c in kept], [(p, c) for _, c, p in found]
    return [np.array(pairs[0], np.int64).reshape(-1, 2)], [np.array(pairs[1], np.int64).reshape(-1, 2)]


def torch_roi_align(draw):
    import torch
    import torchvision
    (x, rois, images), a, want = drawn("ROIAlign_TRT", draw)
    if a.get("mode", 1) == 0:
        return [], []
    boxes = torch.from_numpy(np.concatenate([images[:, None].astype(F), rois], 1))
    return want, [torchvision.ops.roi_align(torch.from_numpy(x), boxes, (a["output_height"], a["output_width"]), a.get("spatial_scale", 1.0),
                                            a.get("sampling_ratio", 0) or -1, bool(a.get("coordinate_transformation_mode", 1))).numpy()]


def torch_deformable_convolution(draw):
    import torch
    import torchvision
    (x, offset, mask, weight, *bias), a, want = drawn("ModulatedDeformConv2d", draw)
    y = torchvision.ops.deform_conv2d(*(torch.from_numpy(v) for v in (x, offset, weight, *bias)), stride=a.get("stride", [1, 1]),
                                      padding=a.get("padding", 0), dilation=a.get("dilation", [1, 1]), mask=torch.from_numpy(mask))
    return want, [y.numpy()]


COMPARISONS = [roi_align, crop_and_resize, resize_nearest, instance_norm, group_norm, deformable_convolution, deformable_attention, batched_nms,
               torch_roi_align, torch_deformable_convolution]

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--count", type=int, default=50)
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
onnxruntime.set_default_logger_severity(4)
failed = 0
for compare in COMPARISONS:
    largest, note = 0.0, ""
    for index in range(arguments.count):
        try:
            wants, gots = compare(drawing.Draw([arguments.seed, index]))
        except Exception as error:  # not installed, or not implemented
            note = f": not compared, {type(error).__name__}: {str(error)[:100]}"
            break
        for left, right in zip(wants, gots):
            is_same = left.shape == right.shape
            difference = np.abs(left.astype(np.float64) - right).max() if is_same and left.size else 0.0 if is_same else np.inf
            largest = max(largest, float(difference))
    failed += largest > 1e-3
    print(f"{compare.__name__}: {largest:.2g}{note}")
sys.exit(failed > 0)
