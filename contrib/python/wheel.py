"""Makes a wheel of an installed Tenon and of the package tenon_engine.

    python wheel.py PREFIX PACKAGE OUTPUT

PREFIX   Folder that `cmake --install BUILD --prefix PREFIX` has filled.
PACKAGE  Folder that `cmake --install BUILD --component python --prefix PACKAGE` has filled.
OUTPUT   Folder for the wheel. Its path is printed.

The wheel contains the library, the plugins, the command, the headers and the CMake files. Plugins
that need libraries other than the C library are left out, with a message: a wheel cannot depend on
them. The platform tag follows from the newest version of a symbol of the C library. It is
linux_ARCH, which PyPI does not accept, if the command or the ONNX parser needs another library.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Libraries that each manylinux system has, of those that Tenon links.
SYSTEM = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}
OWN = {"libtenon.so.0"}
NEEDED_PLUGINS = {"onnx.so"}


def read_elf(path: Path) -> tuple[set[str], tuple[int, ...]]:
    """The libraries that a file needs, and the newest version of the C library's symbols."""
    text = subprocess.run(
        ["readelf", "--wide", "--dynamic", "--version-info", str(path)],
        check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"},
    ).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    versions = re.findall(r"Name: GLIBC_([0-9.]+)", text)
    newest = max((tuple(map(int, version.split("."))) for version in versions), default=(2, 0))
    return needed, newest


class Contents:
    """The files of the wheel by name, and what they need."""

    def __init__(self) -> None:
        self.files: dict[str, Path] = {}
        self.newest = (2, 17)  # the least that a tag can name
        self.foreign: set[str] = set()

    def add(self, name: str, path: Path, *, is_plugin: bool = False) -> None:
        path = path.resolve()
        with path.open("rb") as file:
            is_elf = file.read(4) == b"\x7fELF"
        if is_elf:
            needed, newest = read_elf(path)
            foreign = needed - SYSTEM - OWN
            if foreign and is_plugin and path.name not in NEEDED_PLUGINS:
                print(f"left out: {path.name}, which needs {', '.join(sorted(foreign))}",
                      file=sys.stderr)
                return
            self.foreign |= foreign
            self.newest = max(self.newest, newest[:2])
        self.files[name] = path

    def add_folder(self, name: str, folder: Path, *, is_plugin: bool = False) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.add(f"{name}/{path.relative_to(folder)}", path, is_plugin=is_plugin)

    def platform(self) -> str:
        machine = platform.machine()
        if self.foreign:
            print(f"not for PyPI: it needs {', '.join(sorted(self.foreign))}",
                  file=sys.stderr)
            return f"linux_{machine}"
        tag = f"manylinux_{self.newest[0]}_{self.newest[1]}_{machine}"
        return f"manylinux2014_{machine}.{tag}" if self.newest == (2, 17) else tag


def collect(prefix: Path, package: Path) -> Contents:
    contents = Contents()
    contents.add_folder("tenon_engine", package / "tenon_engine")
    # Wheels have no links: the file by which programs find the library at run time is the one.
    contents.add("tenon_engine/lib/libtenon.so.0", prefix / "lib/libtenon.so.0")
    contents.add_folder("tenon_engine/lib/tenon/plugins", prefix / "lib/tenon/plugins",
                        is_plugin=True)
    contents.add_folder("tenon_engine/lib/cmake", prefix / "lib/cmake")
    contents.add_folder("tenon_engine/include", prefix / "include")
    contents.add("tenon_engine/bin/tenon", prefix / "bin/tenon")
    return contents


def version_of(header: Path) -> str:
    text = header.read_text(encoding="utf-8")
    parts = (re.search(rf"TENON_VERSION_{part} (\d+)", text) for part in ("MAJOR", "MINOR", "PATCH"))
    return ".".join(part[1] for part in parts if part)


def metadata(version: str) -> str:
    readme = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    return f"""Metadata-Version: 2.1
Name: tenon-engine
Version: {version}
Summary: Tenon, an inference engine for ONNX, Caffe and UFF models
License: Apache-2.0
Requires-Python: >=3.11
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Description-Content-Type: text/markdown

{readme}"""


def write(contents: Contents, version: str, output: Path) -> Path:
    tags = contents.platform()
    name = f"tenon_engine-{version}"
    info = f"{name}.dist-info"
    texts = {
        f"{info}/METADATA": metadata(version),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tenon\nRoot-Is-Purelib: false\n"
        + "".join(f"Tag: cp311-abi3-{tag}\n" for tag in tags.split(".")),
        f"{info}/entry_points.txt": "[console_scripts]\ntenon = tenon_engine._command:main\n",
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
        f"{info}/licenses/NOTICE": (ROOT / "NOTICE").read_text(encoding="utf-8"),
    }
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{name}-cp311-abi3-{tags}.whl"
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:

        def put(name: str, data: bytes, mode: int = 0o644) -> None:
            # A fixed date: the same files make the same wheel.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")

        for file, source in contents.files.items():
            put(file, source.read_bytes(), 0o755 if os.access(source, os.X_OK) else 0o644)
        for file, text in texts.items():
            put(file, text.encode())
        record.append(f"{info}/RECORD,,\n")
        wheel.writestr(f"{info}/RECORD", "".join(record))
    return path


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    prefix, package, output = map(Path, sys.argv[1:])
    version = version_of(prefix / "include/tenon/tenon.h")
    print(write(collect(prefix, package), version, output))


if __name__ == "__main__":
    main()
