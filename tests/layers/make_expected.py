#!/usr/bin/env python3
"""Writes expected.bin: small Caffe networks, what goes into them, and what must come out.

    /usr/bin/python3 make_expected.py [FILE]     default: expected.bin beside this script

The outputs are those of OpenCV's dnn (Debian's python3-opencv) where it has the layer as Caffe has it, NumPy's elsewhere, written
here from BVLC's and SSD's descriptions of the layers. Inputs are random with a fixed seed for each case. The tests need neither.
"""
import sys
from pathlib import Path

import numpy as np

import reference as ref
from caffe_case import case, cases, one, prototxt_of, random, run_opencv, write
from caffemodel import caffemodel


def convolutions():
    x = random("conv.x", 1, 4, 7, 6)
    for name, more, w, bias in [
            ("plain", "num_output: 6 kernel_size: 3", (6, 4, 3, 3), True),
            ("no_bias", "num_output: 6 kernel_size: 3 bias_term: false", (6, 4, 3, 3), False),
            ("stride_pad", "num_output: 5 kernel_size: 3 stride: 2 pad: 1", (5, 4, 3, 3), True),
            ("two_axes", "num_output: 5 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 0 pad_w: 1", (5, 4, 3, 2), True),
            ("groups", "num_output: 6 kernel_size: 3 group: 2 pad: 1", (6, 2, 3, 3), True),
            ("depthwise", "num_output: 4 kernel_size: 3 group: 4 pad: 1", (4, 1, 3, 3), True),
            ("dilation", "num_output: 3 kernel_size: 3 dilation: 2 pad: 2", (3, 4, 3, 3), True),
            ("pointwise", "num_output: 7 kernel_size: 1", (7, 4, 1, 1), True)]:
        blobs = [random(f"conv.{name}.w", *w)] + ([random(f"conv.{name}.b", w[0])] if bias else [])
        one(f"convolution.{name}", "Convolution", x, None, f"convolution_param {{ {more} }}", blobs)
    repeated = "convolution_param { num_output: 3 kernel_size: 3 kernel_size: 2 pad: 1 pad: 0 stride: [1, 2] }"
    w, b = random("conv.list.w", 3, 4, 3, 2), random("conv.list.b", 3)
    one("convolution.lists", "Convolution", x, ref.convolution(x, w, b, pad=(1, 0), stride=(1, 2)), repeated, [w, b])
    line = random("conv.line", 2, 3, 11)
    w1, b1 = random("conv.line.w", 4, 3, 3), random("conv.line.b", 4)
    one("convolution.one_axis", "Convolution", line, ref.convolution(line, w1, b1, pad=(1,), stride=(2,)),
        "convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 }", [w1, b1])
    solid = random("conv.solid", 1, 2, 5, 4, 6)
    w3, b3 = random("conv.solid.w", 3, 2, 3, 2, 2), random("conv.solid.b", 3)
    one("convolution.three_axes", "Convolution", solid, ref.convolution(solid, w3, b3, pad=(1, 0, 1), stride=(1, 1, 2)),
        "convolution_param { num_output: 3 kernel_size: [3, 2, 2] pad: [1, 0, 1] stride: [1, 1, 2] }", [w3, b3])
    wd, bd = random("conv.dw.w", 4, 1, 3, 3), random("conv.dw.b", 4)
    for kind in ["DepthwiseConvolution", "ConvolutionDepthwise"]:
        one(f"convolution.{kind}", kind, x, ref.convolution(x, wd, bd, pad=(1, 1), group=4),
            "convolution_param { num_output: 4 kernel_size: 3 pad: 1 }", [wd, bd])
    # Two bottoms share the weights.
    other = random("conv.other", 1, 4, 7, 6)
    w2, b2 = random("conv.two.w", 3, 4, 3, 3), random("conv.two.b", 3)
    case("convolution.two_bottoms", "layer { name: 'l' type: 'Convolution' bottom: 'x' bottom: 'z' top: 'y' top: 'v' "
         "convolution_param { num_output: 3 kernel_size: 3 } }", {"x": x, "z": other},
         {"y": ref.convolution(x, w2, b2), "v": ref.convolution(other, w2, b2)}, {"l": [w2, b2]})


def encodings():
    x = random("encoding.x", 1, 2, 5, 5)
    w, b = random("encoding.w", 3, 2, 3, 3), random("encoding.b", 3)
    more = "convolution_param { num_output: 3 kernel_size: 3 }"
    for encoding in ["packed", "single", "double", "legacy", "v1", "raw"]:
        one(f"encoding.{encoding}", "Convolution", x, ref.convolution(x, w, b), more, [w, b], encoding=encoding)
    in_text = " ".join(f"blobs {{ data: {[float(v) for v in blob.ravel()]} shape {{ dim: {list(blob.shape)} }} }}" for blob in (w, b))
    one("encoding.text", "Convolution", x, ref.convolution(x, w, b), more + in_text)
    halves = [w.astype(np.float16).astype(np.float32), b.astype(np.float16).astype(np.float32)]
    one("encoding.half", "Convolution", x, ref.convolution(x, *halves), more, [w, b], encoding="half")


