"""UFF graphs: one or more for each operation of the format, beside what TensorFlow has for it."""
import numpy as np
import tensorflow as tf

raw = tf.raw_ops


def i32(*values):
    return tf.constant(list(values), tf.int32)


def add_elementwise(case, random):
    x, y = random(2, 3, 4), random(2, 3, 4, seed=1)
    positive = random(2, 3, 4, low=0.1, high=4)
    unit = random(2, 3, 4, low=-0.95, high=0.95)
    above = random(2, 3, 4, low=1.05, high=4)
    for func, value in {"neg": x, "exp": x, "log": positive, "abs": x, "sqrt": positive, "rsqrt": positive, "square": x, "sin": x, "cos": x, "tan": x, "sinh": x, "cosh": x,
                        "asin": unit, "acos": unit, "atan": x, "asinh": x, "acosh": above, "atanh": unit, "ceil": x, "floor": x}.items():
        case(f"unary.{func}", lambda g: g.node("r", "Unary", ["x"], func=func), lambda x: getattr(raw, func.capitalize())(x=x), value)
    for func, op in {"add": raw.AddV2, "sub": raw.Sub, "mul": raw.Mul, "div": raw.RealDiv, "min": raw.Minimum, "max": raw.Maximum, "pow": raw.Pow}.items():
        case(f"binary.{func}", lambda g: g.node("r", "Binary", ["x", "y"], func=func), lambda x, y: op(x=x, y=y), positive, y)
    for func, op in {"relu": raw.Relu, "relu6": raw.Relu6, "sigmoid": raw.Sigmoid, "tanh": raw.Tanh, "elu": raw.Elu, "selu": raw.Selu, "softsign": raw.Softsign,
                     "softplus": raw.Softplus}.items():
        key = "x" if func in ("sigmoid", "tanh") else "features"
        case(f"activation.{func}", lambda g: g.node("r", "Activation", ["x"], func=func), lambda x: op(**{key: x}), x * 3)
    case("leaky_relu", lambda g: g.node("r", "LeakyRelu", ["x"], alpha=0.125), lambda x: raw.LeakyRelu(features=x, alpha=0.125), x)


