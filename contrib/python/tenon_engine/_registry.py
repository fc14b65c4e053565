"""Registry: the plugins of the process, and where messages go."""

from __future__ import annotations

import json
import logging
import threading
from typing import Any, Callable, Optional, Sequence

from . import _core

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_logger = logging.getLogger("tenon")
# Without a handler of the program's, logging would print warnings; this is its own convention.
_logger.addHandler(logging.NullHandler())


def _log(severity: int, message: str) -> None:
    _logger.log(_LEVELS[severity], "%s", message)


class Registry(_core.Registry):
    """The plugins of the process. Looks for plugins; each is loaded when it is needed.

    paths       Folders with plugins, absolute. They are searched before TENON_PLUGIN_PATH and the
                folder beside the library. Operators that the program defines are always found.
    only_paths  True: `paths` and no others.
    digests     SHA-256 of the files that may be loaded; None: all.
    logger      Function of (severity, message), severity 0 debug, 1 information, 2 warning, 3
                error; None: no messages. Default: the logger "tenon" of logging. It may be called
                from any thread. The call that has caused the message raises its exception.
    set_aside   Absolute paths of files that are refused.
    prefer      Names of plugins whose converters, parsers and devices are used before those of
                others.
    """

    def __new__(
        cls,
        paths: Optional[Sequence[str]] = None,
        *,
        only_paths: bool = False,
        digests: Optional[Sequence[str]] = None,
        logger: Optional[Callable[[int, str], object]] = _log,
        set_aside: Optional[Sequence[str]] = None,
        prefer: Optional[Sequence[str]] = None,
    ) -> "Registry":
        if _folders:
            paths = [*(paths or ()), *_folders]
        return super().__new__(
            cls,
            paths,
            only_paths=only_paths,
            digests=digests,
            logger=logger,
            set_aside=set_aside,
            prefer=prefer,
        )

    def index(self) -> list[dict[str, Any]]:
        """All descriptors: operators, kernels, converters and so on. Loads all plugins."""
        return [json.loads(line) for line in self.index_text().splitlines()]

    def devices(self) -> list[dict[str, Any]]:
        """All devices with their fingerprints and health."""
        return [json.loads(line) for line in self.devices_text().splitlines()]


_lock = threading.Lock()
_default: Optional[Registry] = None
_folders: list[str] = []


def add_folder(folder: str) -> None:
    """A folder with plugins of the process, for all registries that are made afterwards."""
    global _default
    with _lock:
        if folder not in _folders:
            _folders.append(folder)
        _default = None


def default_registry() -> Registry:
    """The registry of functions and classes that are given none; made when it is first needed."""
    global _default
    with _lock:
        if _default is None:
            _default = Registry()
        return _default