def deconvolutions():
    x = random("deconv.x", 1, 4, 4, 3)
    for name, more, w in [
            ("plain", "num_output: 3 kernel_size: 3", (4, 3, 3, 3)),
            ("stride_pad", "num_output: 3 kernel_size: 4 stride: 2 pad: 1", (4, 3, 4, 4)),
            ("groups", "num_output: 4 kernel_size: 4 stride: 2 pad: 1 group: 4", (4, 1, 4, 4)),
            ("two_groups", "num_output: 6 kernel_size: 3 group: 2", (4, 3, 3, 3))]:
        outputs = 3 if "group" not in more else int(more.split()[1])
        one(f"deconvolution.{name}", "Deconvolution", x, None, f"convolution_param {{ {more} }}",
            [random(f"deconv.{name}.w", *w), random(f"deconv.{name}.b", outputs)])
    w, b = random("deconv.dilation.w", 4, 2, 3, 3), random("deconv.dilation.b", 2)
    one("deconvolution.dilation", "Deconvolution", x, ref.deconvolution(x, w, b, stride=(2, 2), dilation=(2, 2), pad=(1, 1)),
        "convolution_param { num_output: 2 kernel_size: 3 stride: 2 dilation: 2 pad: 1 }", [w, b])


def pooling():
    for size in [(7, 7), (6, 8), (5, 9)]:
        x = random(f"pool.{size}", 1, 2, *size)
        for method in ["MAX", "AVE"]:
            for kernel, stride, pad in [(2, 2, 0), (3, 2, 0), (3, 2, 1), (3, 1, 1), (2, 3, 1)]:
                more = f"pooling_param {{ pool: {method} kernel_size: {kernel} stride: {stride} pad: {pad} }}"
                expected = ref.pool(x, method, (kernel, kernel), (stride, stride), (pad, pad))
                one(f"pooling.{method}_{kernel}_{stride}_{pad}_{size[0]}x{size[1]}", "Pooling", x, expected, more)
    x = random("pool.opencv", 2, 2, 7, 6)
    for method in ["MAX", "AVE"]:
        one(f"pooling.{method}_opencv", "Pooling", x, None, f"pooling_param {{ pool: {method} kernel_size: 3 stride: 2 }}")
        one(f"pooling.{method}_global", "Pooling", x, None, f"pooling_param {{ pool: {method} global_pooling: true }}")
        one(f"pooling.{method}_floor", "Pooling", x, ref.pool(x, method, (3, 3), (2, 2), (0, 0), up=False),
            f"pooling_param {{ pool: {method} kernel_size: 3 stride: 2 round_mode: FLOOR }}")
        one(f"pooling.{method}_torch", "Pooling", x, ref.pool(x, method, (3, 2), (2, 1), (1, 0), up=False),
            f"pooling_param {{ pool: {method} kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 0 torch_pooling: true }}")
    positive = random("pool.positive", 2, 3, 6, 6, low=0.1, high=2)
    one("pooling.stochastic", "Pooling", positive, ref.pool(positive, "STOCHASTIC", (2, 2), (2, 2), (0, 0)),
        "pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 }")
    one("pooling.stochastic_global", "Pooling", positive, ref.pool(positive, "STOCHASTIC", (6, 6), (1, 1), (0, 0)),
        "pooling_param { pool: STOCHASTIC global_pooling: true }")
    y, places = ref.pool_with_places(x, (2, 2), (2, 2))
    case("pooling.places", "layer { name: 'l' type: 'Pooling' bottom: 'x' top: 'y' top: 'mask' "
         "pooling_param { pool: MAX kernel_size: 2 stride: 2 } }", {"x": x}, {"y": y, "mask": places})
    for height in [1, 2, 3]:
        for method in ["MAX", "AVE"]:
            one(f"spp.{method}_{height}", "SPP", x, ref.spp(x, height, method),
                f"spp_param {{ pyramid_height: {height} pool: {method} }}")
    rois = np.array([[0, 0, 0, 12, 12], [1, 3, 5, 20, 26], [0, 8, 8, 9, 9], [1, -4, 2, 40, 9]], np.float32)
    maps = random("roi.x", 2, 1, 12, 14)
    case("roi_pooling", "layer { name: 'l' type: 'ROIPooling' bottom: 'x' bottom: 'rois' top: 'y' "
         "roi_pooling_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 } }", {"x": maps, "rois": rois},
         {"y": ref.roi_pooling(maps, rois, 3, 2, 0.5)})


