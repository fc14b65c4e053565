"""Attention."""
import numpy as np

from drawing import Case, TensorProto, Value


def key_mask(draw, batch, queries, keys, forms):
    """One of the forms of a key mask, with a visible key in each row."""
    form = draw.pick(*forms)
    ends = draw.ints(1, keys + 1, batch)
    if form == "ends":
        return Value(ends, fixed="all")
    if form == "starts":
        starts = np.minimum(draw.ints(0, keys, batch), ends - 1).astype(np.int32)
        return Value(np.concatenate([ends, starts]), fixed="all")
    if form == "keys":
        return Value((np.arange(keys)[None] < ends[:, None]).astype(np.int32))
    if form == "pairs":
        mask = draw.ints(0, 2, batch, queries, keys)
        mask[..., 0] = 1
        return Value(mask)
    return None


def common(draw):
    return {"scale": draw.pick(None, None, 0.3), "mask_filter_value": draw.pick(None, None, -1e9)}


def bias_of(draw, batch, heads, queries, keys):
    return draw.floats(draw.pick(1, batch), draw.pick(1, heads), queries, keys)


def attention(draw):
    batch, tokens, heads, size, width = draw.size(1, 2), draw.size(1, 5), draw.size(1, 3), draw.size(1, 4), draw.size(2, 8)
    past = draw.pick(0, 0, draw.size(1, 4))
    sizes = [heads * size] * 2 + [heads * (size if past else draw.size(1, 4))]
    keys = past + tokens
    mask = key_mask(draw, batch, tokens, keys, ["none", "ends", "starts", "keys", "pairs"])
    inputs = [Value(draw.floats(batch, tokens, width), fixed=[0, 2]),
              Value(draw.floats(width, sum(sizes)), weight=True, fixed="all"),
              draw.maybe(Value(draw.floats(sum(sizes)), weight=True), 0.8), mask,
              Value(draw.floats(2, batch, heads, past, size), fixed=[0, 2, 4]) if past else None,
              draw.maybe(bias_of(draw, batch, heads, tokens, keys), 0 if past else 0.3)]
    has_present = past or (sizes[2] == sizes[0] and draw.chance(0.3))
    return Case("Attention", inputs, 2 if has_present else 1, num_heads=heads,
                unidirectional=draw.pick(None, 0, 1),
                qkv_hidden_sizes=sizes if sizes[2] != sizes[0] or draw.chance() else None, **common(draw))


def multi_head_attention(draw):
    batch, queries, heads, size = draw.size(1, 2), draw.size(1, 5), draw.size(1, 3), draw.size(1, 4)
    width = heads * size
    form = draw.pick("self", "cross", "past", "heads")
    own = queries if form in ("self", "past") else draw.size(1, 5)
    past = draw.size(1, 4) if form == "past" else 0
    values = size if form in ("past", "heads") else draw.size(1, 4)
    keys = own + past
    q = Value(draw.floats(batch, queries, width), fixed=[0, 2])
    if form == "heads":
        k, v = (Value(draw.floats(batch, heads, own, size), fixed=[1, 3]) for _ in range(2))
    else:
        k = Value(draw.floats(batch, own, width), fixed=[0, 2])
        v = Value(draw.floats(batch, own, heads * values), fixed=[0, 2])
    bias = draw.maybe(Value(draw.floats(2 * width + heads * values), weight=True))
    mask = key_mask(draw, batch, queries, keys, ["none", "keys", "pairs"] if past else ["none", "ends", "keys"])
    pasts = [Value(draw.floats(batch, heads, past, size), fixed=[1, 3]) if past else None for _ in range(2)]
    causal = draw.pick(None, 1) if form in ("self", "past") else None
    inputs = [q, k, v, bias, mask, draw.maybe(bias_of(draw, batch, heads, queries, keys), 0.3), *pasts]
    while inputs[-1] is None:
        inputs.pop()
    outputs = 3 if past or (form != "heads" and draw.chance(0.3)) else 1
    if form == "cross" and draw.chance():
        outputs = [True, False, False, True]
    return Case("MultiHeadAttention", inputs, outputs, types={3: TensorProto.FLOAT},
                num_heads=heads, unidirectional=causal, **common(draw))


def decoder_masked(draw):
    batch, heads, size = draw.size(1, 2), draw.size(1, 3), draw.size(1, 4)
    width = heads * size
    q = Value(draw.floats(batch, 1, width), fixed=[0, 2])
    scale = draw.pick(None, 0.3)
    if draw.chance(0.3):  # cross attention
        keys = draw.size(1, 5)
        pairs = [Value(draw.floats(batch, heads, keys, size), fixed=[1, 3]) for _ in range(2)]
        mask = key_mask(draw, batch, 1, keys, ["none", "keys"])
        shown = draw.chance()
        return Case("DecoderMaskedMultiHeadAttention", [q, *pairs] + ([mask] if mask else []),
                    [True, False, False, True] if shown else 1, types={3: TensorProto.FLOAT}, num_heads=heads, scale=scale,
                    output_qk=1 if shown else None)
    past, room = draw.size(1, 4), draw.size(5, 8)
    pairs = [Value(draw.floats(batch, 1, width), fixed=[0, 2]) for _ in range(2)]
    caches = [draw.floats(batch, heads, room, size) for _ in range(2)]
    for cache in caches:
        cache[:, :, past:] = 0
    mask = key_mask(draw, batch, 1, past + 1, ["none", "keys"])
    bias = draw.maybe(bias_of(draw, batch, heads, 1, past + 1), 0.3)
    inputs = [q, *pairs, mask, bias, *[Value(cache, fixed=[0, 1, 3]) for cache in caches], np.array([past], np.int32)]
    if draw.chance():
        inputs += [Value(np.array([1], np.int32), const=True), np.zeros((batch, 1, room), np.int32)]
    if draw.chance(0.3):
        inputs += [None] * (10 - len(inputs)) + [Value(draw.floats(3 * width), weight=True)]
    return Case("DecoderMaskedMultiHeadAttention", inputs, 3, num_heads=heads, past_present_share_buffer=1, scale=scale)


OPERATORS = {
    "Attention": attention,
    "DecoderMaskedMultiHeadAttention": decoder_masked,
    "MultiHeadAttention": multi_head_attention,
}
