"""Binary PGM pictures: 8 bits a pixel, no comments in the header."""

import re

import numpy as np

HEADER = re.compile(rb"P5\s+(\d+)\s+(\d+)\s+255\s")


def write_pgm(path, pixels):
    """Writes a height x width array of uint8."""
    assert pixels.dtype == np.uint8 and pixels.ndim == 2
    height, width = pixels.shape
    with open(path, "wb") as out:
        out.write(b"P5\n%d %d\n255\n" % (width, height))
        out.write(pixels.tobytes())


def read_pgm(path):
    """Returns a height x width array of uint8."""
    with open(path, "rb") as source:
        content = source.read()
    header = HEADER.match(content)
    if not header:
        raise ValueError(f"{path}: not a binary PGM with 8 bits a pixel")
    width, height = int(header[1]), int(header[2])
    return np.frombuffer(content, np.uint8, width * height, header.end()).reshape(height, width)