def normalization():
    x = random("norm.x", 2, 6, 3, 4)
    one("lrn.across", "LRN", x, None, "lrn_param { local_size: 5 alpha: 0.001 beta: 0.75 }")  # OpenCV knows no k
    one("lrn.default", "LRN", x, ref.lrn(x, 5, 1, 0.75, 1), "")
    one("lrn.across_3", "LRN", x, ref.lrn(x, 3, 0.5, 0.6, 1.5), "lrn_param { local_size: 3 alpha: 0.5 beta: 0.6 k: 1.5 }")
    one("lrn.within", "LRN", x, ref.lrn_within(x, 3, 0.7, 0.75), "lrn_param { norm_region: WITHIN_CHANNEL local_size: 3 alpha: 0.7 }")
    mean, variance = random("bn.mean", 6), random("bn.variance", 6, low=0.3, high=2)
    for name, factor in [("opencv", 1.0), ("opencv_factor", 3.5)]:
        one(f"batch_norm.{name}", "BatchNorm", x, None, "", [mean * factor, variance * factor, np.array([factor], np.float32)])
    one("batch_norm.no_statistics", "BatchNorm", x, ref.batch_norm(x, 0 * mean, 0 * variance, 1e-5), "",
        [mean, variance, np.array([0], np.float32)])
    one("batch_norm.eps", "BatchNorm", x, ref.batch_norm(x, mean, variance, 0.1), "batch_norm_param { eps: 0.1 }",
        [mean, variance, np.array([1], np.float32)])
    scale, bias = random("bn.scale", 6), random("bn.bias", 6)
    five = [mean, variance, np.array([7], np.float32), scale, bias]
    one("batch_norm.nvidia", "BatchNorm", x, ref.batch_norm(x, mean, variance, 1e-5) * ref.across(scale) + ref.across(bias), "", five)
    m, v = x.mean((0, 2, 3)), x.var((0, 2, 3))
    one("batch_norm.by_batch", "BatchNorm", x, ref.batch_norm(x, m, v, 1e-5), "batch_norm_param { use_global_stats: false }",
        [mean, variance, np.array([1], np.float32)])
    flat = random("bn.flat", 3, 6)
    one("batch_norm.flat", "BatchNorm", flat, (flat - mean) / np.sqrt(variance + 1e-5), "", [mean, variance, np.array([1], np.float32)])
    for channels in ["true", "false"]:
        for deviation in ["true", "false"]:
            one(f"mvn.{channels}_{deviation}", "MVN", x, None, f"mvn_param {{ across_channels: {channels} normalize_variance: {deviation} }}")
    one("mvn.eps", "MVN", x, ref.mvn(x, True, False, 0.2), "mvn_param { eps: 0.2 }")
    one("normalize.whole_shared", "Normalize", x, None, "norm_param { across_spatial: true channel_shared: true }", [np.array([3], np.float32)])
    one("normalize.place_channels", "Normalize", x, None, "norm_param { across_spatial: false channel_shared: false }", [scale])
    one("normalize.place_shared", "Normalize", x, ref.normalize(x, False, np.array([2.5], np.float32)),
        "norm_param { across_spatial: false }", [np.array([2.5], np.float32)])
    one("normalize.whole_channels", "Normalize", x, ref.normalize(x, True, scale), "norm_param { channel_shared: false }", [scale])
    one("normalize.older_name", "Norm", x, ref.normalize(x, True, scale), "norm_param { channel_shared: false }", [scale])


def scales():
    x = random("scale.x", 2, 3, 4, 5)
    vector, bias = random("scale.w", 3), random("scale.b", 3)
    one("scale.opencv", "Scale", x, None, "", [vector])
    one("scale.opencv_bias", "Scale", x, None, "scale_param { bias_term: true }", [vector, bias])
    for axis, count in [(0, 1), (1, 2), (2, 2), (2, -1), (0, -1), (-1, 1), (1, 0)]:
        begin = axis % 4
        shape = x.shape[begin:] if count == -1 else x.shape[begin:begin + count]
        w, b = random(f"scale.{axis}.{count}.w", *shape), random(f"scale.{axis}.{count}.b", *shape)
        expand = shape + (1,) * (4 - begin - len(shape))
        one(f"scale.axis_{axis}_{count}", "Scale", x, x * w.reshape(expand) + b.reshape(expand),
            f"scale_param {{ axis: {axis} num_axes: {count} bias_term: true }}", [w, b])
        one(f"bias.axis_{axis}_{count}", "Bias", x, x + w.reshape(expand), f"bias_param {{ axis: {axis} num_axes: {count} }}", [w])
    other = random("scale.other", 2, 3)
    for kind, expected in [("Scale", x * other[:, :, None, None]), ("Bias", x + other[:, :, None, None])]:
        case(f"{kind.lower()}.two_bottoms", f"layer {{ name: 'l' type: '{kind}' bottom: 'x' bottom: 's' top: 'y' "
             f"{kind.lower()}_param {{ axis: 0 }} }}", {"x": x, "s": other}, {"y": expected})
    b2 = random("scale.two.b", 2, 3)
    case("scale.two_bottoms_bias", "layer { name: 'l' type: 'Scale' bottom: 'x' bottom: 's' top: 'y' "
         "scale_param { axis: 0 bias_term: true } }", {"x": x, "s": other},
         {"y": x * other[:, :, None, None] + b2[:, :, None, None]}, {"l": [b2]})


