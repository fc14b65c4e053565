"""Graphs of TensorFlow: one or more for each operation that the parser converts."""
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
raw = tf.raw_ops


def const(value, dtype=None):
    return tf.constant(value, dtype)


def i32(*values):
    return tf.constant(list(values), tf.int32)


def add_elementwise(case, random):
    x, y = random(2, 3, 4), random(2, 3, 4, seed=1)
    positive = random(2, 3, 4, low=0.1, high=4)
    unit = random(2, 3, 4, low=-0.95, high=0.95)
    above = random(2, 3, 4, low=1.05, high=4)
    for name in "Abs Atan Asinh Ceil Cos Cosh Elu Erf Exp Expm1 Floor Neg Relu Relu6 Rint Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Square Tan Tanh".split():
        key = {"Softplus": "features", "Softsign": "features", "Elu": "features", "Relu": "features", "Relu6": "features", "Selu": "features"}.get(name, "x")
        case(f"unary.{name}", lambda x, op=getattr(raw, name), key=key: op(**{key: x}), x)
    for name, value in (("Acos", unit), ("Asin", unit), ("Atanh", unit), ("Acosh", above), ("Log", positive), ("Log1p", positive), ("Rsqrt", positive),
                        ("Sqrt", positive), ("Inv", positive), ("Reciprocal", positive)):
        case(f"unary.{name}", lambda x, op=getattr(raw, name): op(x=x), value)
    for name in "Add AddV2 Sub Mul Maximum Minimum SquaredDifference RealDiv Div FloorDiv FloorMod".split():
        case(f"binary.{name}", lambda x, y, op=getattr(raw, name): op(x=x, y=y), x, y)
    case("binary.broadcast", lambda x, y: raw.AddV2(x=x, y=y), x, random(3, 1, seed=3))
    case("binary.Pow", lambda x, y: raw.Pow(x=x, y=y), positive, y)
    zeros = np.where(random(2, 3, 4, seed=7) > 0, y, 0).astype(np.float32)
    case("binary.DivNoNan", lambda x, y: raw.DivNoNan(x=x, y=y), x, zeros)
    case("binary.MulNoNan", lambda x, y: raw.MulNoNan(x=x, y=y), x, zeros)
    case("binary.Xdivy", lambda x, y: raw.Xdivy(x=x, y=y), zeros, positive)
    ints, more = random(3, 5, low=-20, high=20, dtype=np.int32), random(3, 5, low=1, high=6, dtype=np.int32)
    for name in "FloorDiv FloorMod TruncateDiv TruncateMod Mod BitwiseAnd BitwiseOr BitwiseXor".split():
        case(f"ints.{name}", lambda x, y, op=getattr(raw, name): op(x=x, y=y), ints, more)
    case("ints.Invert", lambda x: raw.Invert(x=x), ints)
    small = random(4, 5, low=0, high=3, dtype=np.int32)
    for name in "Equal NotEqual Less LessEqual Greater GreaterEqual".split():
        case(f"compare.{name}", lambda x, y, op=getattr(raw, name): op(x=x, y=y), small, random(4, 5, low=0, high=3, seed=2, dtype=np.int32))
    a, b = random(4, 3) > 0, random(4, 3, seed=1) > 0
    case("logic.LogicalAnd", lambda x, y: raw.LogicalAnd(x=x, y=y), a, b)
    case("logic.LogicalOr", lambda x, y: raw.LogicalOr(x=x, y=y), a, b)
    case("logic.LogicalNot", lambda x: raw.LogicalNot(x=x), a)
    strange = np.array([[1, np.inf, -np.inf], [np.nan, 0, -2]], np.float32)
    for name in "IsNan IsInf IsFinite".split():
        case(f"logic.{name}", lambda x, op=getattr(raw, name): op(x=x), strange)
    case("select.rows", lambda x, y, z: raw.Select(condition=z, x=x, y=y), x, y, random(2) > 0)
    case("select.whole", lambda x, y, z: raw.Select(condition=z, x=x, y=y), x, y, random(2, 3, 4, seed=5) > 0)
    case("select.broadcast", lambda x, y, z: raw.SelectV2(condition=z, t=x, e=y), x, y, random(3, 1) > 0)
    case("clip", lambda x: raw.ClipByValue(t=x, clip_value_min=const(-0.5), clip_value_max=const(0.75)), x)
    case("add_n", lambda x, y, z: raw.AddN(inputs=[x, y, z]), x, y, positive)
    case("leaky_relu.alpha", lambda x: raw.LeakyRelu(features=x, alpha=0.125), x)
    case("leaky_relu.default", lambda x: raw.LeakyRelu(features=x), x)
    case("bias_add.nhwc", lambda x: raw.BiasAdd(value=x, bias=const(random(4))), random(2, 3, 5, 4))
    case("bias_add.v1", lambda x: raw.BiasAddV1(value=x, bias=const(random(4))), random(2, 4))


