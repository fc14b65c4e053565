#!/usr/bin/env python3
"""Adds the attribute block_size to the nodes of com.microsoft.nchwc that need it.

usage: block_size.py MODEL [SIZE]

ONNX Runtime's optimiser writes such nodes at level all. SIZE is 8 or 16. The default is the size that ONNX Runtime takes on the
processor that runs this program: 16 with AVX-512, else 8.
"""
import pathlib
import sys


def of_processor():
    return 16 if " avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else 8


def add(path, size):
    import onnx
    model = onnx.load(path, load_external_data=False)
    for node in model.graph.node:
        if node.domain == "com.microsoft.nchwc" and node.op_type in ("Conv", "ReorderInput"):
            node.attribute.append(onnx.helper.make_attribute("block_size", size))
    onnx.save(model, path)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    add(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else of_processor())