def elementwise():
    x = random("element.x", 2, 3, 4, 5, low=-3, high=3)
    positive = random("element.positive", 2, 3, 4, 5, low=0.1, high=3)
    one("relu", "ReLU", x)
    one("relu.slope", "ReLU", x, None, "relu_param { negative_slope: 0.1 }")
    one("relu6", "ReLU6", x * 3)
    one("prelu", "PReLU", x, None, "", [random("prelu.w", 3)])
    one("prelu.shared", "PReLU", x, np.where(x < 0, x * np.float32(0.3), x), "prelu_param { channel_shared: true }", [np.array([0.3], np.float32)])
    flat = random("prelu.flat", 4, 3)
    w = random("prelu.flat.w", 3)
    one("prelu.flat", "PReLU", flat, np.where(flat < 0, flat * w, flat), "", [w])
    one("elu", "ELU", x, None, "elu_param { alpha: 0.7 }")
    one("bnll", "BNLL", x)
    one("sigmoid", "Sigmoid", x)
    one("tanh", "TanH", x)
    one("absval", "AbsVal", x)
    one("mish", "Mish", x, x * np.tanh(np.log1p(np.exp(x))))
    one("swish", "Swish", x, x / (1 + np.exp(-1.5 * x)), "swish_param { beta: 1.5 }")
    one("dropout", "Dropout", x, None, "dropout_param { dropout_ratio: 0.4 }")
    one("power", "Power", positive, None, "power_param { power: 1.7 scale: 0.5 shift: 2 }")
    one("power.linear", "Power", x, None, "power_param { scale: -0.5 shift: 2 }")
    one("power.square", "Power", x, (x * 2 + 1) ** 2, "power_param { power: 2 scale: 2 shift: 1 }")
    one("power.zero", "Power", x, np.ones_like(x), "power_param { power: 0 }")
    one("exp", "Exp", x, np.exp(x))
    one("exp.base", "Exp", x, 2.0 ** (0.3 + 0.5 * x), "exp_param { base: 2 scale: 0.5 shift: 0.3 }")
    one("log", "Log", positive, np.log(positive))
    one("log.base", "Log", positive, np.log(2 * positive + 1) / np.log(10), "log_param { base: 10 scale: 2 shift: 1 }")
    one("clip", "Clip", x, np.clip(x, -1.5, 0.5), "clip_param { min: -1.5 max: 0.5 }")
    one("threshold", "Threshold", x, x > 0.25, "threshold_param { threshold: 0.25 }")
    a, b = random("eltwise.a", 2, 3, 4, 5), random("eltwise.b", 2, 3, 4, 5)
    bottoms = "bottom: 'x' bottom: 'a' bottom: 'b'"
    three = {"x": x, "a": a, "b": b}
    for name, more in [("sum", ""), ("max", "operation: MAX"), ("prod", "operation: PROD"), ("coeff", "operation: SUM coeff: [0.5, -2, 3]"),
                       ("by_number", "operation: 2")]:
        layers = f"layer {{ name: 'l' type: 'Eltwise' {bottoms} top: 'y' eltwise_param {{ {more} }} }}"
        case(f"eltwise.{name}", layers, three, "y" if name != "by_number" else {"y": np.maximum(np.maximum(x, a), b)})
    factor = random("axpy.a", 2, 3)
    case("axpy", "layer { name: 'l' type: 'Axpy' bottom: 's' bottom: 'x' bottom: 'a' top: 'y' }",
         {"s": factor, "x": x, "a": a}, {"y": factor[:, :, None, None] * x + a})
    case("axpy.spread", "layer { name: 'l' type: 'Axpy' bottom: 's' bottom: 'x' bottom: 'a' top: 'y' }",
         {"s": factor[:, :, None, None], "x": x, "a": a}, {"y": factor[:, :, None, None] * x + a})
    for axis in [0, 1, 2, 3, -1]:
        one(f"softmax.{axis}", "Softmax", x, None if axis >= 0 else ref.softmax(x, axis), f"softmax_param {{ axis: {axis} }}")
    case("softmax.loss", "layer { name: 'l' type: 'SoftmaxWithLoss' bottom: 'x' bottom: 'label' top: 'y' }",
         {"x": x, "label": np.zeros((2, 1, 4, 5), np.float32)}, {"y": ref.softmax(x, 1)})


def products():
    x = random("product.x", 2, 4, 2, 5)
    w, b = random("product.w", 7, 40), random("product.b", 7)
    one("inner_product", "InnerProduct", x, None, "inner_product_param { num_output: 7 }", [w, b])
    one("inner_product.no_bias", "InnerProduct", x, None, "inner_product_param { num_output: 7 bias_term: false }", [w])
    w2, b2 = random("product.w2", 6, 10), random("product.b2", 6)
    one("inner_product.axis_2", "InnerProduct", x, None, "inner_product_param { num_output: 6 axis: 2 }", [w2, b2])
    w0, b0 = random("product.w0", 5, 80), random("product.b0", 5)
    one("inner_product.axis_0", "InnerProduct", x, w0 @ x.reshape(-1) + b0, "inner_product_param { num_output: 5 axis: 0 }", [w0, b0])
    w3, b3 = random("product.w3", 3, 5), random("product.b3", 3)
    one("inner_product.last", "InnerProduct", x, x @ w3.T + b3, "inner_product_param { num_output: 3 axis: -1 }", [w3, b3])
    one("inner_product.transpose", "InnerProduct", x, x.reshape(2, 40) @ w.T + b,
        "inner_product_param { num_output: 7 transpose: true }", [np.ascontiguousarray(w.T), b])
    picks = np.array([[0, 3, 2], [4, 4, 1]], np.float32)
    rows, shift = random("embed.w", 5, 6), random("embed.b", 6)
    one("embed", "Embed", picks, rows[picks.astype(int)] + shift, "embed_param { input_dim: 5 num_output: 6 }", [rows, shift])
    one("embed.no_bias", "Embed", picks, rows[picks.astype(int)], "embed_param { input_dim: 5 num_output: 6 bias_term: false }", [rows])
    image = random("im2col.x", 2, 3, 5, 6)
    one("im2col", "Im2col", image, ref.im2col(image, (3, 2), (1, 0), (2, 1), (1, 2)),
        "convolution_param { kernel_h: 3 kernel_w: 2 pad_h: 1 pad_w: 0 stride_h: 2 stride_w: 1 dilation: [1, 2] }")


