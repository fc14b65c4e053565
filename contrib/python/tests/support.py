"""What the tests share: small networks, and parts that may be missing."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

import tenon_engine as tenon

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

ROOT = Path(__file__).resolve().parents[3]
DIGITS = ROOT / "sdk/demo/digits"

needs_numpy = unittest.skipIf(numpy is None, "NumPy is not installed")
needs_ml_dtypes = unittest.skipIf(ml_dtypes is None, "ml_dtypes is not installed")


def unary(op: str = "standard.neg/1", dtype: str = "f32", shape: Any = (2, 3)) -> tenon.Network:
    """y = op(x)"""
    network = tenon.Network()
    x = network.input("x", dtype, shape)
    network.output(network.add(op, x), "y")
    return network


def engine_of(network: tenon.Network, **options: Any) -> tenon.Engine:
    options.setdefault("no_measuring", True)
    options.setdefault("threads", 1)
    return tenon.Engine(tenon.build(network, **options), registry=network.registry)


def context_of(network: tenon.Network, **options: Any) -> tenon.Context:
    return engine_of(network, **options).context(threads=1)
