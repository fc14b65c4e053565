"""Weights of 2, 4 or 8 bits in blocks."""
import numpy as np
from onnx import TensorProto, helper

from drawing import Case, Value


def zero_points(draw, columns, blocks, bits):
    kind = draw.pick(None, "packed", "float")
    if kind is None or kind == "float" and bits == 8:  # ONNX Runtime refuses these
        return None
    if kind == "packed":
        return Value(draw.ints(0, 256, columns, (blocks * bits + 7) // 8, dtype=np.uint8), const=True)
    return Value(draw.uniform(0, 1 << bits, columns, blocks), const=True)


def mat_mul_nbits(draw, rows, depth, columns, block):
    bits = draw.pick(2, 4, 4, 4, 8)
    blocks = -(-depth // block)
    lead = [rows] if draw.chance(.7) else [2, rows]
    weights = draw.ints(0, 256, columns, blocks, block * bits // 8, dtype=np.uint8)
    scales = draw.uniform(-.1, .1, columns, blocks)
    zeros = zero_points(draw, columns, blocks, bits)
    # ONNX Runtime has g_idx for 4 bits, and ignores packed zero points then.
    has_groups = bits == 4 and (zeros is None or zeros.array.dtype != np.uint8) and draw.chance(.2)
    groups = Value(draw.ints(0, blocks, depth), const=True) if has_groups else None
    return Case("MatMulNBits", [
        Value(draw.floats(*lead, depth), fixed=(-1,)), Value(weights, const=True), Value(scales, const=True),
        zeros, groups, draw.maybe(Value(draw.floats(columns), const=True))],
        K=depth, N=columns, bits=bits, block_size=block)


def small(draw):
    block = draw.pick(16, 32, 64, 128, 256)
    return mat_mul_nbits(draw, draw.pick(1, 2, 3, 4, 5, 9, 20), draw.size(1, 80 if block < 256 else 260), draw.size(1, 40),
                         block)


def large(draw):
    """Several threads, and more rows of a and of weights than the kernel takes at once. Not recorded."""
    return mat_mul_nbits(draw, draw.pick(1, 3, 7, 40, 131), draw.pick(96, 500, 1200, 2064), draw.pick(64, 200, 333),
                         draw.pick(16, 32, 64, 128, 256))


def gather_block_quantized(draw):
    kind = draw.pick("u8", "u8", "i4", "u4")
    block, width, height = draw.pick(16, 32, 64), draw.size(1, 5), draw.size(1, 8)
    indices = draw.ints(-height, height, *[draw.size(1, 4) for _ in range(draw.size(0, 2))],
                        dtype=draw.pick(np.int32, np.int64))
    if kind == "u8":
        bits = draw.pick(2, 4, 8)
        columns = width * 16
        blocks = -(-columns // block)
        zeros = draw.maybe(Value(draw.ints(0, 256, height, (blocks * bits + 7) // 8, dtype=np.uint8), const=True))
        data = draw.ints(0, 256, height, columns * bits // 8, dtype=np.uint8)
        return Case("GatherBlockQuantized", [Value(data, const=True), Value(indices),
                                             Value(draw.uniform(.01, .1, height, blocks), const=True), zeros],
                    bits=bits, block_size=block, gather_axis=0, quantize_axis=draw.pick(1, -1))
    dtype = helper.tensor_dtype_to_np_dtype(TensorProto.INT4 if kind == "i4" else TensorProto.UINT4)
    low = -8 if kind == "i4" else 0
    shape = [height, draw.size(1, 3), width * 8]
    gather_axis = draw.pick(0, 0, 1)
    quantize_axis = draw.pick(1, 2) if gather_axis == 0 else draw.pick(0, 2)
    blocks = list(shape)
    blocks[quantize_axis] = -(-shape[quantize_axis] // block)
    indices = np.mod(indices, shape[gather_axis]).astype(indices.dtype)
    zeros = draw.maybe(Value(draw.ints(low, low + 16, *blocks).astype(dtype), const=True))
    return Case("GatherBlockQuantized", [Value(draw.ints(low, low + 16, *shape).astype(dtype), const=True), Value(indices),
                                         Value(draw.uniform(.01, .1, *blocks), const=True), zeros],
                block_size=block, gather_axis=gather_axis, quantize_axis=quantize_axis)


def mat_mul_bnb4(draw):
    rows, depth, columns, block = draw.size(1, 5), draw.size(1, 40), draw.size(1, 20), draw.pick(16, 32, 64)
    count = depth * columns
    return Case("MatMulBnb4", [Value(draw.floats(rows, depth), fixed=(-1,)),
                               Value(draw.ints(0, 256, (count + 1) // 2, dtype=np.uint8), const=True),
                               Value(draw.uniform(.1, 2, -(-count // block)), const=True)],
                K=depth, N=columns, block_size=block, quant_type=draw.pick(0, 1))


OPERATORS = {
    "GatherBlockQuantized": gather_block_quantized,
    "MatMulBnb4": mat_mul_bnb4,
    "MatMulNBits": small,
    "MatMulNBits_large": large,
}