def moves():
    x = random("move.x", 2, 6, 4, 5)
    a, b = random("move.a", 2, 3, 4, 5), random("move.b", 2, 6, 4, 2)
    case("concat", "layer { name: 'l' type: 'Concat' bottom: 'x' bottom: 'a' top: 'y' }", {"x": x, "a": a}, "y")
    case("concat.axis_3", "layer { name: 'l' type: 'Concat' bottom: 'x' bottom: 'b' top: 'y' concat_param { axis: 3 } }", {"x": x, "b": b}, "y")
    case("concat.negative", "layer { name: 'l' type: 'Concat' bottom: 'x' bottom: 'b' top: 'y' concat_param { axis: -1 } }",
         {"x": x, "b": b}, {"y": np.concatenate([x, b], 3)})
    case("concat.older_name", "layer { name: 'l' type: 'Concat' bottom: 'x' bottom: 'x' top: 'y' concat_param { concat_dim: 0 } }",
         {"x": x}, {"y": np.concatenate([x, x], 0)})
    slices = "layer {{ name: 'l' type: 'Slice' bottom: 'x' top: 'p' top: 'q' top: 'r' slice_param {{ {} }} }}"
    case("slice.equal", slices.format("axis: 1"), {"x": x}, dict(zip("pqr", np.split(x, 3, 1))))
    case("slice.points", slices.format("axis: 1 slice_point: [1, 4]"), {"x": x}, dict(zip("pqr", np.split(x, [1, 4], 1))))
    case("slice.older_name", slices.format("slice_dim: 3 slice_point: 2 slice_point: 3"), {"x": x}, dict(zip("pqr", np.split(x, [2, 3], 3))))
    case("split", "layer { name: 'l' type: 'Split' bottom: 'x' top: 'p' top: 'q' }", {"x": x}, {"p": x, "q": x})
    case("silence", "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'p' } layer { name: 'b' type: 'TanH' bottom: 'x' top: 'q' } "
         "layer { name: 's' type: 'Silence' bottom: 'p' }", {"x": x}, {"q": np.tanh(x)})
    for name, more in [("default", ""), ("axis_2", "axis: 2"), ("middle", "axis: 1 end_axis: 2"), ("whole", "axis: 0")]:
        shape = {"default": (2, 120), "axis_2": (2, 6, 20), "middle": (2, 24, 5), "whole": (240,)}[name]
        expected = None if name in ("default", "axis_2", "middle") else x.reshape(shape)
        one(f"flatten.{name}", "Flatten", x, expected, f"flatten_param {{ {more} }}")
    for name, more, shape in [
            ("plain", "shape { dim: 2 dim: 3 dim: 40 }", (2, 3, 40)), ("rest", "shape { dim: 0 dim: -1 }", (2, 120)),
            ("copies", "shape { dim: 0 dim: 0 dim: -1 dim: 1 }", (2, 6, 20, 1)),
            ("axis", "shape { dim: 3 dim: -1 } axis: 1 num_axes: 1", (2, 3, 2, 4, 5)),
            ("insert", "shape { dim: 1 } axis: 2 num_axes: 0", (2, 6, 1, 4, 5)),
            ("negative", "shape { dim: 4 dim: 5 dim: 1 } axis: -3 num_axes: 2", (2, 6, 4, 5, 1)),
            ("list", "shape { dim: [-1, 8] }", (30, 8))]:
        one(f"reshape.{name}", "Reshape", x, x.reshape(shape), f"reshape_param {{ {more} }}")
    one("reshape.opencv", "Reshape", x, None, "reshape_param { shape { dim: 0 dim: 12 dim: -1 } }")
    one("permute", "Permute", x, None, "permute_param { order: 0 order: 2 order: 3 order: 1 }")
    one("permute.some", "Permute", x, x.transpose(2, 0, 1, 3), "permute_param { order: 2 }")
    one("permute.batch", "Permute", x, x.transpose(3, 1, 0, 2), "permute_param { order: [3, 1, 0, 2] }")
    for axis in [0, 1, 3, -2]:
        repeats = [1, 1, 1, 1]
        repeats[axis] = 3
        one(f"tile.{axis}", "Tile", x, np.tile(x, repeats), f"tile_param {{ axis: {axis} tiles: 3 }}")
    small = random("crop.like", 2, 6, 2, 3)
    crop = "layer {{ name: 'l' type: 'Crop' bottom: 'x' bottom: 'z' top: 'y' crop_param {{ {} }} }}"
    case("crop.default", crop.format(""), {"x": x, "z": small}, "y")
    case("crop.offset", crop.format("axis: 2 offset: 1"), {"x": x, "z": small}, {"y": x[:, :, 1:3, 1:4]})
    case("crop.offsets", crop.format("axis: 2 offset: 2 offset: 0"), {"x": x, "z": small}, {"y": x[:, :, 2:4, 0:3]})
    tiny = random("crop.tiny", 1, 2, 3, 4)
    case("crop.all", crop.format("axis: 0 offset: [1, 3, 1, 0]"), {"x": x, "z": tiny}, {"y": x[1:2, 3:5, 1:4, 0:4]})
    one("shuffle_channel", "ShuffleChannel", x, x.reshape(2, 3, 2, 4, 5).swapaxes(1, 2).reshape(x.shape), "shuffle_channel_param { group: 3 }")


def reductions():
    x = random("reduce.x", 3, 4, 2, 5)
    for axis in [0, 1, 2, -1]:
        rest = tuple(range(axis % 4, 4))
        for name, value in [("SUM", x.sum(rest)), ("ASUM", np.abs(x).sum(rest)), ("SUMSQ", (x * x).sum(rest)), ("MEAN", x.mean(rest))]:
            one(f"reduction.{name}_{axis}", "Reduction", x, value * np.float32(0.5),
                f"reduction_param {{ operation: {name} axis: {axis} coeff: 0.5 }}")
    x = x.copy()
    x[1, 2] = x[1, 3] = 0  # equal values: the last comes first
    for k in [1, 3]:
        for values in [False, True]:
            more = f"top_k: {k} out_max_val: {str(values).lower()}"
            one(f"argmax.whole_{k}_{values}", "ArgMax", x, ref.argmax(x, k, values), f"argmax_param {{ {more} }}")
            for axis in ([1, 2] if k == 1 else [1, 3, -1]):
                one(f"argmax.axis_{axis}_{k}_{values}", "ArgMax", x, ref.argmax(x, k, values, axis), f"argmax_param {{ {more} axis: {axis} }}")
    zeros = np.zeros((2, 3, 1, 2), np.float32)
    one("argmax.ties", "ArgMax", zeros, ref.argmax(zeros, 1, False, 1), "argmax_param { axis: 1 }")
    flat = random("argmax.flat", 4, 6)
    one("argmax.flat", "ArgMax", flat, ref.argmax(flat, 2, True), "argmax_param { top_k: 2 out_max_val: true }")


