"""load: a model or a plan, ready to be called."""

from __future__ import annotations

import collections
import logging
import os
import threading
from typing import Any, Mapping, Optional, Sequence, Union

from . import _core
from ._engine import POLICIES, VERIFICATIONS, Context, Engine, Path, Plan, Range, TimingCache
from ._engine import build, choice
from ._errors import InvalidArgumentError, InvalidStateError, NotFoundError, Status
from ._network import Network, Shape
from ._registry import default_registry

_logger = logging.getLogger("tenon")


class Model:
    """A model that can be called by several threads at once: model(image=x)["scores"].

    Inputs are given by position or by name: arrays of NumPy, or objects with the buffer protocol,
    __dlpack__ or __cuda_array_interface__. Memory is used in place if it is row-major at a
    multiple of 16 bytes. Outputs are new arrays that belong to the caller.

    Each call takes a free context, or makes one. A model with states has one context, so that its
    calls follow each other; use context() for more.
    """

    def __init__(
        self,
        engine: Optional[Engine],
        *,
        plan: Optional[Plan] = None,
        network: Optional[Network] = None,
        run_threads: int = 0,
        options: Optional[dict[str, Any]] = None,
        engine_options: Optional[dict[str, Any]] = None,
        cache_path: Optional[Path] = None,
    ) -> None:
        self._engine = engine
        self._plan = plan
        self._network = network
        source = network if network is not None else engine
        self._inputs = source.inputs if source is not None else ()
        self._outputs = source.outputs if source is not None else ()
        self._run_threads = run_threads
        self._options = options or {}
        self._engine_options = engine_options or {}
        self._cache_path = cache_path
        self._ranges: dict[str, tuple[tuple[int, ...], ...]] = {}
        self._lock = threading.RLock()
        self._free: collections.deque[Context] = collections.deque()
        self._has_states = engine is not None and engine.info().state_bytes > 0

    # ---- Calls ----

    def __call__(self, /, *inputs: Any, **named: Any) -> "_core.Outputs":
        if self._network is not None:
            self._fit(inputs, named)
        if self._has_states:
            with self._lock:
                return self._state_context()(*inputs, **named)
        free = self._free
        try:
            context = free.pop()
        except IndexError:
            context = self.context()
        try:
            return context(*inputs, **named)
        finally:
            free.append(context)  # of another engine, if the model was built again meanwhile

    def run(self, inputs: Mapping[str, Any]) -> "_core.Outputs":
        """The same with the inputs in a mapping, for names that are no identifiers."""
        return self(**inputs)

    def _state_context(self) -> Context:
        if not self._free:
            self._free.append(self.context())
        return self._free[0]

    def reset_states(self) -> None:
        """Restores the initial values of the states."""
        with self._lock:
            if self._has_states:
                self._state_context().reset_states()

    # ---- Building ----

    def _build(self, network: Network, profile: Optional[Mapping[str, Range]]) -> None:
        plan = build(network, profile=profile, **self._options)
        if self._cache_path is not None:
            self._options["timing_cache"].save(self._cache_path)
        self._engine = Engine(plan, registry=network.registry, **self._engine_options)
        self._plan = plan
        self._free = collections.deque()
        self._has_states = self._engine.info().state_bytes > 0

    def _build_once(self, profile: Optional[Mapping[str, Range]]) -> None:
        """Builds, and keeps that engine for all calls."""
        assert self._network is not None
        self._build(self._network, profile)
        assert self._engine is not None
        self._inputs, self._outputs = self._engine.inputs, self._engine.outputs
        self._network = None

    def _check(self, inputs: Sequence[Any], given: Mapping[str, Any]) -> None:
        """Fails before a build that a wrong call would cost."""
        names = [info.name for info in self._inputs]
        if len(inputs) > len(names):
            raise InvalidArgumentError(
                f"{len(inputs)} inputs are given: the model has {len(names)}",
                Status.INVALID_ARGUMENT,
            )
        for name in given:
            if name not in names:
                raise NotFoundError(
                    f"there is no input '{name}'; the inputs are: {', '.join(names)}",
                    Status.NOT_FOUND,
                )
        for name in names:
            if name not in given:
                raise InvalidStateError(f"input '{name}' is not given", Status.INVALID_STATE)

    def _fit(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Builds for the shapes of this call if the ranges of the last build exclude them."""
        network = self._network
        assert network is not None
        with self._lock:
            given = dict(zip((info.name for info in self._inputs), inputs))
            given.update(named)
            if self._engine is None:
                self._check(inputs, given)
            ranges = dict(self._ranges)
            for info in self._inputs:
                if info.shape is None or info.name not in given:
                    continue
                if all(isinstance(extent, int) for extent in info.shape):
                    continue
                shape = _shape_of(given[info.name])
                if shape is None or (len(shape) != len(info.shape) and info.kind != "tensor"):
                    continue
                if len(shape) != len(info.shape):
                    raise InvalidArgumentError(
                        f"input '{info.name}' has rank {len(shape)}, the model expects "
                        f"{len(info.shape)}",
                        Status.INVALID_ARGUMENT,
                    )
                old = ranges.get(info.name)
                least = old[0] if old else shape
                most = old[2] if old else shape
                wider = tuple(map(min, least, shape)), tuple(map(max, most, shape))
                if old is None or wider != (least, most):
                    ranges[info.name] = (wider[0], shape, wider[1])
            if self._engine is not None and ranges == self._ranges:
                return
            if self._has_states:
                return  # the states would be lost: the call fails, and says which range holds
            if self._engine is not None:
                _logger.info(
                    "the shapes %s are outside of the profile: building again; give profile= to "
                    "load() to build once",
                    {name: shapes[1] for name, shapes in ranges.items()},
                )
            self._build(network, ranges)
            self._ranges = ranges

    # ---- Parts ----

    def __repr__(self) -> str:
        return f"<tenon Model ({_text_of(self._inputs)}) -> ({_text_of(self._outputs)})>"

    @property
    def engine(self) -> Engine:
        """The engine. A model with dynamic extents that load() got no profile for has none before
        its first call."""
        if self._engine is None:
            raise InvalidStateError(
                "the model is built by its first call, for the shapes of its inputs: call it, or "
                "give profile= to load()",
                Status.INVALID_STATE,
            )
        return self._engine

    @property
    def inputs(self) -> Sequence[Any]:
        """The inputs, as IOInfo."""
        return self._inputs

    @property
    def outputs(self) -> Sequence[Any]:
        """The outputs, as IOInfo."""
        return self._outputs

    def context(self, *, threads: Optional[int] = None) -> Context:
        """A context of the caller's own: its states and its outputs are not shared."""
        return Context(self.engine, threads=self._run_threads if threads is None else threads)

    def explain(self) -> str:
        """The steps of the plan, one a line."""
        return self.engine.explain()

    def save(self, path: Path) -> None:
        """Writes the plan, from which load() starts in milliseconds."""
        if self._engine is not None and self._plan is None:
            raise InvalidStateError(
                "the model was loaded from a plan: copy its file", Status.INVALID_STATE
            )
        _ = self.engine  # fails before the first call
        self._plan.save(path)


def _text_of(infos: Sequence[Any]) -> str:
    """Names, types and extents, "?" for those without a name."""
    texts = []
    for info in infos:
        extents = ("?" if extent is None else str(extent) for extent in info.shape or ())
        shape = "" if info.shape is None else f"[{', '.join(extents)}]"
        kind = "" if info.kind == "tensor" else f"{info.kind} of "
        texts.append(f"{info.name}: {kind}{info.dtype}{shape}")
    return ", ".join(texts)


def _shape_of(value: Any) -> Optional[tuple[int, ...]]:
    shape = getattr(value, "shape", None)
    if shape is None:
        try:
            shape = memoryview(value).shape
        except TypeError:
            try:
                import numpy
            except ImportError:
                return None  # the run's message is better
            shape = numpy.shape(value)
    return tuple(int(extent) for extent in shape or ())


def _is_plan(source: Any) -> bool:
    if isinstance(source, (str, os.PathLike)):
        try:
            with open(source, "rb") as file:
                return _core.sniff_plan(file.read(8))
        except OSError:
            return False  # the parser's message is better
    try:
        return _core.sniff_plan(memoryview(source)[:8])
    except TypeError:
        raise TypeError(
            f"{type(source).__name__} is no source: give a path, bytes or a Plan"
        ) from None


def load(
    source: Union[Path, bytes, Plan],
    *,
    registry: Optional[_core.Registry] = None,
    profile: Optional[Mapping[str, Range]] = None,
    shapes: Optional[Mapping[str, Shape]] = None,
    values: Optional[Mapping[str, Any]] = None,
    parts: Optional[Sequence[str]] = None,
    format: Optional[str] = None,
    settings: Optional[Sequence[str]] = None,
    threads: int = 0,
    timing_cache: Union[TimingCache, Path, None] = None,
    verify: str = "none",
    plugins: str = "rebuild",
    **options: Any,
) -> Model:
    """Loads a model or a plan: load("m.onnx")(image=x)["scores"].

    source        Path or bytes of a model (ONNX, Caffe, UFF) or of a plan; or a Plan.
    profile       For each input with dynamic extents its (min, optimum, max) shapes, or one shape.
                  Without a profile, the first call builds for its shapes, and a call outside of
                  all shapes so far builds again. A message of the logger "tenon" reports that.
    shapes, values, parts, format, settings
                  Options of the parser, see Network.
    threads       Threads of each run; 0: the processors of the process.
    timing_cache  A TimingCache, or the path of one, which is read and extended.
    verify, plugins
                  Options of a plan, see Engine.
    options       Options of build(), such as device="cuda" or permit=Permit.F16.

    A plan is built already: with `source` a plan, the options of the parser and of a build are a
    TypeError.
    """
    if registry is None:
        registry = default_registry()
    parse_options = {
        "shapes": shapes, "values": values, "parts": parts, "format": format, "settings": settings,
    }
    engine_options = {"verify": verify, "plugins": plugins}
    if isinstance(source, _core.Plan) or _is_plan(source):
        options.update(parse_options, profile=profile, timing_cache=timing_cache)
        given = [repr(name) for name, value in options.items() if value is not None]
        if given:
            raise TypeError(f"a plan is built already: {', '.join(given)} cannot change it")
        engine = Engine(source, registry=registry, **engine_options)
        return Model(engine, run_threads=threads)
    for name in options:
        if name not in build.__kwdefaults__ and name not in _core.option_names():
            raise TypeError(f"'{name}' is no option of a build")
    choice("verify", verify, VERIFICATIONS)
    choice("plugins", plugins, POLICIES)
    network = Network(source, registry=registry, **parse_options)
    path = None
    if timing_cache is not None and not isinstance(timing_cache, _core.TimingCache):
        path = timing_cache
        timing_cache = TimingCache(path, registry=registry)
    options.update(threads=threads, timing_cache=timing_cache)
    is_open = any(
        info.shape is None or not all(isinstance(extent, int) for extent in info.shape)
        for info in network.inputs
    )
    model = Model(
        None,
        network=network,
        run_threads=threads,
        options=options,
        engine_options=engine_options,
        cache_path=path,
    )
    if not is_open or profile is not None:
        model._build_once(profile)
    return model
