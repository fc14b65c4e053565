"""The layers of BERT."""
import numpy as np

from drawing import Case, Value, helper_tensor

F = np.float32


def norm(x, gamma, beta):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return ((x - mean) / np.sqrt(var + np.finfo(F).eps) * gamma + beta).astype(F)


def weights(draw, array):
    """As a list, or as a tensor."""
    return helper_tensor(array) if draw.chance(0.3) else array.reshape(-1).tolist()


def skip_layer_norm(draw):
    s, b, e = draw.size(1, 4), draw.size(1, 3), draw.size(2, 8)
    tail = draw.pick((), (1, 1))
    gamma, beta, bias = draw.floats(e), draw.floats(e), draw.maybe(draw.floats(e))
    version = draw.pick("1", "2", "5", "6")

    def want(x, skip):
        total = x + skip
        y = norm(total.reshape(s, b, e) + (0 if bias is None else bias), gamma, beta)
        return y.reshape(x.shape)
    return Case("CustomSkipLayerNormPluginDynamic", [Value(draw.floats(s, b, e, *tail), fixed=[2]), Value(draw.floats(s, b, e, *tail), fixed=[2])], want,
                version=version, type_id=draw.pick(0, 1), ld=e if version in "15" else None, gamma=weights(draw, gamma), beta=weights(draw, beta),
                bias=None if bias is None else weights(draw, bias))


def gelu(draw):
    s, b, e = draw.size(1, 4), draw.size(1, 3), draw.size(1, 8)
    tail = draw.pick((), (1, 1))
    bias = draw.maybe(draw.floats(e))

    def want(x):
        z = (x.reshape(s, b, e) + (0 if bias is None else bias)).reshape(x.shape)
        return (0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z ** 3)))).astype(F)
    return Case("CustomGeluPluginDynamic", [Value(draw.floats(s, b, e, *tail, scale=2), fixed=[2])], want, type_id=draw.pick(0, 1),
                bias=None if bias is None else weights(draw, bias))


def fully_connected(draw):
    k, columns = draw.size(1, 6), draw.size(1, 6)
    matrix = draw.floats(k, columns)
    return Case("CustomFCPluginDynamic", [Value(draw.floats(draw.size(1, 4), draw.size(1, 3), k, 1, 1), fixed=[2, 3, 4])],
                lambda x: (x[..., 0, 0] @ matrix)[..., None, None], out_dims=columns, type_id=draw.pick(0, 1), W=weights(draw, matrix))


def embedding(draw):
    s, b, e = draw.size(1, 6), draw.size(1, 3), draw.size(2, 6)
    words, types, places = draw.floats(9, e), draw.floats(2, e), draw.floats(s + draw.size(0, 3), e)
    gamma, beta, half = draw.floats(e), draw.floats(e), draw.pick(None, 0, 1)
    ends = draw.ints(1, s + 1, b)

    def want(tokens, segments, mask):
        y = norm(words[tokens] + types[segments] + places[:s, None], gamma, beta)
        return y[..., None, None].astype(np.float16 if half else F), ends[:, None].astype(np.int32)
    mask = (np.arange(s)[:, None] < ends).astype(np.int32)
    return Case("CustomEmbLayerNormPluginDynamic", [draw.ints(0, 9, s, b), draw.ints(0, 2, s, b), mask], want, half=False,
                tolerance="f16" if half else "f32", version=draw.pick("1", "6"), output_fp16=half, full_mask=draw.pick(None, 0), mha_type_id=draw.pick(None, 0),
                bert_embeddings_layernorm_beta=weights(draw, beta), bert_embeddings_layernorm_gamma=weights(draw, gamma),
                bert_embeddings_word_embeddings=weights(draw, words), bert_embeddings_token_type_embeddings=weights(draw, types),
                bert_embeddings_position_embeddings=weights(draw, places))


def qkv(draw):
    s, b, heads, size = draw.size(1, 5), draw.size(1, 3), draw.size(1, 3), draw.size(1, 4)
    has_mask = draw.pick(None, 0, 1)
    inputs = [Value(draw.floats(s, b, 3 * heads * size, 1, 1), fixed=[2, 3, 4])]
    if has_mask:
        inputs.append(draw.ints(1, s + 1, *draw.pick((b,), (b, 1))))

    def want(x, ends=None):
        q, k, v = np.moveaxis(x.reshape(s, b, heads, 3, size), 3, 0)
        scores = np.einsum("sbnh,tbnh->bnst", q, k) / np.sqrt(size)
        if ends is not None:
            scores = np.where(np.arange(s) < ends.reshape(b, 1, 1, 1), scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("bnst,tbnh->sbnh", e / e.sum(-1, keepdims=True), v).reshape(s, b, heads * size, 1, 1).astype(F)
    return Case("CustomQKVToContextPluginDynamic", inputs, want, version=draw.pick("1", "4"), type_id=draw.pick(0, 1), hidden_size=heads * size, num_heads=heads,
                has_mask=has_mask, dq_probs=draw.pick(None, 0.1))


COUNTS = {"CustomQKVToContextPluginDynamic": 8}
OPERATORS = {
    "CustomEmbLayerNormPluginDynamic": embedding,
    "CustomFCPluginDynamic": fully_connected,
    "CustomGeluPluginDynamic": gelu,
    "CustomQKVToContextPluginDynamic": qkv,
    "CustomSkipLayerNormPluginDynamic": skip_layer_norm,
}
