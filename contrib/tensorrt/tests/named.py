#!/usr/bin/env python3
"""Reads the tables of operators in the README and builds each operator with each version that they name.

usage: named.py TENON TESTS

A recorded case of the operator gives the node. Each named version must be built, in each domain of the row; version 99 must be refused. The
exit status is 1 if one is not, 77 if onnx is not installed.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

try:
    import onnx
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ROW = re.compile(r"^\| ([A-Za-z0-9_, ]+) \| ([0-9, ]+) \|")
APART = ("ScatterElements", "ScatterND", "Split")


def with_version(path, version, domain):
    """The case with the version and the domain, and the extents of its data."""
    model = onnx.load(path)
    node = model.graph.node[0]
    for k, value in enumerate(model.graph.input):
        data = onnx.TensorProto()
        with open(os.path.join(os.path.dirname(path), "test_data_set_0", f"input_{k}.pb"), "rb") as file:
            data.ParseFromString(file.read())
        for extent, number in zip(value.type.tensor_type.shape.dim, data.dims):
            extent.dim_value = number
    kept = [a for a in node.attribute if a.name != "plugin_version"]
    del node.attribute[:]
    node.attribute.extend(kept)
    node.attribute.append(onnx.helper.make_attribute("plugin_version", version))
    if node.domain != "mmdeploy":
        node.domain = domain
        del model.opset_import[1:]
        if domain:
            model.opset_import.append(onnx.helper.make_opsetid(domain, 1))
    return model


def build(tenon, model):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        done = subprocess.run([tenon, "build", path, "-o", path + ".plan", "--no-measuring", "--no-cache"], capture_output=True, text=True,
                              errors="replace", timeout=60, check=False)
    return done.returncode, done.stderr


def main():
    tenon, tests = sys.argv[1:]
    with open(os.path.join(tests, "..", "README.md"), encoding="utf-8") as file:
        rows = [match.groups() for match in map(ROW.match, file) if match]
    built, failures = 0, 0
    for names, versions in rows:
        for name in names.split(", "):
            cases = sorted(glob.glob(os.path.join(tests, "cases", "*", f"{name}_0", "model.onnx")))
            if not cases:
                print(f"{name} has no recorded case")
                failures += 1
                continue
            for version in versions.split(", ") + ["99"]:
                domain = ("TRT", "trt.plugins", "TRT" if name in APART else "")[built % 3]
                status, text = build(tenon, with_version(cases[0], version, domain))
                built += 1
                if version == "99":
                    is_right = status == 3 and "plugin_version = '99' is not supported" in text
                else:
                    is_right = status == 0
                if not is_right:
                    failures += 1
                    print(f"{name}, version {version}, domain '{domain}': status {status}: {text.strip()[-300:]}")
    print(f"{len(rows)} rows, {built} nodes, {failures} failures")
    return 1 if failures or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
