#!/usr/bin/env python3
"""Writes random cases of each operator.

usage: record.py OUT [--count N] [--seed S] [--only NAME...] [--largest BYTES]

OUT/GROUP/NAME_INDEX has model.onnx and test_data_set_0; OUT/GROUP/tolerance the options for `tenon suite`.
"""
import argparse
import pathlib
import shutil
import sys

try:
    import drawing
except ImportError as error:
    print(f"skipped: {error}; scripts/python-environment makes an environment with onnx")
    sys.exit(77)

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--count", type=int, default=0, help="cases of each operator (default: 4, or as COUNTS says)")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--only", nargs="*")
parser.add_argument("--largest", type=int, default=0, help="fail if a case has more bytes")
arguments = parser.parse_args()
out = pathlib.Path(arguments.out)
operators = drawing.families()
counts = drawing.counts()
failures = 0
total = 0
for name in arguments.only or operators:
    for index in range(arguments.count or counts.get(name, 4)):
        for group in drawing.GROUPS:
            shutil.rmtree(out / group / f"{name}_{index}", ignore_errors=True)
        try:
            folder = drawing.write_case(out, name, operators[name], arguments.seed, index)
        except Exception as error:  # references raise many types
            print(f"{name}_{index}: {type(error).__name__}: {str(error)[:400]}")
            failures += 1
            continue
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        total += size
        if arguments.largest and size > arguments.largest:
            print(f"{name}_{index} has {size} bytes")
            failures += 1
for group, (rtol, atol) in drawing.GROUPS.items():
    if (out / group).is_dir():
        (out / group / "tolerance").write_text(f"--rtol {rtol}" + (f" --atol {atol}" if atol else "") + "\n")
print(f"{total} bytes of cases, {failures} failures")
sys.exit(failures > 0)
