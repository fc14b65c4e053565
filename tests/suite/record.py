#!/usr/bin/env python3
"""Writes the backend cases of the installed onnx: OUT/node/NAME, OUT/simple/NAME, as ONNX's repository has them.

usage: record.py OUT
"""
import os
import shutil
import sys
import warnings

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.case.node import collect_testcases
except ImportError as error:
    print(f"skipped: {error}; scripts/python-environment makes an environment with onnx")
    sys.exit(77)


def proto_of(value, info):
    if isinstance(value, onnx.TensorProto):
        return value
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    return numpy_helper.from_array(np.asarray(value), info.name)


def write(case, folder):
    os.makedirs(folder)
    onnx.save(case.model, os.path.join(folder, "model.onnx"))
    for number, data in enumerate(case.data_sets):
        path = os.path.join(folder, f"test_data_set_{number}")
        os.makedirs(path)
        for kind, values, infos in zip(("input", "output"), data, (case.model.graph.input, case.model.graph.output)):
            for index, (value, info) in enumerate(zip(values, infos)):
                with open(os.path.join(path, f"{kind}_{index}.pb"), "wb") as file:
                    file.write(proto_of(value, info).SerializeToString())


def main(out):
    warnings.simplefilter("ignore")
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "simple")
    shutil.copytree(data, os.path.join(out, "simple"))
    for case in collect_testcases(None):
        write(case, os.path.join(out, "node", case.name))


main(*sys.argv[1:])
