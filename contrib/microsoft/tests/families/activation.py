"""Activations."""
from drawing import Case, Value


def unary(op, **choices):
    def function(draw):
        x = draw.floats(*[draw.size(1, 5) for _ in range(draw.size(1, 4))], scale=3)
        return Case(op, [x], **{name: draw.pick(*values) for name, values in choices.items()})
    return function


def biased(op, probability):
    def function(draw):
        width = draw.size(1, 40)
        x = draw.floats(*[draw.size(1, 4) for _ in range(draw.size(1, 3))], width, scale=2)
        bias = draw.maybe(Value(draw.floats(width), weight=True), probability)
        return Case(op, [Value(x, fixed=[-1]), bias] if bias else [x])
    return function


OPERATORS = {
    "BiasGelu": biased("BiasGelu", 1),
    "FastGelu": biased("FastGelu", 0.5),
    "Gelu": unary("Gelu"),
    "QuickGelu": unary("QuickGelu", alpha=[None, 1.0, 1.3, -0.7]),
}