def add_windows(case, random):
    x = random(1, 7, 6, 3)
    for padding in ("SAME", "VALID"):
        for stride in (1, 2):
            for kernel in ((3, 3), (2, 5)):
                case(f"conv.{padding}_{stride}_{kernel[0]}x{kernel[1]}", lambda x: raw.Conv2D(
                    input=x, filter=const(random(*kernel, 3, 4)), strides=[1, stride, stride, 1], padding=padding), x)
    case("conv.dilated", lambda x: raw.Conv2D(input=x, filter=const(random(3, 3, 3, 4)), strides=[1, 1, 1, 1], dilations=[1, 2, 3, 1], padding="SAME"), x)
    case("conv.explicit", lambda x: raw.Conv2D(input=x, filter=const(random(3, 3, 3, 4)), strides=[1, 2, 1, 1], padding="EXPLICIT",
                                               explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0]), x)
    case("conv.bias_relu", lambda x: tf.nn.relu(raw.BiasAdd(value=raw.Conv2D(input=x, filter=const(random(3, 3, 3, 4)), strides=[1, 1, 1, 1], padding="SAME"),
                                                            bias=const(random(4)))), x)
    case("conv.open", lambda x: raw.Conv2D(input=x, filter=const(random(3, 3, 3, 4)), strides=[1, 2, 2, 1], padding="SAME"), x,
         shapes={"x": [None, None, None, 3]})
    case("conv3d", lambda x: raw.Conv3D(input=x, filter=const(random(2, 3, 2, 2, 3)), strides=[1, 1, 2, 1, 1], padding="SAME"), random(1, 4, 5, 6, 2))
    for padding in ("SAME", "VALID"):
        case(f"depthwise.{padding}", lambda x: raw.DepthwiseConv2dNative(input=x, filter=const(random(3, 3, 3, 2)), strides=[1, 2, 2, 1], padding=padding), x)
    for padding, stride, size in (("SAME", 2, (8, 10)), ("SAME", 2, (7, 9)), ("VALID", 2, (9, 11)), ("VALID", 3, (13, 16)), ("SAME", 1, (4, 5)), ("SAME", 3, (11, 14))):
        case(f"deconv.{padding}_{stride}_{size[0]}", lambda x: raw.Conv2DBackpropInput(
            input_sizes=i32(1, *size, 4), filter=const(random(3, 3, 4, 3)), out_backprop=x, strides=[1, stride, stride, 1], padding=padding), random(1, 4, 5, 3))
    case("deconv.computed", lambda x: raw.Conv2DBackpropInput(
        input_sizes=raw.Pack(values=[tf.shape(x)[0], 8, 10, 4]), filter=const(random(3, 3, 4, 3)), out_backprop=x, strides=[1, 2, 2, 1], padding="SAME"),
         random(1, 4, 5, 3), shapes={"x": [None, 4, 5, 3]})
    case("deconv.two_sizes", lambda x: raw.Conv2DBackpropInput(input_sizes=i32(8, 9), filter=const(random(3, 3, 4, 3)), out_backprop=x, strides=[1, 2, 2, 1],
                                                               padding="SAME"), random(1, 4, 5, 3))
    case("deconv3d", lambda x: raw.Conv3DBackpropInputV2(input_sizes=i32(1, 6, 5, 4, 2), filter=const(random(2, 2, 3, 2, 3)), out_backprop=x,
                                                         strides=[1, 2, 1, 2, 1], padding="SAME"), random(1, 3, 5, 2, 3))
    for padding in ("SAME", "VALID"):
        for stride in (1, 2):
            case(f"max_pool.{padding}_{stride}", lambda x: raw.MaxPool(input=x, ksize=[1, 3, 2, 1], strides=[1, stride, stride, 1], padding=padding), x)
            case(f"avg_pool.{padding}_{stride}", lambda x: raw.AvgPool(value=x, ksize=[1, 3, 2, 1], strides=[1, stride, stride, 1], padding=padding), x)
    case("max_pool.3d", lambda x: raw.MaxPool3D(input=x, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 1, 2, 1], padding="SAME"), random(1, 3, 4, 5, 2))
    case("avg_pool.3d", lambda x: raw.AvgPool3D(input=x, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 1, 2, 1], padding="VALID"), random(1, 3, 4, 5, 2))


