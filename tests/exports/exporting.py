"""What the case files share: a case is a function that writes an ONNX file, and the inputs it runs on."""
import os
import signal

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


class Case:
    """`write(path)` exports; it returns the inputs as a list of arrays, in the order of the file."""

    def __init__(self, name, family, exporter, write, note=""):
        self.name, self.family, self.exporter, self.write, self.note = name, family, exporter, write, note


class Timeout(Exception):
    pass


def limited(seconds, function, *arguments):
    """Some exports do not end in a reasonable time."""
    def stop(*_):
        raise Timeout(f"more than {seconds} s")
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return function(*arguments)
    finally:
        signal.alarm(0)


def save_tensor(path, value, name):
    with open(path, "wb") as file:
        file.write(numpy_helper.from_array(np.asarray(value), name).SerializeToString())


def first_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:160]


def record(case, folder):
    """Exports the case, runs it in ONNX Runtime without optimisation, and keeps both. The facts of it."""
    facts = {"name": case.name, "family": case.family, "exporter": case.exporter, "note": case.note}
    os.makedirs(f"{folder}/test_data_set_0", exist_ok=True)
    path = f"{folder}/model.onnx"
    try:
        inputs = limited(240, case.write, path)
    except Exception as error:  # whatever an exporter throws is its reason
        return {**facts, "stage": "export", "reason": first_line(error)}
    model = onnx.load(path, load_external_data=False)
    facts["opset"] = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    facts["nodes"] = len(model.graph.node)
    try:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_inputs()]
        outputs = session.run(None, dict(zip(names, inputs)))
    except Exception as error:
        return {**facts, "stage": "ONNX Runtime", "reason": first_line(error)}
    for index, (name, value) in enumerate(zip(names, inputs)):
        save_tensor(f"{folder}/test_data_set_0/input_{index}.pb", value, name)
    for index, value in enumerate(outputs):
        if isinstance(value, np.ndarray):
            save_tensor(f"{folder}/test_data_set_0/output_{index}.pb", value, session.get_outputs()[index].name)
    facts["rows"] = [list(np.shape(value)) for value in outputs]
    return facts
