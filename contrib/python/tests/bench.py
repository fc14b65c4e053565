"""The costs of a call from Python, beside C and ONNX Runtime.

    PYTHONPATH=build/python TENON_PLUGIN_PATH=build/plugins python3 bench.py [BENCH]

The network is one relu of 16 numbers, so the time of a call is nearly all overhead. BENCH: the
program that measures the same from C (build/tests/python_bench). The best of 9 repetitions counts.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Callable

import numpy
import tenon_engine as tenon
from support import engine_of, unary

CALLS = 5000


def best(function: Callable[[], object], calls: int = CALLS) -> float:
    """Microseconds of one call."""
    result = float("inf")
    for _ in range(9):
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        result = min(result, time.perf_counter() - begin)
    return result / calls * 1e6


def overhead() -> None:
    engine = engine_of(unary("standard.relu/1", shape=(1, 16)))
    context = engine.context(threads=1)
    model = tenon.Model(engine, run_threads=1)
    x = numpy.ones((1, 16), "f")
    context.set_input("x", x)
    context.run()
    rows = {
        "context.run()": context.run,
        "context(x)": lambda: context(x),
        "model(x=x)['y']": lambda: model(x=x)["y"],
        "numpy.empty": lambda: numpy.empty((1, 16), "f"),
    }
    for name, function in rows.items():
        print(f"{best(function):8.2f} us  {name}")
    if len(sys.argv) > 1:
        sys.stdout.flush()
        subprocess.run(sys.argv[1:], check=True)
    try:
        import onnx
        import onnxruntime
    except ImportError:
        return
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["y"])],
        "relu",
        [onnx.helper.make_tensor_value_info("x", 1, [1, 16])],
        [onnx.helper.make_tensor_value_info("y", 1, [1, 16])],
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    made.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    print(f"{best(lambda: session.run(None, {'x': x})):8.2f} us  ONNX Runtime's session.run")


def scaling() -> None:
    """Runs a second for 1, 2 and 4 threads, each with a context of one thread."""
    network = tenon.Network()
    x = y = network.input("x", "f32", (256, 256))
    for _ in range(4):
        y = network.add("standard.mat_mul/1", y, x)
    network.output(y, "y")
    model = tenon.Model(engine_of(network), run_threads=1)
    data = numpy.full((256, 256), 0.01, "f")
    for count in (1, 2, 4):
        done = [0] * count
        stop = time.perf_counter() + 1

        def work(index: int) -> None:
            while time.perf_counter() < stop:
                model(data)
                done[index] += 1

        threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(f"{sum(done):8} runs a second of {count} threads")


if __name__ == "__main__":
    overhead()
    scaling()
