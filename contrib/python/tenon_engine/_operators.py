"""Operators that the program defines."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any, Optional, Sequence, Union

from . import _core, _registry

_FOLDER = Path(__file__).with_name("operators")
_NAME = re.compile(r"[A-Za-z_]\w*")
_known: dict[str, tuple[Any, ...]] = {}
_lock = threading.Lock()


def _default_text(value: Any) -> tuple[int, Optional[str]]:
    """Kind and text of an attribute's default; a type stands for a required attribute."""
    kinds = {bool: 1, int: 1, float: 2, str: 3}
    if isinstance(value, type):
        return kinds[value], None
    if isinstance(value, str):
        return 3, f"'{value}'"
    if isinstance(value, (list, tuple)):
        is_float = any(isinstance(item, float) for item in value)
        return (5 if is_float else 4), "[" + ", ".join(repr(item) for item in value) + "]"
    return kinds[type(value)], repr(int(value) if isinstance(value, bool) else value)


def _names(text: str, attributes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Inputs and outputs of "let t = a * b; y = t + c": names that no statement defines, and those
    that are defined without `let`."""
    inputs: list[str] = []
    local: list[str] = []
    outputs: list[str] = []
    for statement in text.split(";"):
        target, separator, body = statement.partition("=")
        if not statement.strip():
            continue
        if not separator or not target.strip():
            raise ValueError(f"'{statement.strip()}' defines nothing: write 'y = ...'")
        for match in _NAME.finditer(re.sub(r"'[^']*'", "", body)):
            name = match[0]
            is_function = body[match.end() :].lstrip().startswith("(")
            is_number = match.start() > 0 and body[match.start() - 1].isdigit()
            if is_function or is_number or name in attributes or name in inputs + local + outputs:
                continue
            inputs.append(name)
        words = target.split()
        (local if words[0] == "let" else outputs).append(words[-1])
    return inputs, outputs


def operator(
    name: str,
    expression: str,
    *,
    inputs: Optional[Sequence[str]] = None,
    attributes: Optional[dict[str, Union[int, float, str, Sequence[Any], type]]] = None,
    types: str = "float",
    shape: Optional[str] = None,
    traits: Optional[str] = None,
    summary: str = "",
) -> str:
    """Defines an operator by an expression, and returns its identity, such as "acme.swish/1".

        swish = tenon.operator("acme.swish", "y = x * sigmoid(beta * x)", attributes={"beta": 1.0})
        y = network.add(swish, x, beta=2.0)

    It fuses with its neighbours, on every device. The ONNX node acme::swish maps to it. The
    language is that of plugins (sdk/docs/expressions.md); a fault in the text is reported when
    the operator is used. Registries that are made afterwards have it, and the default registry is
    made anew.

    name        "domain.name", with "/1" or another version.
    expression  One statement for each output; "let t = ..." names a part.
    inputs      Names of the inputs in order. None: in the order of the text.
    attributes  Defaults by name. A type, such as float, is a required attribute.
    types       Element types of the inputs and the output, which are equal: "float", "f32 f64 i32".
    shape       Shape rule, if it does not follow from the expression.
    traits      Declared properties, such as "in_place(input=0)".
    """
    identity = name if "/" in name else f"{name}/1"
    if not re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+/[1-9]\d*", identity):
        raise ValueError(f"'{name}' is no name of an operator: use 'domain.name' or 'domain.name/1'")
    attributes = dict(attributes or {})
    found, outputs = _names(expression, list(attributes))
    ports = tuple((port, "T") for port in (found if inputs is None else inputs))
    definition = (
        identity,
        summary,
        types,
        ports,
        tuple((port, "T") for port in outputs),
        tuple((key, *_default_text(value)) for key, value in attributes.items()),
        expression,
        shape,
        traits,
    )
    with _lock:
        if _known.get(identity) != definition:
            _known[identity] = definition
            _core.offer_operators(str(_FOLDER / "python.so"), list(_known.values()))
            _registry.add_folder(str(_FOLDER))
    return identity