def sampling():
    x = random("interp.x", 2, 3, 5, 7)
    for name, more, size in [("size", "height: 9 width: 12", (9, 12)), ("smaller", "height: 3 width: 4", (3, 4)), ("zoom", "zoom_factor: 3", (13, 19))]:
        one(f"interp.{name}", "Interp", x, ref.interp(x, *size), f"interp_param {{ {more} }}")
    one("interp.shrink", "Interp", x, ref.interp(x, 3, 4), "interp_param { shrink_factor: 2 }")
    one("interp.both", "Interp", x, ref.interp(x, 5, 7), "interp_param { shrink_factor: 2 zoom_factor: 2 }")
    one("interp.cut", "Interp", x, ref.interp(x[:, :, 1:4, 1:6], 6, 8), "interp_param { height: 6 width: 8 pad_beg: -1 pad_end: -1 }")
    like = random("interp.like", 1, 1, 8, 6)
    case("interp.like", "layer { name: 'l' type: 'Interp' bottom: 'x' bottom: 'z' top: 'y' }", {"x": x, "z": like}, {"y": ref.interp(x, 8, 6)})
    one("upsample", "Upsample", x, x.repeat(2, 2).repeat(2, 3), "")
    one("upsample.scale", "Upsample", x, x.repeat(3, 2).repeat(2, 3), "upsample_param { scale_h: 3 scale_w: 2 }")
    even = random("unpool.x", 2, 3, 6, 8)
    pooled, places = ref.pool_with_places(even, (2, 2), (2, 2))
    unpool = ("layer {{ name: 'p' type: 'Pooling' bottom: 'x' top: 'p' top: 'mask' pooling_param {{ kernel_size: 2 stride: 2 }} }} "
              "layer {{ name: 'u' type: 'Upsample' bottom: 'p' bottom: 'mask' top: 'y' upsample_param {{ {} }} }}")
    case("upsample.places", unpool.format("scale: 2"), {"x": even}, {"y": ref.unpool(pooled, places, 6, 8)})
    odd = random("unpool.odd", 1, 2, 5, 7)
    pooled, places = ref.pool_with_places(odd, (2, 2), (2, 2))
    case("upsample.places_odd", unpool.format("upsample_h: 5 upsample_w: 7"), {"x": odd}, {"y": ref.unpool(pooled, places, 5, 7)})
    case("upsample.places_cut", unpool.format("scale: 2 pad_out_h: true pad_out_w: true"), {"x": odd}, {"y": ref.unpool(pooled, places, 5, 7)})


def recurrent():
    steps, streams, features, units = 5, 3, 4, 6
    x = random("lstm.x", steps, streams, features, low=-1, high=1)
    goes_on = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 1], [0, 1, 1], [1, 1, 0.5]], np.float32)
    static = random("lstm.static", streams, 5, low=-1, high=1)
    states = [random(f"lstm.state{i}", 1, streams, units, low=-1, high=1) for i in range(2)]
    for kind, gates, count in [("LSTM", 4, 2), ("RNN", 1, 1)]:
        w = {"x": random(f"{kind}.wx", gates * units, features, low=-1), "b": random(f"{kind}.b", gates * units),
             "static": random(f"{kind}.ws", gates * units, 5), "h": random(f"{kind}.wh", gates * units, units, low=-1, high=1),
             "o": random(f"{kind}.wo", units, units, low=-1, high=1), "bo": random(f"{kind}.bo", units)}
        run = ref.lstm if kind == "LSTM" else ref.rnn
        tail = [w["h"]] if kind == "LSTM" else [w["h"], w["o"], w["bo"]]
        layer = "layer {{ name: 'l' type: '" + kind + "' bottom: 'x' bottom: 'cont' {} top: 'y' {} recurrent_param {{ num_output: 6 {} }} }}"
        inputs = {"x": x, "cont": goes_on}
        y, _ = run(x, goes_on, w, None, None)
        case(f"{kind}.plain", layer.format("", "", ""), inputs, {"y": y}, {"l": [w["x"], w["b"]] + tail})
        y, _ = run(x, goes_on, w, static, None)
        case(f"{kind}.static", layer.format("bottom: 's'", "", ""), {**inputs, "s": static}, {"y": y},
             {"l": [w["x"], w["b"], w["static"]] + tail})
        given = {f"s{i}": states[i] for i in range(count)}
        y, last = run(x, goes_on, w, None, states[:count])
        case(f"{kind}.exposed", layer.format(" ".join(f"bottom: '{n}'" for n in given), " ".join(f"top: 'e{i}'" for i in range(count)),
                                             "expose_hidden: true"),
             {**inputs, **given}, {"y": y, **{f"e{i}": last[i] for i in range(count)}}, {"l": [w["x"], w["b"]] + tail})


