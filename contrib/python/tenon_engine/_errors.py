"""Exceptions: one class for each status of tenon.h."""

from __future__ import annotations

import enum


class Status(enum.IntEnum):
    """Status of a failed call: whose fault it is."""

    OK = 0
    INVALID_ARGUMENT = 1
    INVALID_STATE = 2
    INVALID_DATA = 3
    UNSUPPORTED = 4
    NOT_FOUND = 5
    OUT_OF_MEMORY = 6
    IO = 7
    DEVICE = 8
    DENIED = 9
    CANCELLED = 10
    INTERNAL = 11


class Error(Exception):
    """A call of Tenon has failed. Its text names the object, the values and the remedy."""

    status: Status

    def __init__(self, message: str = "", status: int = Status.INTERNAL) -> None:
        Exception.__init__(self, message)
        self.message = message
        self.status = Status(status)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type, tuple[str, int]]:
        return type(self), (self.message, int(self.status))


class InvalidArgumentError(Error, ValueError):
    """The program gave a wrong argument."""


class InvalidStateError(Error, RuntimeError):
    """The call is not possible now, or not in this order."""


class InvalidDataError(Error, ValueError):
    """The model, the plan or the data are broken or contradictory."""


class UnsupportedError(Error, NotImplementedError):
    """The model is valid, but no plugin computes it. The text lists all missing operators."""


class NotFoundError(Error, FileNotFoundError, LookupError):
    """A file, a name or a plugin is absent."""


class OutOfMemoryError(Error, MemoryError):
    """The memory does not suffice. The text names the number of bytes."""


class IOFailedError(Error, OSError):
    """Reading or writing has failed."""


class DeviceError(Error, RuntimeError):
    """A device or its library has failed."""


class DeniedError(Error, PermissionError):
    """A policy or a permission refuses it."""


class CancelledError(Error):
    """The program has cancelled the call."""


class InternalError(Error, RuntimeError):
    """A defect of Tenon or of a plugin. Report it with the text."""


# By status; _core raises them.
CLASSES = (
    Error,
    InvalidArgumentError,
    InvalidStateError,
    InvalidDataError,
    UnsupportedError,
    NotFoundError,
    OutOfMemoryError,
    IOFailedError,
    DeviceError,
    DeniedError,
    CancelledError,
    InternalError,
)
