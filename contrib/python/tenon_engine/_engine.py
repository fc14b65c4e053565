"""Plan, TimingCache, Engine, Context: a built network, loaded and run."""

from __future__ import annotations

import enum
import os
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from . import _core
from ._network import Network
from ._registry import default_registry

Path = Union[str, "os.PathLike[str]"]
Range = Sequence[Any]

POLICIES = ("rebuild", "refuse", "accept")
VERIFICATIONS = ("none", "all", "read")


class Permit(enum.IntFlag):
    """Permitted losses of accuracy, used if they are faster."""

    TF32 = 1
    F16 = 2
    BF16 = 4
    NONDETERMINISTIC = 8
    NOTHING = 16


class StepFlag(enum.IntFlag):
    """Bits of StepWork.flags."""

    CONSTANT = 1
    COPY = 2
    REFERENCE = 4
    ELEMENTWISE = 8
    SHAPE = 16


def _profile(ranges: Mapping[str, Range]) -> dict[str, tuple[Any, Any, Any]]:
    """Each input's (min, optimum, max); one shape stands for all three."""
    made = {}
    if not isinstance(ranges, Mapping):
        raise TypeError("profile: a mapping from names of inputs to shapes is needed")
    for name, shapes in ranges.items():
        is_sequence = hasattr(shapes, "__len__")
        if is_sequence and (not len(shapes) or not hasattr(shapes[0], "__len__")):
            shapes = (shapes, shapes, shapes)
        if not is_sequence or len(shapes) != 3:
            raise ValueError(
                f"profile of '{name}': give one shape, or its minimum, optimum and maximum"
            )
        made[name] = tuple(shapes)
    return made


class TimingCache(_core.TimingCache):
    """Measured times of kernels on this machine, which make builds fast and repeatable."""

    def __new__(
        cls, path: Optional[Path] = None, *, registry: Optional[_core.Registry] = None
    ) -> "TimingCache":
        return super().__new__(cls, registry if registry is not None else default_registry(), path)


class Plan(_core.Plan):
    """A built network as bytes: bytes(plan), memoryview(plan), plan.save(path). See build()."""

    def __new__(
        cls,
        network: Network,
        *,
        profiles: Optional[Sequence[Mapping[str, Range]]] = None,
        samples: Optional[Sequence[Any]] = None,
        **options: Any,
    ) -> "Plan":
        # Copies: objects of the program that are read meanwhile could change them.
        if profiles is not None:
            options["profiles"] = [_profile(profile) for profile in profiles]
        if samples is not None:
            names = [info.name for info in network.inputs]
            options["samples"] = [
                [sample[name] for name in names] if isinstance(sample, Mapping) else list(sample)
                for sample in samples
            ]
        return super().__new__(cls, network, options)


def build(
    network: Network,
    *,
    profile: Optional[Mapping[str, Range]] = None,
    device: Optional[str] = None,
    threads: int = 0,
    permit: Permit = Permit(0),
    samples: Optional[Sequence[Any]] = None,
    timing_cache: Optional[TimingCache] = None,
    progress: Optional[Callable[[str, int, int], object]] = None,
    **options: Any,
) -> Plan:
    """Builds a network: optimises it, measures kernels and packs weights. Takes seconds to minutes.

    profile       For each input with dynamic extents its (min, optimum, max) shapes, or one shape
                  for all three. Other dynamic extents are 1.
    device        "cuda", "cuda:1"; None: the host.
    threads       To tune for; 0: the processors of the process.
    permit        Losses of accuracy, such as Permit.F16.
    samples       Inputs for which the error of `permit` is measured: each one a dict, or a list in
                  the order of the inputs.
    progress      Function of (phase, done, total); a true result cancels the build. So do an
                  exception in it and Ctrl-C, which are then raised.
    options       Other members of tenon_build_options_t by their names, such as no_measuring=True,
                  keep_refusals=True, exclude=["cpu:absolute"], time_budget_seconds=10,
                  blob_folder="/var/cache/x".
    """
    return Plan(
        network,
        profiles=[profile] if profile else None,
        device=device,
        thread_count=threads,
        permits=int(permit),
        samples=samples,
        timing_cache=timing_cache,
        progress=progress,
        **options,
    )


