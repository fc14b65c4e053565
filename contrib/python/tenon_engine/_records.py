"""Records that functions return: named tuples, which _core makes."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union


class IOInfo(NamedTuple):
    """An input or output of a network or an engine."""

    name: str
    #: "tensor", "sequence", "optional" or "optional_sequence"
    kind: str
    #: Element type, such as "f32".
    dtype: str
    #: Extents. A str is the name of a dynamic extent, None one without a name. None: unknown rank.
    shape: Optional[tuple[Union[int, str, None], ...]]


class PluginInfo(NamedTuple):
    """A file on the search path of plugins."""

    path: str
    name: str
    version: str
    vendor: str
    licence: str
    #: The reason and the remedy if the file is refused, else "".
    reason: str
    #: Lines of the manifest.
    offers: str
    #: Offers that are left out, each with its reason.
    left_out: str
    #: 0 available, 1 loaded, 2 refused
    state: int


class NodeType(NamedTuple):
    """One kind of node in a model's file."""

    domain: str
    type: str
    version: int
    count: int  # type: ignore[assignment]
    is_missing: bool
    node: str
    plugin: str
    message: str


class NetworkItem(NamedTuple):
    """An input, an output or a node of a network."""

    #: "input", "output" or "node"
    kind: str
    name: str
    #: Operator of a node, None for an expression or a move.
    op: Optional[str]
    text: Optional[str]
    input_names: tuple[str, ...]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    attributes: dict[str, Any]
    bodies: tuple[int, ...]
    depth: int


class StepInfo(NamedTuple):
    """One step of a plan."""

    name: str
    #: "kernel", "view", "contents", "choose", "repeat", "map" or "copy"
    kind: str
    kernel: str
    plugin: str
    tactic: str
    #: All nodes that it computes.
    nodes: str
    #: Fused arithmetic as text.
    expression: str
    inputs: str
    outputs: str
    layout: str
    measured_seconds: float
    refusals: str
    depth: int
    stream: int
    device: str
    #: Indices of the steps whose results it reads.
    sources: tuple[int, ...]


class BlockInfo(NamedTuple):
    """A block of the activations' memory."""

    name: str
    offset_bytes: int
    size_bytes: int
    first_step: int
    last_step: int


class EngineInfo(NamedTuple):
    """Properties and requirements of a plan."""

    device: str
    fingerprint: str
    plugins: str
    patches: str
    plan_bytes: int
    weights_bytes: int
    original_bytes: int
    uploaded_bytes: int
    arena_bytes: int
    scratch_bytes: int
    peak_alive_bytes: int
    state_bytes: int
    thread_count: int
    tuned_only: bool
    rebuilt: bool


class DeviceReading(NamedTuple):
    """Present state of a device; unknown members are 0."""

    clock_hertz: float
    memory_clock_hertz: float
    used_bytes: int
    peak_bytes: int
    free_bytes: int
    total_bytes: int


class StepWork(NamedTuple):
    """Work of one step in the last run."""

    #: Arithmetic operations; negative if it is not known.
    operations: float
    bytes_read: float
    bytes_written: float
    #: Bits of STEP_IS_*.
    flags: int


class RunTimes(NamedTuple):
    """Times of the last runs by the clock of the device."""

    run_count: int
    wait_count: int
    seconds: float
    transfer_in_seconds: float
    transfer_out_seconds: float
    inputs_on_host: int
    outputs_on_host: int


class CallInfo(NamedTuple):
    """The plugin's function that the calling thread is in."""

    plugin: str
    function: str
    item: str
    node: str
