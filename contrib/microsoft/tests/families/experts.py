"""Mixtures of experts."""
import numpy as np

from drawing import Case, Value

ACTIVATIONS = ("relu", "gelu", "silu", "identity", "swiglu")


def setting(draw, most):
    """Tokens, experts, and attributes that both operators have."""
    tokens, experts = [draw.size(1, 6)] if draw.chance(.6) else [draw.size(1, 2), draw.size(1, 4)], draw.size(2, most)
    activation = draw.pick(*ACTIVATIONS)
    attributes = {"k": draw.size(1, min(3, experts)), "activation_type": activation,
                  "normalize_routing_weights": draw.pick(0, 1)}
    if activation == "swiglu":
        attributes |= {"swiglu_fusion": 1, "activation_alpha": draw.pick(None, 1.5), "activation_beta": draw.pick(None, .5),
                       "swiglu_limit": draw.pick(None, .7)}
    return tokens, experts, 2 if activation == "swiglu" else 1, attributes


def moe(draw):
    tokens, experts, fusion, attributes = setting(draw, 5)
    hidden, inner = draw.size(1, 6), draw.size(1, 6)
    # ONNX Runtime's CPU provider has neither a third layer nor halves one behind the other.
    has_third = draw.chance(.3)
    if fusion == 2:
        attributes["swiglu_fusion"] = 0 if has_third else draw.pick(1, 2)
        fusion = 1 if has_third else 2

    def layer(outputs, depth):
        return [Value(draw.floats(experts, outputs, depth), weight=True, fixed="all"),
                draw.maybe(Value(draw.floats(experts, outputs), weight=True, fixed="all"))]

    def want(x, scores, first, first_bias, second, second_bias, *third):
        return mixed(x, scores, first, first_bias, second, second_bias, attributes, *third)

    inputs = [Value(draw.floats(*tokens, hidden), fixed=[-1]), Value(draw.floats(int(np.prod(tokens)), experts), fixed=[-1]),
              *layer(fusion * inner, hidden), *layer(hidden, inner), *(layer(inner, hidden) if has_third else [])]
    is_ours = has_third or attributes.get("swiglu_fusion") == 2
    return Case("MoE", inputs, half=False, want=want if is_ours else None, **attributes)


def weights_of(data, scales, zeros, bits):
    """Dequantises [experts, outputs, bytes]."""
    numbers = np.stack([data >> bit & ((1 << bits) - 1) for bit in range(0, 8, bits)], -1)
    numbers = numbers.reshape(*data.shape[:2], -1).astype(np.float64)
    scales = scales.reshape(*data.shape[:2], -1)
    repeats = numbers.shape[2] // scales.shape[2]
    middle = float(1 << (bits - 1))
    if zeros is not None:
        rows = data.shape[:2] if zeros.ndim == 2 else [*data.shape[:2], scales.shape[2]]
        middle = np.stack([zeros >> bit & ((1 << bits) - 1) for bit in range(0, 8, bits)], -1).reshape(*zeros.shape[:-1], -1)
        middle = np.repeat(middle[..., :rows[-1]].reshape(*scales.shape), repeats, -1)
    return (numbers - middle) * np.repeat(scales, repeats, -1)


def mixed(x, scores, first, first_bias, second, second_bias, attributes, third=None, third_bias=None):
    """The outputs for weights of floats."""
    rows = x.reshape(-1, x.shape[-1]).astype(np.float64)
    out = np.zeros_like(rows)
    alpha, beta, limit = (attributes.get(name) for name in ("activation_alpha", "activation_beta", "swiglu_limit"))
    for token, row in enumerate(rows):
        chosen = np.argsort(-scores[token])[:attributes["k"]]
        shares = np.exp(scores[token] - scores[token].max())
        whole = shares[chosen].sum() if attributes["normalize_routing_weights"] else shares.sum()
        for expert, share in zip(chosen, shares[chosen] / whole):
            other = None if third is None else third[expert] @ row + (0 if third_bias is None else third_bias[expert])
            h = first[expert] @ row + (0 if first_bias is None else first_bias[expert])
            if attributes["activation_type"] == "swiglu":
                half = len(h) // 2
                gate, linear = [(h, other), (h[0::2], h[1::2]), (h[:half], h[half:])][attributes["swiglu_fusion"]]
                if limit is not None:
                    gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
                h = gate / (1 + np.exp(-(1 if alpha is None else alpha) * gate)) * (linear + (beta or 0))
            else:
                h = {"relu": lambda z: np.maximum(z, 0), "silu": lambda z: z / (1 + np.exp(-z)), "identity": lambda z: z,
                     "gelu": lambda z: z / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + .044715 * z ** 3)))
                     }[attributes["activation_type"]](h) * (1 if other is None else other)
            out[token] += share * (second[expert] @ h + (0 if second_bias is None else second_bias[expert]))
    return out.reshape(x.shape).astype(np.float32)


def q_moe(draw):
    tokens, experts, fusion, attributes = setting(draw, 3)
    attributes["normalize_routing_weights"] = 1  # ONNX Runtime ignores 0
    bits, block, hidden, inner = draw.pick(2, 4, 8), draw.pick(None, 16, 32), 32, 32

    def layer(outputs, depth):
        blocks = [depth // block] if block else []
        return [Value(draw.ints(0, 256, experts, outputs, depth * bits // 8, dtype=np.uint8), const=True),
                Value(draw.uniform(.002, .02, experts, outputs, *blocks), const=True),
                draw.maybe(Value(draw.floats(experts, outputs), const=True))]

    def zeros(outputs, depth):
        count = [outputs, -(-(depth // block) * bits // 8)] if block else [-(-outputs * bits // 8)]
        return Value(draw.ints(0, 256, experts, *count, dtype=np.uint8), const=True)

    def want(x, scores, data_1, scales_1, bias_1, data_2, scales_2, bias_2, *rest):
        zeros_1, zeros_2 = rest[3:5] if len(rest) > 3 else (None, None)
        return mixed(x, scores, weights_of(data_1, scales_1, zeros_1, bits), bias_1, weights_of(data_2, scales_2, zeros_2, bits),
                     bias_2, attributes)

    has_zeros = draw.chance(.3)
    inputs = [Value(draw.floats(*tokens, hidden), fixed=[-1]), Value(draw.floats(int(np.prod(tokens)), experts), fixed=[-1]),
              *layer(fusion * inner, hidden), *layer(hidden, inner), None, None, None,
              *([zeros(fusion * inner, hidden), zeros(hidden, inner)] if has_zeros else [])]
    # ONNX Runtime rounds tokens to 8 bits for weights of 8 bits in blocks.
    return Case("QMoE", inputs, half=False, want=want if bits == 8 and block else None, expert_weight_bits=bits, block_size=block,
                weights_prepacked=0, **attributes)


OPERATORS = {"MoE": moe, "QMoE": q_moe}
