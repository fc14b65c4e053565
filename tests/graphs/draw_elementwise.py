"""Drawn nodes: arithmetic, comparison, types."""
import numpy as np
from onnx import helper

from graph import ANY, BOOL, F16, F32, F64, FLOATS, I8, I16, I32, I64, INTS, STR, U8, U16, U32

SMOOTH = ("Sigmoid Tanh Erf Sin Cos Atan Asinh Softplus Softsign HardSigmoid HardSwish Elu Selu LeakyRelu Celu Gelu "
          "Mish Exp Swish").split()
WIDE = "Sigmoid Tanh Sin Cos Exp Softplus Elu LeakyRelu Selu".split()  # ONNX Runtime has f64 kernels for these
ALPHA = "Elu Celu LeakyRelu Swish".split()


def smooth(g):
    op = g.pick(SMOOTH)
    attributes = {}
    if op in ALPHA and g.chance(.5):
        attributes["alpha"] = g.pick([0.1, 0.5, 1.5])
    if op == "HardSigmoid" and g.chance(.5):
        attributes = {"alpha": 0.3, "beta": 0.4}
    if op == "Gelu":
        attributes["approximate"] = g.pick(["none", "tanh"])
    g.add(op, [g.some(FLOATS if op in WIDE else (F32,))], **attributes)


def exact_unary(g):
    op = g.pick(["Abs", "Neg", "Relu", "Identity"])
    g.add(op, [g.some(g.pick([FLOATS, FLOATS, (I32, I64), (I8,), (F16,)]))], exact=True)


def identity(g):
    g.add("Identity", [g.some(ANY + (STR,))], exact=True)


def steps(g):
    x = g.some(FLOATS)
    op = g.pick(["Ceil", "Floor", "Round", "Sign"])
    g.need(g.is_apart(x, 0) if op == "Sign" else g.is_off_steps(x))
    g.add(op, [x], exact=True)


def domain(g):
    """Functions that are defined on an interval: the argument is moved there."""
    x = g.add(g.pick(["Sigmoid", "HardSigmoid"]), [g.some((F32,))])
    op = g.pick("Sqrt Log Reciprocal Tan Asin Acos Atanh Sinh Cosh".split())
    if op in ("Log", "Reciprocal", "Sqrt"):
        x = g.add("Add", [x, g.given(F32(g.pick([0.5, 1, 2])))])
    elif op in ("Asin", "Acos", "Atanh"):
        x = g.add("Mul", [x, g.given(F32(0.75))])
    g.add(op, [x])


def acosh(g):
    x = g.add("Abs", [g.some((F32,))], exact=True)
    g.add("Acosh", [g.add("Add", [x, g.given(F32(1.5))])])


def shrink(g):
    x = g.some((F32,))
    limit, bias = g.pick([0.5, 1.0]), g.pick([0.0, 0.25])
    g.need(g.is_apart(x, [limit, -limit]))
    g.add("Shrink", [x], exact=True, lambd=limit, bias=bias)


def thresholded_relu(g):
    x = g.some((F32,))
    g.need(g.is_apart(x, 1.0))
    g.add("ThresholdedRelu", [x], exact=True, alpha=1.0)


def not_finite(g):
    x = g.some((F32,))
    if g.chance(.5):
        g.add("IsNaN", [x])
    else:
        g.add("IsInf", [x], detect_positive=int(g.chance(.7)))


def binary(g):
    x = g.some(FLOATS + (F16,))
    pair = [x, g.mate(x)]
    g.add(g.pick("Add Sub Mul Add Mul Max Min".split()), pair[::g.pick([1, -1])], exact=True)


def divide(g):
    x = g.some(FLOATS)
    y = g.mate(x)
    g.need(g.v(y).size == 0 or np.abs(g.v(y)).min() > .05)
    g.add("Div", [x, y])


def power(g):
    x = g.some((F32,))
    exponent = g.pick([2.0, 3.0, 0.5, 1.0, -1.0, 0.0])
    g.need(exponent in (2.0, 3.0, 1.0, 0.0) or g.v(x).size == 0 or g.v(x).min() > .05)
    dtype = g.pick((F32, I32, I64)) if exponent == int(exponent) else F32
    g.add("Pow", [x, g.given(exponent, dtype, .2)])


def variadic(g):
    x = g.some((F32, F32, F64))
    names = [x] + [g.mate(x) for _ in range(g.number(0, 3))]
    g.random.shuffle(names)
    g.add(g.pick(["Sum", "Mean", "Max", "Min"]), [str(n) for n in names])