def add_windows(case, random):
    """Each in both orders of axes."""
    x = random(1, 5, 6, 4)
    w = random(3, 2, 4, 6)
    for order, turned in (("N+C", False), ("NC+", True)):
        value = np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if turned else x
        first = (lambda v: tf.transpose(v, [0, 2, 3, 1])) if turned else (lambda v: v)
        last = (lambda v: tf.transpose(v, [0, 3, 1, 2])) if turned else (lambda v: v)

        def conv(g, weights, orders, **fields):
            g.const("w", weights)
            return g.node("r", "Conv", ["x", "w"], inputs_orders=g.orders(order, orders), outputs_orders=g.orders(order), **fields)

        case(f"conv.{order}_same", lambda g: conv(g, w, "+CK", strides=[2, 1], implicit_padding="same", padding=None),
             lambda x: last(raw.Conv2D(input=first(x), filter=w, strides=[1, 2, 1, 1], padding="SAME")), value)
        other = "N+C" if turned else "NC+"
        case(f"conv.{order}_turned", lambda g: (g.const("w", w), g.node("r", "Conv", ["x", "w"], inputs_orders=g.orders(order, "+CK"),
                                                                        outputs_orders=g.orders(other), strides=[2, 1], implicit_padding="same"))[1],
             lambda x: (lambda y: y if turned else tf.transpose(y, [0, 3, 1, 2]))(raw.Conv2D(input=first(x), filter=w, strides=[1, 2, 1, 1], padding="SAME")), value)
        case(f"conv.{order}_valid", lambda g: conv(g, w, "+CK", strides=[1, 2], implicit_padding=None),
             lambda x: last(raw.Conv2D(input=first(x), filter=w, strides=[1, 1, 2, 1], padding="VALID")), value)
        case(f"conv.{order}_padded", lambda g: conv(g, w, "+CK", strides=[1, 1], padding=[2, 1], dilation=[1, 2]),
             lambda x: last(raw.Conv2D(input=tf.pad(first(x), [[0, 0], [2, 2], [1, 1], [0, 0]]), filter=w, strides=[1, 1, 1, 1], dilations=[1, 1, 2, 1],
                                       padding="VALID")), value)
        case(f"conv.{order}_groups", lambda g: conv(g, w[:, :, :2], "+CK", strides=[1, 1], number_groups=2),
             lambda x: last(raw.Conv2D(input=first(x), filter=w[:, :, :2], strides=[1, 1, 1, 1], padding="VALID")), value)
        case(f"conv.{order}_depthwise", lambda g: conv(g, w[:, :, :, :2], "+CK", strides=[1, 1], number_groups=4, implicit_padding="same"),
             lambda x: last(raw.DepthwiseConv2dNative(input=first(x), filter=w[:, :, :, :2], strides=[1, 1, 1, 1], padding="SAME")), value)
        case(f"conv.{order}_weights_first", lambda g: conv(g, np.ascontiguousarray(w.transpose(3, 2, 0, 1)), "KC+", strides=[1, 1]),
             lambda x: last(raw.Conv2D(input=first(x), filter=w, strides=[1, 1, 1, 1], padding="VALID")), value)

        def deconv(g):
            g.const("w", random(3, 3, 5, 4))
            size = [1, 10, 12, 5]
            g.const("size", np.array([size[0], size[3], size[1], size[2]] if turned else size, np.int32))
            return g.node("r", "ConvTranspose", ["x", "w", "size"], strides=[2, 2], implicit_padding="same", inputs_orders=g.orders(order, "+KC"))

        case(f"deconv.{order}", deconv, lambda x: last(raw.Conv2DBackpropInput(
            input_sizes=i32(1, 10, 12, 5), filter=random(3, 3, 5, 4), out_backprop=first(x), strides=[1, 2, 2, 1], padding="SAME")), value)
        case(f"deconv.{order}_sizes", lambda g: (g.const("w", random(3, 3, 5, 4)), g.const("size", np.array([9, 12], np.int32)),
                                                 g.node("r", "ConvTranspose", ["x", "w", "size"], strides=[2, 2], implicit_padding="same",
                                                        inputs_orders=g.orders(order, "+KC"), outputs_orders=g.orders(order)))[2],
             lambda x: last(raw.Conv2DBackpropInput(input_sizes=i32(1, 9, 12, 5), filter=random(3, 3, 5, 4), out_backprop=first(x), strides=[1, 2, 2, 1],
                                                    padding="SAME")), value)
        for func, op in (("max", tf.nn.max_pool2d), ("avg", tf.nn.avg_pool2d)):
            for padding, implicit in (("SAME", "same"), ("VALID", None)):
                case(f"pool.{order}_{func}_{padding}", lambda g: g.node("r", "Pool", ["x"], func=func, kernel=[3, 2], strides=[2, 1], padding=None, implicit_padding=implicit,
                                                                        inputs_orders=g.orders(order)),
                     lambda x: last(op(first(x), [3, 2], [2, 1], padding)), value)

        def batch_norm(g):
            for i, name in enumerate(("gamma", "beta", "mean", "variance")):
                g.const(name, random(4, low=0.2, high=2, seed=i))
            return g.node("r", "BatchNorm", ["x", "gamma", "beta", "mean", "variance"], epsilon=0.01, inputs_orders=g.orders(order))

        case(f"batch_norm.{order}", batch_norm, lambda x: last(raw.FusedBatchNormV3(
            x=first(x), scale=random(4, low=0.2, high=2, seed=0), offset=random(4, low=0.2, high=2, seed=1), mean=random(4, low=0.2, high=2, seed=2),
            variance=random(4, low=0.2, high=2, seed=3), epsilon=0.01, is_training=False)[0]), value)
        case(f"lrn.{order}", lambda g: g.node("r", "LRN", ["x"], window_size=1, alpha=0.25, beta=0.75, k=1.5, inputs_orders=g.orders(order)),
             lambda x: last(raw.LRN(input=first(x), depth_radius=1, bias=1.5, alpha=0.25, beta=0.75)), value)
        case(f"softmax.{order}", lambda g: g.node("r", "Softmax", ["x"], axis=0, inputs_orders=g.orders(order)), lambda x: last(tf.nn.softmax(first(x))), value)
    case("softmax.matrix", lambda g: g.node("r", "Softmax", ["x"], axis=0, inputs_orders=g.orders("N+C")), lambda x: tf.nn.softmax(x), random(3, 5))


def add_products(case, random):
    x, w = random(3, 4), random(4, 5)
    for left in ("NC", "CN"):
        for right in ("CK", "KC"):
            def write(g):
                g.const("w", w if right == "CK" else np.ascontiguousarray(w.T))
                return g.node("r", "FullyConnected", ["x", "w"], inputs_orders=g.orders(left, right))

            case(f"fully_connected.{left}_{right}", write, lambda x: tf.matmul(x if left == "NC" else tf.transpose(x), w), x if left == "NC" else x.T.copy())


def add_reductions(case, random):
    x = random(2, 3, 4)
    for func in ("sum", "prod", "max", "min", "mean"):
        for keep in (False, True):
            case(f"reduce.{func}_{keep:d}", lambda g: g.node("r", "Reduce", ["x"], func=func, axes=[1, -1], keepdims=keep),
                 lambda x: getattr(tf, "reduce_" + func)(x, [1, 2], keep), x)
    case("arg_max", lambda g: g.node("r", "ArgMax", ["x"], axis=1), lambda x: tf.argmax(x, 1, tf.int32), x)
    case("arg_min", lambda g: g.node("r", "ArgMin", ["x"], axis=-1), lambda x: tf.argmin(x, -1, tf.int32), x)