def add_chain(case, random):
    def norm(y, count):
        return raw.FusedBatchNormV3(x=y, scale=const(random(count)), offset=const(random(count, seed=1)), mean=const(random(count, seed=2)),
                                    variance=const(random(count, low=0.2, high=2, seed=3)), is_training=False)[0]

    def chain(x):
        y = tf.nn.relu6(norm(raw.Conv2D(input=x, filter=const(random(3, 3, 3, 8)), strides=[1, 2, 2, 1], padding="SAME"), 8))
        y = tf.nn.relu6(norm(raw.DepthwiseConv2dNative(input=y, filter=const(random(3, 3, 8, 1)), strides=[1, 1, 1, 1], padding="SAME"), 8))
        z = raw.BiasAdd(value=raw.Conv2D(input=y, filter=const(random(1, 1, 8, 8)), strides=[1, 1, 1, 1], padding="SAME"), bias=const(random(8)))
        y = raw.MaxPool(input=tf.nn.relu(z + y), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
        return tf.matmul(tf.reduce_mean(y, [1, 2]), const(random(8, 3))) + const(random(3))

    case("chain", chain, random(1, 12, 12, 3))


def add_products(case, random):
    x, y = random(3, 4), random(4, 5)
    for a in (False, True):
        for b in (False, True):
            case(f"mat_mul.{a:d}{b:d}", lambda x, y: raw.MatMul(a=x, b=y, transpose_a=a, transpose_b=b), x.T.copy() if a else x, y.T.copy() if b else y)
    case("batch_mat_mul", lambda x, y: raw.BatchMatMul(x=x, y=y, adj_y=True), random(2, 3, 4), random(2, 5, 4))
    case("batch_mat_mul.v2", lambda x, y: raw.BatchMatMulV2(x=x, y=y, adj_x=True), random(2, 1, 4, 3), random(3, 4, 5))
    case("batch_mat_mul.v3", lambda x, y: raw.BatchMatMulV3(x=x, y=y, Tout=tf.float32), random(2, 3, 4), random(2, 4, 5))
    case("einsum", lambda x, y: raw.Einsum(inputs=[x, y], equation="bij,bkj->bik"), random(2, 3, 4), random(2, 5, 4))


def add_normalization(case, random):
    x = random(2, 4, 5, 3)
    for version in ("", "V2", "V3"):
        case(f"batch_norm{version}", lambda x, op=getattr(raw, "FusedBatchNorm" + version): op(
            x=x, scale=const(random(3)), offset=const(random(3, seed=1)), mean=const(random(3, seed=2)), variance=const(random(3, low=0.2, high=2, seed=3)),
            epsilon=0.01, is_training=False)[0], x)
    case("batch_norm.conv", lambda x: tf.nn.relu6(raw.FusedBatchNormV3(
        x=raw.Conv2D(input=x, filter=const(random(3, 3, 3, 3)), strides=[1, 1, 1, 1], padding="SAME"), scale=const(random(3)), offset=const(random(3, seed=1)),
        mean=const(random(3, seed=2)), variance=const(random(3, low=0.2, high=2, seed=3)), is_training=False)[0]), x)
    def as_global(node):
        if node.op == "FusedBatchNorm":
            x, gamma, beta, mean, variance = node.input
            node.op = "BatchNormWithGlobalNormalization"
            epsilon = node.attr["epsilon"].f
            node.ClearField("attr")
            node.input[:] = [x, mean, variance, beta, gamma]
            node.attr["variance_epsilon"].f = epsilon
            node.attr["scale_after_normalization"].b = True

    case("batch_norm.global", lambda x: raw.FusedBatchNorm(
        x=x, scale=const(random(3)), offset=const(random(3, seed=1)), mean=const(random(3, seed=2)), variance=const(random(3, low=0.2, high=2, seed=3)),
        epsilon=0.01, is_training=False)[0], x, edit=as_global)
    case("lrn", lambda x: raw.LRN(input=x, depth_radius=1, bias=1.5, alpha=0.3, beta=0.75), random(2, 3, 3, 6))
    case("lrn.default", lambda x: raw.LRN(input=x), random(1, 2, 2, 4))
    case("softmax", lambda x: raw.Softmax(logits=x), random(3, 5))
    case("softmax.deep", lambda x: raw.Softmax(logits=x), random(2, 3, 5))
    case("log_softmax", lambda x: raw.LogSoftmax(logits=x), random(3, 5))


def add_reductions(case, random):
    x = random(2, 3, 4)
    for name in "Sum Mean Max Min Prod EuclideanNorm".split():
        case(f"reduce.{name}", lambda x, op=getattr(raw, name): op(input=x, axis=i32(1, 2)), x)
        case(f"reduce.{name}_kept", lambda x, op=getattr(raw, name): op(input=x, axis=const(-1), keep_dims=True), x)
    case("reduce.none", lambda x: raw.Sum(input=x, axis=tf.constant([], tf.int32)) + 0.0, x)
    case("reduce.ints", lambda x: raw.Mean(input=x, axis=const(0)), random(3, 4, low=-9, high=9, dtype=np.int32))
    case("reduce.All", lambda x: raw.All(input=x, axis=const(1)), x > -1)
    case("reduce.Any", lambda x: raw.Any(input=x, axis=i32(0, 2)), x > 1)
    case("arg_max", lambda x: raw.ArgMax(input=x, dimension=const(-1), output_type=tf.int32), x)
    case("arg_min", lambda x: raw.ArgMin(input=x, dimension=const(1)), x)
    case("cumsum", lambda x: raw.Cumsum(x=x, axis=const(1), exclusive=True), x)
    case("cumprod", lambda x: raw.Cumprod(x=x, axis=const(-1), reverse=True), x)
    case("l2_loss", lambda x: raw.L2Loss(t=x), x)


def add_movement(case, random):
    x = random(2, 3, 4)
    case("reshape", lambda x: raw.Reshape(tensor=x, shape=i32(4, -1)), x)
    case("reshape.computed", lambda x: raw.Reshape(tensor=x, shape=raw.Pack(values=[tf.shape(x)[0], -1])), x, shapes={"x": [None, 3, 4]})
    case("transpose", lambda x: raw.Transpose(x=x, perm=i32(2, 0, 1)), x)
    case("expand_dims", lambda x: raw.ExpandDims(input=x, axis=const(-1)), x)
    case("squeeze.axis", lambda x: raw.Squeeze(input=x, axis=[1]), random(2, 1, 3, 1))
    case("squeeze.all", lambda x: raw.Squeeze(input=x), random(2, 1, 3, 1))
    case("concat.v2", lambda x, y: raw.ConcatV2(values=[x, y], axis=const(-1)), x, random(2, 3, 2))
    case("concat", lambda x, y: raw.Concat(concat_dim=const(1), values=[x, y]), x, random(2, 1, 4))
    case("pack", lambda x, y: raw.Pack(values=[x, y], axis=-1), x, random(2, 3, 4, seed=1))
    case("unpack", lambda x: raw.Unpack(value=x, num=3, axis=1), x)
    case("split", lambda x: raw.Split(axis=const(2), value=x, num_split=2), x)
    case("split.one_of_them", lambda x: raw.Split(axis=const(2), value=x, num_split=4)[2] * 2.0, x)
    case("split_v", lambda x: raw.SplitV(value=x, size_splits=i32(1, -1), axis=const(-1), num_split=2), x)
    case("pad", lambda x: raw.Pad(input=x, paddings=const([[0, 1], [2, 0], [1, 1]])), x)
    case("pad.v2", lambda x: raw.PadV2(input=x, paddings=const([[0, 1], [2, 0], [1, 1]]), constant_values=const(-1.5)), x)
    case("mirror_pad.reflect", lambda x: raw.MirrorPad(input=x, paddings=const([[0, 1], [2, 0], [1, 3]]), mode="REFLECT"), x)
    case("mirror_pad.symmetric", lambda x: raw.MirrorPad(input=x, paddings=const([[0, 1], [3, 0], [1, 2]]), mode="SYMMETRIC"), x)
    case("tile", lambda x: raw.Tile(input=x, multiples=i32(2, 1, 3)), x)
    case("broadcast_to", lambda x: raw.BroadcastTo(input=x, shape=i32(2, 3, 4)), random(3, 1))
    case("depth_to_space", lambda x: raw.DepthToSpace(input=x, block_size=2), random(2, 3, 2, 8))
    case("space_to_depth", lambda x: raw.SpaceToDepth(input=x, block_size=2), random(2, 4, 6, 3))
    case("space_to_batch", lambda x: raw.SpaceToBatchND(input=x, block_shape=i32(2, 3), paddings=const([[0, 1], [1, 1]])), random(2, 3, 4, 2))
    case("batch_to_space", lambda x: raw.BatchToSpaceND(input=x, block_shape=i32(2, 3), crops=const([[0, 1], [1, 1]])), random(12, 2, 2, 2))
    case("conv.by_batches", lambda x: raw.BatchToSpaceND(input=raw.Conv2D(
        input=raw.SpaceToBatchND(input=x, block_shape=i32(2, 2), paddings=const([[2, 3], [2, 2]])), filter=const(random(3, 3, 2, 3)), strides=[1, 1, 1, 1],
        padding="VALID"), block_shape=i32(2, 2), crops=const([[0, 1], [0, 0]])), random(2, 7, 8, 2), shapes={"x": [None, 7, 8, 2]})


def add_indexing(case, random):
    x = random(3, 4, 5)
    case("slice", lambda x: raw.Slice(input=x, begin=i32(1, 0, 2), size=i32(1, -1, 2)), x)
    case("slice.computed", lambda x: raw.Slice(input=x, begin=i32(0, 1, 0), size=raw.Pack(values=[tf.shape(x)[0] - 1, -1, 3])), x,
         shapes={"x": [None, 4, 5]})
    for name, build in (("plain", lambda x: x[1:3, ::2, 1:]), ("negative", lambda x: x[:, ::-1, -2:]), ("shrink", lambda x: x[1, :, -1]),
                        ("new_axis", lambda x: x[:, tf.newaxis, 1:2, tf.newaxis]), ("ellipsis", lambda x: x[..., 2]),
                        ("ellipsis_between", lambda x: x[1, ..., 1:4, tf.newaxis]), ("shrink_step", lambda x: x[-1, 3:0:-2])):
        case(f"strided_slice.{name}", build, x)
    case("strided_slice.computed", lambda x: x[:, 0:tf.shape(x)[1] - 1], x, shapes={"x": [3, None, 5]})
    indices = random(2, 3, low=0, high=4, dtype=np.int32)
    case("gather", lambda x, y: raw.Gather(params=x, indices=y), random(4, 5), indices)
    def as_resource(node):
        if node.op == "Gather":
            node.op = "ResourceGather"
            node.ClearField("attr")

    case("gather.resource", lambda x, y: raw.Gather(params=x, indices=y), random(4, 5), indices, edit=as_resource)
    case("gather.v2", lambda x, y: raw.GatherV2(params=x, indices=y, axis=const(1)), x, indices)
    case("gather.batches", lambda x, y: raw.GatherV2(params=x, indices=y, axis=const(1), batch_dims=1), random(2, 4, 5), indices)
    case("gather.batches_last", lambda x, y: raw.GatherV2(params=x, indices=y, axis=const(-1), batch_dims=1), random(2, 4), indices)
    case("gather.batches_negative", lambda x, y: raw.GatherV2(params=x, indices=y, axis=const(-2), batch_dims=-1), random(2, 4, 5), indices)
    case("gather_nd", lambda x, y: raw.GatherNd(params=x, indices=y), x, np.array([[0, 1], [2, 3]], np.int32))
    case("one_hot", lambda x: raw.OneHot(indices=x, depth=const(4), on_value=const(2.5), off_value=const(-1.0), axis=-1), indices)
    case("one_hot.first", lambda x: raw.OneHot(indices=x, depth=const(4), on_value=const(2.5), off_value=const(-1.0), axis=0), indices)
    outside = np.array([[0, -1, 3], [-4, 4, -5]], np.int32)
    case("one_hot.outside", lambda x: raw.OneHot(indices=x, depth=const(4), on_value=const(2.5), off_value=const(-1.0), axis=-1), outside)
    case("one_hot.long", lambda x: raw.OneHot(indices=x, depth=const(4), on_value=const(2.5), off_value=const(-1.0), axis=1), outside.astype(np.int64))
    case("one_hot.bytes", lambda x: raw.OneHot(indices=x, depth=const(4), on_value=const(3), off_value=const(0), axis=-1), np.array([1, 255, 3], np.uint8))
    case("reverse", lambda x: raw.ReverseV2(tensor=x, axis=i32(0, -1)), x)
    case("top_k", lambda x: raw.TopKV2(input=x, k=const(2)), random(3, 6))
    case("where", lambda x: raw.Where(condition=x), random(3, 4) > 0)


def add_sampling(case, random):
    x = random(2, 3, 5, 2)
    for size in ((6, 10), (2, 3), (5, 7)):
        for name, op in (("bilinear", raw.ResizeBilinear), ("nearest", raw.ResizeNearestNeighbor)):
            for mode, options in (("corners", {"align_corners": True}), ("centers", {"half_pixel_centers": True}), ("plain", {})):
                case(f"resize.{name}_{mode}_{size[0]}x{size[1]}", lambda x: op(images=x, size=i32(*size), **options), x)
    case("resize.bytes", lambda x: raw.ResizeBilinear(images=x, size=i32(4, 4)), random(1, 2, 3, 1, low=0, high=255, dtype=np.uint8))
    for dtype in (np.float16, np.float64):
        case(f"resize.bilinear_{np.dtype(dtype).name}", lambda x: raw.ResizeBilinear(images=x, size=i32(4, 7)), x.astype(dtype))
        case(f"resize.nearest_{np.dtype(dtype).name}", lambda x: raw.ResizeNearestNeighbor(images=x, size=i32(4, 7)), x.astype(dtype))
    corners = random(12, 2, low=0, high=4)
    boxes = np.concatenate([corners, corners + random(12, 2, low=1, high=3, seed=1)], 1)
    scores = random(12, low=0, high=1)
    common = lambda b, s: {"boxes": b, "scores": s, "max_output_size": const(6)}  # noqa: E731
    case("nms", lambda b, s: raw.NonMaxSuppression(**common(b, s), iou_threshold=0.3), b=boxes, s=scores)
    case("nms.v2", lambda b, s: raw.NonMaxSuppressionV2(**common(b, s), iou_threshold=const(0.3)), b=boxes, s=scores)
    case("nms.v3", lambda b, s: raw.NonMaxSuppressionV3(**common(b, s), iou_threshold=const(0.4), score_threshold=const(0.3)), b=boxes, s=scores)
    for pads in (False, True):
        more = {"iou_threshold": const(0.2), "score_threshold": const(0.3), "pad_to_max_output_size": pads}
        case(f"nms.v4_{pads:d}", lambda b, s: raw.NonMaxSuppressionV4(**common(b, s), iou_threshold=const(0.2), score_threshold=const(0.3),
                                                                      pad_to_max_output_size=pads), b=boxes, s=scores)
        case(f"nms.v5_{pads:d}", lambda b, s: raw.NonMaxSuppressionV5(**common(b, s), iou_threshold=const(0.2), score_threshold=const(0.3),
                                                                      soft_nms_sigma=const(0.0), pad_to_max_output_size=pads), b=boxes, s=scores)


def add_data(case, random):
    x = random(2, 3, 4)
    for to in (np.int32, np.float64, np.float16, np.uint8, np.bool_):
        case(f"cast.{np.dtype(to).name}", lambda x: raw.Cast(x=x, DstT=tf.as_dtype(to)), random(2, 3, low=0.1, high=9))
    case("shape", lambda x: raw.Shape(input=x), x)
    case("shape.long", lambda x: raw.Shape(input=x, out_type=tf.int64), x)
    case("shape_n", lambda x, y: raw.ShapeN(input=[x, y]), x, random(5, 1))
    case("size", lambda x: raw.Size(input=x), x)
    case("rank", lambda x: raw.Rank(input=x), x)
    case("fill", lambda x: raw.Fill(dims=i32(2, 3), value=x), np.float32(1.25))
    case("zeros_like", lambda x: raw.ZerosLike(x=x) + x, x)
    case("ones_like", lambda x: raw.OnesLike(x=x) + x, x)
    case("range", lambda x: raw.Range(start=const(2), limit=tf.shape(x)[0], delta=const(2)) + 0, random(9, 1))
    case("identity_n", lambda x, y: raw.IdentityN(input=[x + 1.0, y * 2.0]), x, random(3))
    case("passes", lambda x: raw.CheckNumerics(tensor=raw.StopGradient(input=raw.PreventGradient(input=raw.EnsureShape(input=raw.Identity(input=x) * 2.0, shape=[2, 3, 4]))),
                                               message="m"), x)
    case("placeholder_with_default", lambda x: x * raw.PlaceholderWithDefault(input=const(3.0), shape=[]), x)
    case("constants", lambda x: x + tf.fill([2, 3, 4], 0.5) + tf.constant(0.25, shape=[2, 3, 4]) + tf.constant(random(2, 3, 4, seed=9)), x)
    case("constant_types", lambda x: tf.cast(x, tf.float32) * tf.cast(tf.constant([1, -2], tf.int8), tf.float32) * tf.cast(tf.constant([1.5, -2.5], tf.float16), tf.float32) *
         tf.cast(tf.constant([2, 3], tf.int64), tf.float32) * tf.cast(tf.constant([True, False]), tf.float32) + tf.cast(tf.constant([0.5, 1.5], tf.bfloat16), tf.float32) +
         tf.cast(tf.constant([1.125], tf.float64), tf.float32), random(3, 2))
    case("assert_is_dropped", lambda x: with_assert(x), x)
    case("text", lambda x: raw.Softmax(logits=raw.MatMul(a=x, b=const(random(4, 3))) + const([0.5, -1.0, 2.0])), random(2, 4), text=True)
    case("text.conv", lambda x: raw.Conv2D(input=x, filter=const(random(3, 3, 2, 2)), strides=[1, 1, 1, 1], padding="SAME"), random(1, 4, 4, 2), text=True)


def with_assert(x):
    with tf.control_dependencies([v1.Assert(tf.reduce_all(x > -9.0), ["no"])]):
        return tf.identity(x) * 2.0


def condition(x, flag):
    """What v1.cond makes of a condition: Switch and Merge."""
    on = raw.Switch(data=x, pred=flag)
    return raw.Merge(inputs=[on[0] * 2.0 + 1.0, tf.nn.relu(on[1]) - 3.0])[0]


def nested(x, flag, other):
    outer = raw.Switch(data=x, pred=flag)
    inner = raw.Switch(data=outer[1], pred=raw.Switch(data=other, pred=flag)[1])
    merged = raw.Merge(inputs=[inner[0] + 5.0, inner[1] * 4.0])[0]
    return raw.Merge(inputs=[outer[0] * 2.0, merged])[0]


def dropout(x, flag):
    """What Keras makes of it: the random numbers' extents are a constant, that only waits for its side."""
    return v1.cond(flag, lambda: x * tf.floor(tf.random.uniform([2, 3], seed=1) + 0.5), lambda: tf.identity(x) * 2.0)


def add_control(case, random):
    v1.disable_control_flow_v2()
    x = random(2, 3)
    for flag in (False, True):
        case(f"switch.known_{flag:d}", lambda x: condition(x, tf.constant(flag)), x)
        case(f"switch.fed_{flag:d}", lambda x, y: condition(x, y), x, np.array(flag))
        case(f"switch.constants_{flag:d}", lambda x, y: x * v1.cond(y, lambda: 0.9, lambda: 1.5), x, np.array(flag))
        case(f"switch.constants_known_{flag:d}", lambda x: x * v1.cond(tf.constant(flag), lambda: 0.9, lambda: 1.5), x)
        case(f"switch.extents_{flag:d}", lambda x, y: v1.cond(y, lambda: x[:1] + 1.0, lambda: x * 3.0), x, np.array(flag))
        case(f"switch.open_{flag:d}", lambda x, y: v1.cond(y, lambda: x[:1] + 1.0, lambda: x * 3.0), x, np.array(flag), shapes={"x": [None, 3]})
        case(f"switch.outer_{flag:d}", lambda x, y: nested(x, y, tf.constant(True)), x, np.array(flag))
        for other in (False, True):
            case(f"switch.nested_{flag:d}{other:d}", lambda x, y, z: nested(x, y, z), x, np.array(flag), np.array(other))
    case("switch.dropout", lambda x: dropout(x, tf.constant(False)), x)


def add(case, random):
    for part in (add_elementwise, add_windows, add_chain, add_products, add_normalization, add_reductions, add_movement, add_indexing, add_sampling, add_data, add_control):
        part(case, random)