def whole_numbers(g):
    dtype = g.pick(INTS + (U32, I16))
    x = g.some((dtype,))
    y = g.mate(x)
    op = g.pick(["Add", "Sub", "Mul", "Max", "Min", "Div", "Mod"])
    if op in ("Add", "Sub", "Mul"):
        g.need(dtype in (I32, I64))
    if op in ("Div", "Mod"):
        g.need(g.v(y).size == 0 or (g.v(y) != 0).all())
    g.add(op, [x, y], fmod=1 if op == "Mod" and g.chance(.4) else None)


def float_remainder(g):
    x = g.some((F32,))
    y = g.given(F32(g.pick([0.75, 2, 3])), None, .2)
    g.need(g.exact[x])
    g.add("Mod", [x, y], exact=True, fmod=1)


def bits(g):
    x = g.some(INTS)
    op = g.pick(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"])
    g.add(op, [x] if op == "BitwiseNot" else [x, g.mate(x)])


def shift(g):
    x = g.some((U8, U32))
    y = g.given(g.random.integers(0, 4, g.v(x).shape), g.v(x).dtype, .5)
    g.add("BitShift", [x, y], direction=g.pick(["LEFT", "RIGHT"]))


def comparison(g):
    x = g.some(g.pick([FLOATS, (I32, I64), (F32,)]))
    y = g.mate(x)
    if not (g.exact[x] and g.exact[y]):
        difference = np.abs(g.v(x).astype(F64) - g.v(y).astype(F64))
        g.need(difference.size == 0 or difference.min() > 1e-3)
    g.add(g.pick(["Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"]), [x, y])


def logic(g):
    x = g.some((BOOL,))
    op = g.pick(["And", "Or", "Xor", "Not"])
    g.add(op, [x] if op == "Not" else [x, g.mate(x)])


def where(g):
    x = g.some(ANY + (STR,))
    g.add("Where", [g.mate(x, BOOL), x, g.mate(x)], exact=True)


CASTS = {F32: (F64, I32, I64, BOOL, F16, I8, U8), F64: (F32, I32, I64), I32: (F32, I64, F64, BOOL, I8, I16),
         I64: (F32, I32, F64, BOOL, U32), U8: (F32, I32, I64, U16), BOOL: (F32, I32, I64, U8), I8: (F32, I32),
         F16: (F32,), I16: (F32, I32), U32: (I64,), U16: (I32,)}


def cast(g):
    dtype = g.pick(list(CASTS))
    x = g.some((dtype,))
    to = g.pick(CASTS[dtype])
    value = g.v(x).astype(F64)
    if to in (F16, BOOL):
        g.need(g.exact[x])
    elif to in (I8, U8, U16, U32) and value.size:
        g.need(value.min() >= (-127 if to == I8 else 0) and value.max() <= (127 if to == I8 else 255))
    if to in (I8, U8, I32, I64) and dtype in (F32, F64):
        g.need(g.is_off_steps(x))
    if g.chance(.2):
        g.add("CastLike", [x, g.leaf(to, g.shape(1))], exact=True)
    else:
        g.add("Cast", [x], exact=True, to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))


def clip(g):
    x = g.some((F32, F32, F64, I32))
    dtype = g.v(x).dtype
    low, high = g.given(g.pick([-2, -1, 0]), dtype, .1), g.given(g.pick([1, 2, 3]), dtype, .1)
    g.add("Clip", [x] + g.pick([[low, high], [low], ["", high], []]), exact=True)


def prelu(g):
    x = g.some((F32,), (1, 4))
    shape = [d if g.chance(.5) else 1 for d in g.v(x).shape]
    g.add("PRelu", [x, g.weight(*shape[g.number(0, len(shape) - 1):])])


def texts(g):
    x = g.some((STR,))
    op = g.pick(["StringConcat", "Equal", "Cast"])
    if op == "StringConcat":
        g.add(op, [x, g.mate(x)])
    elif op == "Equal":
        g.add(op, [x, g.mate(x)])
    else:
        number = g.some((I32, I64))
        g.add("Cast", [number], to=helper.np_dtype_to_tensor_dtype(np.dtype(object)))


DRAW = [(smooth, 9), (exact_unary, 3), (identity, 1), (steps, 2), (domain, 3), (acosh, 1), (shrink, 1),
        (thresholded_relu, 1), (not_finite, 1), (binary, 8), (divide, 2), (power, 2), (variadic, 2), (whole_numbers, 4),
        (float_remainder, 1), (bits, 1), (shift, 1), (comparison, 3), (logic, 2), (where, 3), (cast, 4), (clip, 2),
        (prelu, 1), (texts, 1)]