class Engine(_core.Engine):
    """A loaded plan, which threads share. Each run needs a Context.

    source        A Plan, the path of a plan's file, or its bytes, which the engine keeps.
    verify        "none", "all" (weights and plugins) or "read" (weights that each run reads).
    device_index  Which of the machine's devices, where it has several.
    plugins       If the plugins here are others: "rebuild", "refuse" or "accept".
    """

    def __new__(
        cls,
        source: Union[_core.Plan, Path, bytes],
        *,
        registry: Optional[_core.Registry] = None,
        verify: str = "none",
        device_index: int = 0,
        plugins: str = "rebuild",
    ) -> "Engine":
        if source is None:
            raise TypeError("NoneType is no source: give a Plan, a path or bytes")
        return super().__new__(
            cls,
            registry if registry is not None else default_registry(),
            source,
            verify=choice("verify", verify, VERIFICATIONS),
            device_index=device_index,
            plugins=choice("plugins", plugins, POLICIES),
        )

    def __str__(self) -> str:
        return self.text()

    def allocate(self, size_bytes: int) -> "_core.DeviceMemory":
        """Memory of the device that the plan was built for."""
        return _core.DeviceMemory(self, size_bytes)

    def context(self, *, threads: int = 0, stream: Optional[int] = None) -> "Context":
        """A context: see Context."""
        return Context(self, threads=threads, stream=stream)

    def refit(self, weights: Mapping[str, Any]) -> None:
        """Replaces weights by name; no context may be running."""
        for name, array in weights.items():
            self.set_weights(name, array)
        self.commit_weights()

    def explain(self) -> str:
        """The steps of the plan: device, kernel, measured time, nodes; one a line."""
        lines = []
        for index, step in enumerate(self.steps()):
            kernel = f"{step.plugin}:{step.kernel}" if step.kernel else step.kind
            time = f"{step.measured_seconds * 1e6:.1f} us" if step.measured_seconds else "-"
            lines.append(f"{index:4} {step.device:6} {kernel:32} {time:>12}  {step.nodes}")
        return "\n".join(lines)


class Context(_core.Context):
    """One execution of an engine: activations, states and threads. One thread at a time.

    context(x) or context(image=x) sets all inputs, runs, and returns the outputs as arrays that
    belong to the caller. The other methods control each part.

    threads  Threads of its kernels; 0: as many as the plan was tuned for.
    stream   Native handle of the caller's stream, such as a CUstream; None: one of its own.
    """

    def __new__(
        cls, engine: Engine, *, threads: int = 0, stream: Optional[int] = None
    ) -> "Context":
        return super().__new__(cls, engine, threads=threads, stream=stream)

    def read_state(self, name: str, dtype: Any, shape: Sequence[int]) -> Any:
        """A state as an array, of its declared type and shape; without NumPy a memoryview."""
        bits = _core.dtype_bits(dtype)
        count = 1
        for extent in shape:
            count *= extent
        data = bytearray((count * bits + 7) // 8)
        self.read_state_into(name, data)
        try:
            import numpy
        except ImportError:
            return memoryview(data)
        type_name = _core.dtype_numpy(dtype) or ""
        try:
            type_of = numpy.dtype(type_name)
        except TypeError:
            import ml_dtypes

            type_of = numpy.dtype(getattr(ml_dtypes, type_name))
        return numpy.frombuffer(data, type_of).reshape(tuple(shape))

    def write_state(self, name: str, array: Any) -> None:
        """Sets a state from an array of its declared type and shape."""
        try:
            memoryview(array)
        except (TypeError, ValueError, BufferError):
            array = array.view(f"u{array.dtype.itemsize}")
        if not memoryview(array).c_contiguous:
            array = array.copy()
        self.write_state_from(name, array)


def choice(name: str, value: str, choices: Sequence[str]) -> int:
    """The number of a choice; ValueError for others."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: use one of {', '.join(map(repr, choices))}")
    return choices.index(value)