def add_movement(case, random):
    x = random(2, 3, 4)
    case("identity", lambda g: g.node("r", "Binary", [g.node("i", "Identity", ["x"])] * 2, func="add"), lambda x: x + x, x)
    case("flatten", lambda g: g.node("r", "Flatten", ["x"]), lambda x: tf.reshape(x, [2, 12]), x)
    case("shape", lambda g: g.node("r", "Shape", ["x"]), lambda x: tf.shape(x), x)
    case("expand_dims", lambda g: g.node("r", "ExpandDims", ["x"], axis=-1), lambda x: x[..., tf.newaxis], x)
    case("squeeze", lambda g: g.node("r", "Squeeze", ["x"], axes=[1]), lambda x: tf.squeeze(x, 1), random(2, 1, 3, 1))
    case("transpose", lambda g: g.node("r", "Transpose", ["x"], permutation=[2, 0, 1]), lambda x: tf.transpose(x, [2, 0, 1]), x)
    case("reshape", lambda g: g.node("r", "Reshape", ["x", g.const("s", np.array([4, -1], np.int32))]), lambda x: tf.reshape(x, [4, 6]), x)
    case("concat", lambda g: g.node("r", "Concat", ["x", "y"], axis=-1), lambda x, y: tf.concat([x, y], -1), x, random(2, 3, 2))
    case("stack", lambda g: g.node("r", "Stack", ["x", "y"], axis=1), lambda x, y: tf.stack([x, y], 1), x, random(2, 3, 4, seed=1))
    case("pad", lambda g: g.node("r", "Pad", ["x", g.const("p", np.array([[0, 1], [2, 0], [1, 1]], np.int32))]), lambda x: tf.pad(x, [[0, 1], [2, 0], [1, 1]]), x)

    def strided(g):
        lists = [g.const(n, np.array(v, np.int32)) for n, v in (("b", [1, 0, -2]), ("e", [2, 3, 0]), ("s", [1, 2, 1]))]
        return g.node("r", "StridedSlice", ["x", *lists], begin_mask=2, end_mask=4, shrink_axis_mask=1)

    case("strided_slice", strided, lambda x: x[1, :3:2, -2:], x)
    indices = np.array([[0, 2], [1, 1]], np.int32)
    case("gather", lambda g: g.node("r", "Gather", ["x", "y"], validate_indices=True), lambda x, y: tf.gather(x, y), random(3, 4), indices)
    case("gather_v2", lambda g: g.node("r", "GatherV2", ["x", "y"], axis=1), lambda x, y: tf.gather(x, y, axis=1), x, indices)
    case("custom.batch_mat_mul", lambda g: g.node("r", "_BatchMatMulV2", ["x", "y"], adj_x=False, adj_y=True), lambda x, y: tf.matmul(x, y, transpose_b=True), x, random(2, 5, 4))
    case("custom.resize", lambda g: g.node("r", "_ResizeNearestNeighbor", ["x", g.const("s", np.array([4, 6], np.int32))], align_corners=False),
         lambda x: tf.raw_ops.ResizeNearestNeighbor(images=x, size=i32(4, 6)), random(1, 2, 3, 2))
    case("halves", lambda g: g.node("r", "Binary", ["x", g.const("h", np.array([0.5, 1.5], np.float16))], func="mul"), lambda x: x * tf.constant([0.5, 1.5], tf.float16),
         random(3, 2).astype(np.float16))


def add(case, random):
    for part in (add_elementwise, add_windows, add_products, add_reductions, add_movement):
        part(case, random)


def add_text(case, random):
    """The text form: strings with escapes, words, lists, comments."""
    w = random(4, 3)
    blob = "".join(f"\\{b:03o}" for b in w.tobytes())
    case("text", f"""# made by hand
version: 1 descriptor_core_version: 1
descriptors {{ id: "tensorflow_extension" version: 1 }}
graphs {{
  id: 'main'
  nodes {{ id: "MarkOutput_0" inputs: "r" operation: "MarkOutput" }}
  nodes {{
    id: "r" inputs: "x" inputs: "w" operation: "FullyConnected"
    fields {{ key: "inputs_orders" value {{ ref: "orders_NC_CK" }} }}
  }}
  nodes {{
    id: "w" operation: "Const"
    fields {{ key: "shape" value {{ i_list {{ val: [4, 0x3] }} }} }}
    fields {{ key: "dtype" value {{ dtype: DT_FLOAT32 }} }}
    fields {{ key: "values" value {{ ref: "weights_w" }} }}
  }}
  nodes < id: "x" operation: "Input" fields <key: "shape" value <i_list <val: -1, val: 4>>>
          fields {{ key: "dtype" value {{ dtype: 131104 }} }} >
}}
referenced_data {{ key: "weights_w" value {{ blob: "{blob}" }} }}
referenced_data {{ key: "orders_NC_CK" value {{ dim_orders_list {{
  val {{ orders {{ key: -1 value {{ val: 0 val: 1 }} }} }}
  val {{ orders {{ key: -1 value {{ val: 1 val: 0 }} }} }} }} }} }}
""", lambda x: tf.matmul(x, w), random(2, 4))
