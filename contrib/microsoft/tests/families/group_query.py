"""GroupQueryAttention."""
import numpy as np

from drawing import Case, TensorProto, Value


def group_query_attention(draw):
    key_heads = draw.size(1, 2)
    heads, size = key_heads * draw.size(1, 3), draw.pick(16, 16, 32)
    form = draw.pick("prompt", "token", "token", "chunk", "buffer", "buffer")
    batch = 1 if form == "chunk" else draw.size(1, 2)
    tokens = {"prompt": draw.size(1, 6), "chunk": draw.size(2, 4)}.get(form, 1)
    longest = tokens if form == "prompt" else tokens + draw.size(1, 6)
    lengths = np.full(batch, longest)
    if form in ("token", "buffer") and batch > 1:
        lengths[1:] = draw.ints(2, longest + 1, batch - 1)
    room = 0 if form == "prompt" else longest - tokens if form in ("token", "chunk") else longest + draw.size(0, 5)
    is_packed = draw.chance(0.3)
    if is_packed:
        inputs = [Value(draw.floats(batch, tokens, (heads + 2 * key_heads) * size), fixed=[2]), None, None]
    else:
        inputs = [Value(draw.floats(batch, tokens, n * size), fixed=[2]) for n in (heads, key_heads, key_heads)]
    has_past = room > 0
    pasts = [draw.floats(batch, key_heads, room, size) for _ in range(2)]
    for past in pasts:  # what is behind the tokens is unspecified; ONNX Runtime fills it with zeros
        for sequence, length in enumerate(lengths):
            past[sequence, :, max(length - tokens, 0):] = 0
    pasts = [Value(past, fixed=[1, 3]) if has_past else None for past in pasts]
    inputs += [*pasts, (lengths - 1).astype(np.int32), Value(np.array([longest], np.int32), const=True)]
    rotates = draw.chance()
    attributes = {"do_rotary": 1 if rotates else None, "rotary_interleaved": draw.pick(None, 1) if rotates else None,
                  "scale": draw.pick(None, 0.4), "softcap": draw.pick(None, None, 3.0),
                  "local_window_size": draw.pick(None, None, 3), "smooth_softmax": None}
    if rotates:
        turned = draw.pick(size, size // 2) if size == 32 and not attributes["rotary_interleaved"] else size
        angles = draw.uniform(0, 6, 16, turned // 2)
        inputs += [Value(f(angles), weight=True, fixed="all") for f in (np.cos, np.sin)]
        inputs += [None]
    else:
        inputs += [None] * 3
    has_bias, has_sink = draw.chance(0.2), draw.chance(0.2)
    inputs += [draw.floats(draw.pick(1, batch), draw.pick(1, heads), tokens, longest) if has_bias else None,
               draw.floats(heads) if has_sink else None]
    if not has_sink and draw.chance(0.2):
        attributes["smooth_softmax"] = 1
    if form == "prompt" and attributes["local_window_size"] is None and draw.chance(0.3):
        attributes["causal"] = 0
    shown = draw.pick(None, None, 1, 2) if form == "prompt" else None
    while inputs[-1] is None:
        inputs.pop()
    return Case("GroupQueryAttention", inputs, [True, True, True, bool(shown)] if shown else 3, types={3: TensorProto.FLOAT},
                qk_output=shown, num_heads=heads, kv_num_heads=key_heads, **attributes)


OPERATORS = {
    "GroupQueryAttention": group_query_attention,
}
