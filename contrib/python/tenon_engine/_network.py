"""Network: parsed from a model, or built layer by layer."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from . import _core
from ._core import Value
from ._errors import NotFoundError, Status
from ._registry import default_registry

Shape = Sequence[Union[int, str, None]]

_INT, _FLOAT, _STRING, _INTS, _FLOATS, _STRINGS, _DTYPE = range(1, 8)
_KINDS = {"tensor": 1, "sequence": 2, "optional": 3, "optional_sequence": 5}


def _attribute(name: str, value: Any) -> tuple[str, int, Any]:
    """The kind of an attribute by its value; the operator converts whole numbers to floats."""
    if isinstance(value, type):
        return name, _DTYPE, value
    if isinstance(value, bool):
        return name, _INT, int(value)
    if isinstance(value, str):
        return name, _STRING, value
    if isinstance(value, float):
        return name, _FLOAT, value
    if hasattr(value, "__index__"):
        return name, _INT, int(value)
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist"):
        items = value.tolist() if hasattr(value, "tolist") else list(value)
        if not isinstance(items, list):
            return _attribute(name, items)
        if any(isinstance(item, str) for item in items):
            return name, _STRINGS, items
        if any(isinstance(item, float) for item in items):
            return name, _FLOATS, items
        return name, _INTS, items
    return name, _DTYPE, value


class Body:
    """A body of a control node; `number` is valid after the `with` block."""

    def __init__(self, network: "Network") -> None:
        self._network = network
        self._failed = False
        self.number: Optional[int] = None

    def parameter(
        self,
        name: Optional[str] = None,
        dtype: Any = None,
        shape: Shape = (),
        *,
        like: Optional[Value] = None,
        kind: str = "tensor",
    ) -> Value:
        """A parameter with a type, or with the type of the value `like` of an enclosing graph."""
        return self._network.body_parameter(name, _KINDS[kind], dtype, shape, like)

    def result(self, value: Value) -> None:
        """Adds a result."""
        self._network.body_result(value)

    def fail(self, status: int, message: str) -> None:
        """Ends the body as one that cannot run: a run that takes it fails so."""
        self.number = self._network.fail_body(int(status), message)
        self._failed = True


class Network(_core.Network):
    """Operators and values as a model has them, still without kernels.

    source    None: an empty network, to be built layer by layer. Else a path, or the bytes of a
              model, which the network keeps.
    format    "onnx", "caffe", "uff"; None: recognised by the first bytes.
    shapes    Extents of inputs that the model leaves open: {"image": (1, 3, 224, 224)}; None as
              an extent stays dynamic.
    values    Inputs that become constants: {"axes": array}.
    parts     More files of one model, such as a caffemodel.
    settings  Options of the parser, "name=value".
    """

    def __new__(
        cls,
        source: Union[str, os.PathLike[str], bytes, None] = None,
        *,
        registry: Optional[_core.Registry] = None,
        **options: Any,
    ) -> "Network":
        return super().__new__(cls, registry if registry is not None else default_registry())

    def __init__(
        self,
        source: Union[str, os.PathLike[str], bytes, None] = None,
        *,
        registry: Optional[_core.Registry] = None,
        name: Optional[str] = None,
        format: Optional[str] = None,
        shapes: Optional[Mapping[str, Shape]] = None,
        values: Optional[Mapping[str, Any]] = None,
        parts: Optional[Sequence[str]] = None,
        settings: Optional[Sequence[str]] = None,
    ) -> None:
        if source is not None:
            self.parse(
                source,
                name=name,
                format=format,
                shapes=dict(shapes) if shapes is not None else None,
                values=dict(values) if values is not None else None,
                parts=parts,
                settings=settings,
            )
            self._check_names(shapes, values)

    def _check_names(self, shapes: Any, values: Any) -> None:
        """The parser ignores shapes of inputs that the model does not have."""
        names = [info.name for info in self.inputs]
        for name in shapes or ():
            if name not in names and name not in (values or ()):
                raise NotFoundError(
                    f"shapes: there is no input '{name}'; the inputs are: {', '.join(names)}",
                    Status.NOT_FOUND,
                )

    @property
    def inputs(self) -> list[Any]:
        """The inputs, as IOInfo."""
        return self.input_list()

    @property
    def outputs(self) -> list[Any]:
        """The outputs, as IOInfo."""
        return self.output_list()

    def __str__(self) -> str:
        return self.text()

    def value_names(self) -> list[str]:
        """The names of all values, in an order in which they can be computed."""
        return self.values_text().splitlines()

    def input(self, name: str, dtype: Any, shape: Shape, *, kind: str = "tensor") -> Value:
        """Adds an input. Extents are int; a str names a dynamic extent, None is one without name.

        Equal names are equal extents. `kind` may be "sequence", "optional" or
        "optional_sequence"; dtype and shape are then those of its tensors.
        """
        return self.add_input(name, _KINDS[kind], dtype, shape)

    def constant(
        self, array: Any, name: Optional[str] = None, *, dtype: Any = None, copy: bool = True
    ) -> Value:
        """Adds a constant. `copy=False`: the network reads and keeps the array itself, which must
        not change."""
        return self.add_constant(array, name, dtype, not copy)

    def output(self, value: Value, name: str) -> None:
        """Makes a value an output."""
        self.add_output(value, name)

    def add(
        self,
        op: str,
        *inputs: Optional[Value],
        name: Optional[str] = None,
        outputs: Optional[int] = None,
        bodies: Sequence[Union[Body, int]] = (),
        **attributes: Any,
    ) -> Any:
        """Adds a node: add("standard.relu/1", x). None is an absent input.

        Without `outputs` it returns the first output. With a number it returns a tuple of so many;
        variadic outputs, and those of control nodes, need it. Attributes are keywords; a type of
        NumPy stands for an element type.
        """
        numbers = tuple(body.number if isinstance(body, Body) else int(body) for body in bodies)
        made = self.add_node(
            op,
            name,
            inputs,
            [_attribute(key, value) for key, value in attributes.items()],
            numbers,
            1 if outputs is None else outputs,
            bool(numbers) and outputs is not None,
        )
        return made[0] if outputs is None else made

    def expression(self, text: str, *, name: Optional[str] = None, **inputs: Value) -> Value:
        """Adds an expression: expression("y = x * sigmoid(x)", x=x). It fuses with its neighbours
        and runs on every device."""
        return self.add_expression(text, list(inputs), list(inputs.values()), name)

    @contextlib.contextmanager
    def body(self, name: Optional[str] = None) -> Iterator[Body]:
        """A body for a control node. All calls in the `with` block build the body."""
        self.begin_body(name)
        body = Body(self)
        try:
            yield body
        except BaseException:
            if not body._failed:
                self.cancel_body()
            raise
        if not body._failed:
            body.number = self.end_body()

    def state(self, name: str, dtype: Any, shape: Shape, initial: Any = None) -> Value:
        """Adds a state and returns its value at the start of a run. It begins with `initial`, or
        with zeros; write_state(name, value) gives the value for the next run."""
        return self.add_state(name, dtype, shape, initial)
