"""Packed batches. CUDA alone has these operators, so NumPy computes the outputs."""
import numpy as np

from drawing import Case, Value


def batch_of(draw):
    """Lengths, and token_offset and cumulative lengths."""
    batch, longest = draw.size(1, 3), draw.size(1, 5)
    lengths = draw.ints(1, longest + 1, batch)
    lengths[0] = longest
    is_token = np.arange(longest)[None] < lengths[:, None]
    places = np.arange(batch * longest).reshape(batch, longest)
    offsets = np.concatenate([places[is_token], places[~is_token]]).reshape(batch, longest).astype(np.int32)
    return lengths, offsets, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def attend(q, k, v, sums, heads, scale, bias):
    out = []
    for number, (begin, end) in enumerate(zip(sums[:-1], sums[1:])):
        parts = [x[begin:end].reshape(end - begin, heads, -1).transpose(1, 0, 2) for x in (q, k, v)]
        scores = parts[0] @ parts[1].transpose(0, 2, 1) * (scale or parts[0].shape[-1] ** -0.5)
        if bias is not None:
            scores = scores + bias[number % len(bias), :, :end - begin, :end - begin]
        e = np.exp(scores - scores.max(-1, keepdims=True))
        out.append((e / e.sum(-1, keepdims=True) @ parts[2]).transpose(1, 0, 2).reshape(end - begin, -1))
    return np.concatenate(out).astype(np.float32)


def sides(draw, offsets, sums, heads):
    bias = draw.floats(draw.pick(1, len(offsets)), draw.pick(1, heads), *[offsets.shape[1]] * 2) if draw.chance(0.3) else None
    return [offsets, sums] + ([] if bias is None else [bias])


def packed_attention(draw):
    lengths, offsets, sums = batch_of(draw)
    heads, size, width, scale = draw.size(1, 3), draw.size(1, 4), draw.size(2, 8), draw.pick(None, 0.3)
    sizes = [heads * size, heads * size, heads * draw.size(1, 4)]
    has_sizes = sizes[0] != sizes[2] or draw.chance()

    def want(x, w, b, offsets, sums, bias=None):
        return attend(*np.split(x @ w + b, np.cumsum(sizes)[:2], axis=1), sums, heads, scale, bias)
    return Case("PackedAttention",
                [Value(draw.floats(lengths.sum(), width), fixed=[1]), Value(draw.floats(width, sum(sizes)), weight=True, fixed="all"),
                 Value(draw.floats(sum(sizes)), weight=True), *sides(draw, offsets, sums, heads)],
                want=want, num_heads=heads, scale=scale, qkv_hidden_sizes=sizes if has_sizes else None)


def packed_multi_head_attention(draw):
    lengths, offsets, sums = batch_of(draw)
    heads, size, scale, tokens = draw.size(1, 3), draw.size(1, 4), draw.pick(None, 0.3), lengths.sum()
    is_packed = draw.chance()
    widths = [heads * size] * 2 + [heads * (size if is_packed else draw.size(1, 4))]

    def want(q, k, v, b, offsets, sums, bias=None):
        if k is None:
            q, k, v = (q[:, :, part].reshape(tokens, -1) for part in range(3))
        if b is not None:
            q, k, v = (x + y for x, y in zip((q, k, v), np.split(b, np.cumsum(widths)[:2])))
        return attend(q, k, v, sums, heads, scale, bias)
    if is_packed:
        inputs = [Value(draw.floats(tokens, heads, 3, size), fixed=[1, 3]), None, None]
    else:
        inputs = [Value(draw.floats(tokens, width), fixed=[1]) for width in widths]
    inputs.append(draw.maybe(Value(draw.floats(sum(widths)), weight=True)))
    return Case("PackedMultiHeadAttention", inputs + sides(draw, offsets, sums, heads), want=want, num_heads=heads, scale=scale)


def restore_padding(draw):
    lengths, offsets, _ = batch_of(draw)
    x = draw.floats(lengths.sum(), draw.size(1, 5))

    def want(x, offsets):
        y = np.zeros((offsets.size, x.shape[1]), np.float32)
        y[offsets.reshape(-1)[:len(x)]] = x
        return y.reshape(*offsets.shape, -1)
    return Case("RestorePadding", [x, offsets], want=want)


def remove_padding(draw):
    lengths, offsets, sums = batch_of(draw)
    x = draw.floats(*offsets.shape, draw.size(1, 5))

    def want(x, lengths):
        tokens = offsets.reshape(-1)[:lengths.sum()]
        return [x.reshape(-1, x.shape[2])[tokens], offsets, sums, np.array([lengths.max()], np.int32)]
    return Case("RemovePadding", [Value(x, fixed=[2]), lengths], 4, want=want)


OPERATORS = {
    "PackedAttention": packed_attention,
    "PackedMultiHeadAttention": packed_multi_head_attention,
    "RemovePadding": remove_padding,
    "RestorePadding": restore_padding,
}
