"""Positions."""
import math

import numpy as np

from drawing import Case, Value


def rotary_embedding(draw):
    batch, tokens, heads, size = draw.size(1, 3), draw.size(1, 5), draw.size(1, 3), 2 * draw.size(1, 5)
    turned = size
    has_part = size > 2 and draw.chance(0.3)
    if has_part:
        turned = 2 * draw.size(1, size // 2)
    is_4d = not has_part and draw.chance(0.3)
    x = draw.floats(batch, heads, tokens, size) if is_4d else draw.floats(batch, tokens, heads * size)
    ids = np.array([draw.size(0, 4)]) if draw.chance() else draw.ints(0, 9, batch, tokens)
    angles = draw.uniform(0, 6, 9, turned // 2)
    return Case("RotaryEmbedding",
                [Value(x, fixed=[1] if is_4d else [2]), Value(ids.astype(np.int64), fixed="all" if ids.ndim == 1 else ()),
                 Value(np.cos(angles), weight=True, fixed="all"), Value(np.sin(angles), weight=True, fixed="all")],
                interleaved=draw.pick(None, 0, 1), num_heads=heads if has_part or draw.chance() else None,
                rotary_embedding_dim=turned if has_part else None)


# CUDA alone has the others.
def gemma_rotary(draw):
    shape = draw.size(1, 2), draw.size(1, 3), draw.size(1, 4), draw.size(1, 6)
    emb = draw.uniform(0, 6, shape[0], shape[2], shape[3])

    def want(emb, q, q_rot, k, k_rot):
        sine, cosine = np.sin(emb)[:, None], np.cos(emb)[:, None]
        return [q * cosine + q_rot * sine, k * cosine + k_rot * sine]
    return Case("GemmaRotaryEmbedding", [Value(emb, keep=True)] + [draw.floats(*shape) for _ in range(4)], 2, want=want)


def relative_position_bias(draw):
    entries, heads, farthest = draw.pick(8, 16, 32), draw.size(1, 4), draw.pick(20, 128)
    queries, keys = draw.size(1, 40), draw.size(1, 40)
    both = draw.pick(0, 1)

    def want(table, queries, keys):
        table = table.reshape(heads, entries)
        ahead = np.arange(int(keys))[None] - np.arange(int(queries))[:, None]
        side = entries // 2 if both else entries
        distance = np.abs(ahead) if both else np.maximum(-ahead, 0)
        exact = side // 2
        far = exact + (np.log(np.maximum(distance, 1).astype(np.float32) / exact) / math.log(farthest / exact)
                       * (side - exact)).astype(np.int64)
        bucket = np.where(distance < exact, distance, np.minimum(far, side - 1)) + (both & (ahead > 0)) * side
        return table[:, bucket][None]
    return Case("RelativePositionBias",
                [Value(draw.floats(entries, heads), weight=True, fixed="all"),
                 Value(np.array(queries, np.int64), const=True), Value(np.array(keys, np.int64), const=True)],
                want=want, max_distance=farthest, is_bidirectional=both)


def gated_relative_position_bias(draw):
    batch, tokens, heads, size, width = draw.size(1, 2), draw.size(1, 5), draw.size(1, 3), draw.size(1, 4), 2 * draw.size(1, 4)
    inputs = [Value(draw.floats(batch, tokens, heads * size), fixed=[2]), Value(draw.floats(heads * size), weight=True),
              draw.floats(1, heads, tokens, tokens), Value(draw.floats(size, width), weight=True),
              Value(draw.floats(width), weight=True, fixed="all"), Value(draw.floats(1, heads, 1, 1), weight=True)]

    def want(query, query_bias, positions, weight, bias, eco):
        query = (query + query_bias).reshape(batch, tokens, heads, size).transpose(0, 2, 1, 3)
        gates = (query @ weight + bias).reshape(batch, heads, tokens, 2, width // 2).sum(-1)
        gates = 1 / (1 + np.exp(-gates))
        return ((gates[..., :1] * (gates[..., 1:] * eco - 1) + 2) * positions).astype(np.float32)
    return Case("GatedRelativePositionBias", inputs, want=want, num_heads=heads)


OPERATORS = {
    "GatedRelativePositionBias": gated_relative_position_bias,
    "GemmaRotaryEmbedding": gemma_rotary,
    "RelativePositionBias": relative_position_bias,
    "RotaryEmbedding": rotary_embedding,
}
