"""The process that builds and runs models, see runner.c; and the comparison of its outputs."""
import contextlib
import os
import select
import struct
import subprocess

import numpy as np

DTYPES = [None, "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", None,
          "float32", "float64", "str"]
TEXTS = DTYPES.index("str")
REFIT_REFUSED = 100


def blob(data):
    return struct.pack("<I", len(data)) + data


def text(value):
    return blob(value.encode())


def tensor(value):
    if value.dtype == object:
        dtype, data = TEXTS, b"".join(text(str(t)) for t in value.ravel())
    else:
        dtype, data = DTYPES.index(value.dtype.name), np.ascontiguousarray(value).tobytes()
    return struct.pack(f"<II{value.ndim}q", dtype, value.ndim, *value.shape) + blob(data)


class Runner:
    def __init__(self, command, paths, log, timeout=60):
        self.command, self.log, self.timeout, self.process = command, log, timeout, None
        self.environment = dict(os.environ, TENON_PLUGIN_PATH=paths)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                            env=self.environment)

    def finish(self):
        """Ends the process as usual, so that a sanitizer can report leaks. Returns its exit status."""
        if self.process is None:
            return 0
        self.process.stdin.close()
        status = self.process.wait()
        self.process.stdout.close()
        self.process = None
        return status

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with contextlib.suppress(BrokenPipeError):  # what it did not read
                self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def read(self, size):
        parts = b""
        while len(parts) < size:
            if not select.select([self.process.stdout], [], [], self.timeout)[0]:
                raise TimeoutError
            part = os.read(self.process.stdout.fileno(), min(size - len(parts), 1 << 16))
            if not part:
                raise EOFError
            parts += part
        return parts

    def read_u32(self):
        return struct.unpack("<I", self.read(4))[0]

    def read_output(self):
        dtype, rank = self.read_u32(), self.read_u32()
        dims = struct.unpack(f"<{rank}q", self.read(8 * rank))
        data = self.read(self.read_u32())
        if dtype != TEXTS:
            return np.frombuffer(data, DTYPES[dtype]).reshape(dims)
        texts, at = [], 0
        while at < len(data):
            size = struct.unpack_from("<I", data, at)[0]
            texts.append(data[at + 4:at + 4 + size].decode())
            at += 4 + size
        return np.array(texts, object).reshape(dims)

    def run(self, options, model, feeds, ranges=(), weights=()):
        """(kind, message, outputs); kind: right, refused, refit-refused, crash, hang."""
        request = text(options) + blob(model) + struct.pack("<I", len(feeds))
        request += b"".join(text(name) + tensor(value) for name, value in feeds.items())
        request += struct.pack("<I", len(ranges))
        for name, points in ranges:
            rank = len(points[0])
            request += text(name) + struct.pack(f"<I{3 * rank}q", rank, *(d for point in points for d in point))
        request += struct.pack("<I", len(weights))
        request += b"".join(text(name) + blob(np.ascontiguousarray(value).tobytes()) for name, value in weights)
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(request)
            self.process.stdin.flush()
            status = self.read_u32()
            message = self.read(self.read_u32()).decode(errors="replace").strip().replace("\n", " | ")
            outputs = [self.read_output() for _ in range(self.read_u32())]
        except (EOFError, BrokenPipeError):
            status = self.process.wait()
            self.stop()
            return "crash", f"exit status {status}", []
        except TimeoutError:
            self.stop()
            return "hang", f"no result in {self.timeout} s", []
        if status == REFIT_REFUSED:
            return "refit-refused", message, []
        return ("refused", message, []) if status else ("right", "", outputs)


def tolerance_of(wanted):
    if wanted.dtype.kind != "f":
        return 0.0
    finite = np.abs(wanted[np.isfinite(wanted)].astype(np.float64))
    scale = max(float(finite.max()) if finite.size else 1.0, 1e-2)
    relative = 1e-2 if wanted.dtype == np.float16 else 1e-3
    return relative * np.abs(np.nan_to_num(wanted.astype(np.float64))) + relative / 5 * scale


def differs(name, output, wanted):
    """None, or (kind, message)."""
    if output.dtype != wanted.dtype:
        return "type", f"{name} is {output.dtype}, not {wanted.dtype}"
    if output.shape != wanted.shape:
        return "shape", f"{name} has shape {output.shape}, not {wanted.shape}"
    if wanted.size == 0:
        return None
    if wanted.dtype == object:
        is_wrong = np.asarray(output != wanted)
    else:
        a, b = output.astype(np.float64), wanted.astype(np.float64)
        with np.errstate(invalid="ignore"):
            is_wrong = ~((np.abs(a - b) <= tolerance_of(wanted)) | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not is_wrong.any():
        return None
    at = np.unravel_index(int(np.argmax(is_wrong)), wanted.shape)
    return "values", (f"{name}: {int(is_wrong.sum())} of {wanted.size} elements differ; element "
                      f"{tuple(int(k) for k in at)} is {output[at]!r}, not {wanted[at]!r}")
