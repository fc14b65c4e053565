"""Fourier transforms, complex numbers, distances, hashes, repeated tokens."""
import numpy as np

from drawing import Case, Value


# CUDA alone has the next four.
def rfft(draw):
    axes = draw.size(1, 2)
    x = draw.floats(draw.size(1, 3), draw.size(2, 5), 2 * draw.size(1, 6))

    def want(x):
        y = np.fft.rfftn(x.astype(np.float64), axes=range(3 - axes, 3))
        return np.stack([y.real, y.imag], -1).astype(np.float32)
    return Case("Rfft", [x], half=False, want=want, signal_ndim=axes)


def irfft(draw):
    axes = draw.size(1, 2)
    x = draw.floats(draw.size(1, 3), draw.size(2, 5), draw.size(2, 6), 2)

    def want(x):
        z = x[..., 0] + 1j * x[..., 1].astype(np.float64)
        return np.fft.irfftn(z, axes=range(3 - axes, 3)).astype(np.float32)
    return Case("Irfft", [Value(x, fixed=[3])], half=False, want=want, signal_ndim=axes)


def complex_mul(op):
    def function(draw):
        a, b = draw.floats(draw.size(1, 3), draw.size(1, 4), 2), draw.floats(draw.pick(1, 4), 2)
        if b.shape[0] != 1:
            b = draw.floats(a.shape[1], 2)

        def want(a, b):
            a, b = (v[..., 0] + 1j * v[..., 1] for v in (a, b))
            y = a * (np.conj(b) if op.endswith("Conj") else b)
            return np.stack([y.real, y.imag], -1).astype(np.float32)
        return Case(op, [Value(a, fixed=[2]), Value(b, fixed="all")], want=want)
    return function


def distances(draw):
    width = draw.size(1, 9)
    return Case("CDist", [draw.floats(draw.size(1, 5), width), draw.floats(draw.size(1, 5), width)], half=False,
                metric=draw.pick(None, "euclidean", "sqeuclidean"))


# CUDA alone has it.
def all_finite(draw):
    arrays = [draw.floats(draw.size(1, 4), draw.size(1, 4)) for _ in range(draw.size(1, 3))]
    if draw.chance():
        arrays[-1][0, 0] = draw.pick(np.nan, np.inf, -np.inf)
    only = draw.pick(None, "isnan_only", "isinf_only")
    test = {None: np.isfinite, "isnan_only": lambda a: ~np.isnan(a), "isinf_only": lambda a: ~np.isinf(a)}[only]
    return Case("IsAllFinite", arrays, want=lambda *arrays: np.array(all(test(a).all() for a in arrays)),
                **({only: 1} if only else {}))


def murmur_hash(draw):
    x = draw.ints(-2**31, 2**31, draw.size(1, 3), draw.size(1, 5), dtype=np.int64)
    dtype = draw.pick(np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64)
    x = x.astype(dtype) if dtype in (np.float32, np.float64) else (x * (1 if dtype in (np.int32, np.uint32) else 977)).astype(dtype)
    return Case("MurmurHash3", [x], tolerance="equal", half=False, positive=draw.pick(None, 0, 1), seed=draw.pick(None, 42))


def n_gram_repeat_block(draw):
    ids = draw.ints(0, 3, draw.size(1, 3), draw.size(1, 9), dtype=np.int64)
    return Case("NGramRepeatBlock", [ids, draw.floats(ids.shape[0], draw.size(3, 6))], half=False,
                ngram_size=draw.size(1, 3))


def inverse(draw):
    size = draw.size(1, 7)
    x = draw.floats(*[draw.size(1, 3) for _ in range(draw.size(0, 2))], size, size)
    return Case("Inverse", [x + 3 * np.eye(size, dtype=np.float32)[draw.rng.permutation(size)]])


OPERATORS = {
    "CDist": distances,
    "ComplexMul": complex_mul("ComplexMul"),
    "ComplexMulConj": complex_mul("ComplexMulConj"),
    "Inverse": inverse,
    "Irfft": irfft,
    "IsAllFinite": all_finite,
    "MurmurHash3": murmur_hash,
    "NGramRepeatBlock": n_gram_repeat_block,
    "Rfft": rfft,
}