def detection():
    maps, image = random("prior.map", 1, 1, 3, 5), random("prior.image", 1, 1, 30, 40)
    prior = "layer {{ name: 'l' type: 'PriorBox' bottom: 'x' bottom: 'data' top: 'y' prior_box_param {{ {} }} }}"
    for name, more in [
            ("one", "min_size: 20"), ("sizes", "min_size: 16 min_size: 24 max_size: 30 max_size: 40 step: 16 variance: 0.2 clip: false"),
            ("ratios", "min_size: 20 max_size: 33 aspect_ratio: 2 aspect_ratio: 3 flip: true clip: true variance: [0.1, 0.1, 0.2, 0.2]"),
            ("no_flip", "min_size: 20 aspect_ratio: [2, 0.5, 2] flip: false clip: false variance: [0.1, 0.1, 0.2, 0.2]"),
            ("steps", "min_size: 20 step_h: 20 step_w: 14 offset: 0.25 variance: 0.3")]:
        case(f"prior_box.{name}", prior.format(more), {"x": maps, "data": image},
             {"y": ref.prior_box(maps.shape, image.shape, more)} if name in ("one", "steps") else "y")
    case("prior_box.img_size", "layer { name: 'l' type: 'PriorBox' bottom: 'x' top: 'y' prior_box_param { min_size: 20 img_h: 100 img_w: 50 } }",
         {"x": maps}, {"y": ref.prior_box(maps.shape, (1, 3, 100, 50), "min_size: 20")})
    priors, classes = 60, 4
    generator = np.random.default_rng(11)
    corners = generator.uniform(0, 0.7, (priors, 2))
    boxes = np.concatenate([corners, corners + generator.uniform(0.1, 0.3, (priors, 2))], 1)
    variances = np.tile([0.1, 0.1, 0.2, 0.2], (priors, 1))
    prior_blob = np.stack([boxes, variances]).reshape(1, 2, priors * 4).astype(np.float32)
    scores = generator.dirichlet(np.ones(classes), (2, priors)).reshape(2, -1).astype(np.float32)
    output = ("layer {{ name: 'l' type: 'DetectionOutput' bottom: 'loc' bottom: 'conf' bottom: 'prior' top: 'y' "
              "detection_output_param {{ num_classes: 4 {} }} }}")
    for name, settings in [
            ("center", dict(code_type="CENTER_SIZE", keep_top_k=30, nms_threshold=0.45, top_k=40, confidence_threshold=0.2)),
            ("corner", dict(code_type="CORNER", keep_top_k=10, nms_threshold=0.3, confidence_threshold=0.3)),
            ("corner_size", dict(code_type="CORNER_SIZE", nms_threshold=0.5, confidence_threshold=0.4)),
            ("own_boxes", dict(code_type="CENTER_SIZE", share_location=False, keep_top_k=20, nms_threshold=0.45, confidence_threshold=0.25)),
            ("in_target", dict(code_type="CENTER_SIZE", variance_encoded_in_target=True, keep_top_k=20, nms_threshold=0.4, confidence_threshold=0.3)),
            ("eta", dict(code_type="CENTER_SIZE", nms_threshold=0.7, eta=0.8, confidence_threshold=0.3)),
            ("nothing", dict(code_type="CENTER_SIZE", nms_threshold=0.5, confidence_threshold=0.9999))]:
        kinds = 1 if settings.get("share_location", True) else classes
        loc = random(f"detection.{name}", 2, priors * kinds * 4, low=-0.5, high=0.5) * np.float32(0.2 if name in ("corner", "in_target") else 1)
        text = ref.detection_text(settings)
        case(f"detection_output.{name}", output.format(text), {"loc": loc, "conf": scores, "prior": prior_blob},
             {"y": ref.detection_output(loc, scores, prior_blob, classes, **settings)})
    # The same by OpenCV, one picture, less the rows of zeros that it appends, class by class as Caffe has them.
    loc = random("detection.opencv", 1, priors * 4, low=-0.5, high=0.5)
    text = ref.detection_text(dict(code_type="CENTER_SIZE", share_location=True, background_label_id=0, keep_top_k=30, nms_threshold=0.45, top_k=40,
                                   confidence_threshold=0.2))
    inputs = {"loc": loc, "conf": scores[:1], "prior": prior_blob}
    found = run_opencv(prototxt_of(inputs, output.format(text)), caffemodel({}), inputs, None)
    rows = sorted((row for row in found[0, 0] if np.any(row != 0)), key=lambda row: (row[1], -row[2]))
    case("detection_output.opencv", output.format(text), inputs, {"y": np.array(rows)[None, None]})
    cases[-1] = cases[-1][:1] + ("opencv",) + cases[-1][2:]
    anchors = 9
    rpn = {"prob": random("rpn.prob", 1, 2 * anchors, 6, 7, low=0, high=1), "delta": random("rpn.delta", 1, 4 * anchors, 6, 7, low=-0.4, high=0.4),
           "info": np.array([[96, 112, 1.2]], np.float32)}
    bottoms = "bottom: 'prob' bottom: 'delta' bottom: 'info'"
    rows, best = ref.proposals(rpn["prob"], rpn["delta"], rpn["info"], 16, (0.5, 1, 2), (8, 16, 32), 100, 20, 0.7, 16)
    case("proposal", f"layer {{ name: 'l' type: 'Proposal' {bottoms} top: 'y' top: 's' proposal_param {{ feat_stride: 16 base_size: 16 min_size: 16 "
         "ratio: [0.5, 1, 2] scale: [8, 16, 32] pre_nms_topn: 100 post_nms_topn: 20 nms_thresh: 0.7 } }", rpn, {"y": rows, "s": best})
    small = {**rpn, "prob": rpn["prob"][:, :12], "delta": rpn["delta"][:, :24]}
    rows, _ = ref.proposals(small["prob"], small["delta"], rpn["info"], 16, (0.5, 1, 2), (2, 4), 6000, 300, 0.7, 16)
    case("proposal.python", f"layer {{ name: 'l' type: 'Python' {bottoms} top: 'y' python_param {{ module: 'rpn.proposal_layer' "
         "layer: 'ProposalLayer' param_str: \"'feat_stride': 16\\n'scales': (2, 4)\" } }", small, {"y": rows})
    two = {"prob": np.concatenate([small["prob"], small["prob"][:, ::-1]]), "delta": np.concatenate([small["delta"], -small["delta"]]),
           "maps": random("rpn.maps", 2, 3, 6, 7), "info": np.array([[96, 112, 1.2], [80, 100, 1]], np.float32)}
    rois, pooled = ref.rproi(two["prob"], two["delta"], two["maps"], two["info"], 16, (0.5, 1, 2), (2, 4), 60, 12, 0.5, 10, 3, 2, 0.0625)
    case("rproi", "layer { name: 'l' type: 'RPROI' bottom: 'prob' bottom: 'delta' bottom: 'maps' bottom: 'info' top: 'rois' top: 'pool' "
         "region_proposal_param { feature_stride: 16 prenms_top: 60 nms_max_out: 12 anchor_ratio_count: 3 anchor_scale_count: 2 "
         "iou_threshold: 0.5 min_box_size: 10 anchor_ratio: [0.5, 1, 2] anchor_scale: [2, 4] } "
         "roi_pooling_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.0625 } }", two, {"rois": rois, "pool": pooled})


