"""Tenon, an inference engine: import tenon_engine as tenon

    model = tenon.load("model.onnx")
    scores = model(image=x)["scores"]
"""

from __future__ import annotations

import collections.abc

from ._core import (
    DeviceMemory,
    Outputs,
    Tensor,
    Value,
    current_call,
    digest_file,
    dtype_bits,
    dtype_name,
    dtype_numpy,
    sniff_plan,
    status_text,
    version,
)
from ._engine import Context, Engine, Permit, Plan, StepFlag, TimingCache, build
from ._errors import (
    CancelledError,
    DeniedError,
    DeviceError,
    Error,
    InternalError,
    InvalidArgumentError,
    InvalidDataError,
    InvalidStateError,
    IOFailedError,
    NotFoundError,
    OutOfMemoryError,
    Status,
    UnsupportedError,
)
from ._model import Model, load
from ._network import Body, Network
from ._operators import operator
from ._records import (
    BlockInfo,
    CallInfo,
    DeviceReading,
    EngineInfo,
    IOInfo,
    NetworkItem,
    NodeType,
    PluginInfo,
    RunTimes,
    StepInfo,
    StepWork,
)
from ._registry import Registry, default_registry

__version__ = version()
collections.abc.Mapping.register(Outputs)

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("annotations", "collections")]
