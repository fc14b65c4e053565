"""Draws numbers for random cases, and collects the functions that draw cases. Of the tests of contributions."""
import importlib

import numpy as np


class Value:
    """An input. weight: constant in most cases; const: in all; fixed: axes of known extent; keep: no f16."""

    def __init__(self, array, weight=False, const=False, fixed=(), keep=False):
        self.array = np.asarray(array)
        self.weight = weight
        self.const = const
        self.fixed = range(self.array.ndim) if fixed == "all" else [axis % self.array.ndim for axis in fixed]
        self.keep = keep


class Draw:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def floats(self, *shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def uniform(self, low, high, *shape):
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def ints(self, low, high, *shape, dtype=np.int32):
        """low to high - 1."""
        return self.rng.integers(low, high, shape).astype(dtype)

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def size(self, low=1, high=6):
        """low to high."""
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability=0.5):
        return bool(self.rng.random() < probability)

    def maybe(self, value, probability=0.5):
        return value if self.chance(probability) else None

    def number(self, low, high):
        """A number with three digits, as people write thresholds."""
        return round(float(self.rng.uniform(low, high)), 3)


def families(folder):
    """OPERATORS of all modules in the folder `families`: name to function."""
    operators = {}
    for path in sorted((folder / "families").glob("*.py")):
        module = importlib.import_module(f"families.{path.stem}")
        for name, function in getattr(module, "OPERATORS", {}).items():
            assert name not in operators, f"{name} is in two families"
            operators[name] = function
    return operators