def constants():
    x = random("dummy.x", 2, 3, 4, 5)
    case("dummy_data", "layer { name: 'd' type: 'DummyData' top: 'p' top: 'q' dummy_data_param { shape { dim: [2, 3, 4, 5] } "
         "shape { dim: 7 } data_filler { type: 'constant' value: 1.5 } } } layer { name: 'e' type: 'Eltwise' bottom: 'x' bottom: 'p' top: 'y' }",
         {"x": x}, {"y": x + 1.5, "q": np.full(7, 1.5)})
    case("dummy_data.legacy", "layer { name: 'd' type: 'DummyData' top: 'p' dummy_data_param { num: 2 channels: 3 height: 4 width: 5 } } "
         "layer { name: 'e' type: 'Eltwise' bottom: 'x' bottom: 'p' top: 'y' }", {"x": x}, {"y": x})
    w = random("parameter.w", 2, 3, 4, 5)
    case("parameter", "layer { name: 'l' type: 'Parameter' top: 'p' parameter_param { shape { dim: [2, 3, 4, 5] } } } "
         "layer { name: 'e' type: 'Eltwise' bottom: 'x' bottom: 'p' top: 'y' eltwise_param { operation: PROD } }", {"x": x}, {"y": x * w}, {"l": [w]})


def networks():
    """Names: in place, of version 1, several readers."""
    x = random("net.x", 1, 3, 6, 6)
    w, b = random("net.w", 4, 3, 3, 3), random("net.b", 4)
    conv = ref.convolution(x, w, b)
    case("net.in_place", "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' convolution_param { num_output: 4 kernel_size: 3 } } "
         "layer { name: 'r' type: 'ReLU' bottom: 'y' top: 'y' } layer { name: 'p' type: 'Power' bottom: 'y' top: 'y' power_param { shift: 1 } }",
         {"x": x}, {"y": np.maximum(conv, 0) + 1}, {"c": [w, b]})
    case("net.two_readers", "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' convolution_param { num_output: 4 kernel_size: 3 } } "
         "layer { name: 'r' type: 'ReLU' bottom: 'c' top: 'y' } layer { name: 't' type: 'TanH' bottom: 'c' top: 'z' }",
         {"x": x}, {"y": np.maximum(conv, 0), "z": np.tanh(conv)}, {"c": [w, b]})
    case("net.input_in_place", "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'x' } layer { name: 't' type: 'TanH' bottom: 'x' top: 'y' }",
         {"x": x}, {"y": np.tanh(np.maximum(x, 0))})
    case("net.version_1", "layers { name: 'c' type: CONVOLUTION bottom: 'x' top: 'y' blobs_lr: 1 blobs_lr: 2 weight_decay: 1 weight_decay: 0 "
         "convolution_param { num_output: 4 kernel_size: 3 } } layers { name: 'r' type: RELU bottom: 'y' top: 'y' } "
         "layers { name: 'l' type: LRN bottom: 'y' top: 'z' lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 } }",
         {"x": x}, {"z": ref.lrn(np.maximum(conv, 0), 3, 0.5, 0.75, 1)}, {"c": [w, b]}, encoding="v1")
    case("net.phases", "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'y' include { phase: TRAIN } } "
         "layer { name: 'b' type: 'TanH' bottom: 'x' top: 'y' include { phase: TEST } } "
         "layer { name: 'l' type: 'EuclideanLoss' bottom: 'y' bottom: 'x' top: 'loss' exclude { phase: TEST } }", {"x": x}, {"y": np.tanh(x)})


def main():
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("expected.bin")
    for family in [convolutions, encodings, deconvolutions, pooling, normalization, scales, elementwise, products, moves, reductions, sampling,
                   recurrent, detection, constants, networks]:
        family()
    write(target)


if __name__ == "__main__":
    main()
