"""Threads that share networks, engines, contexts and models."""

import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import tenon_engine as tenon
from support import DIGITS, context_of, engine_of, needs_numpy, numpy, unary


def long_running():
    """A run of many steps, each of milliseconds."""
    network = tenon.Network()
    x = y = network.input("x", "f32", (256, 256))
    for _ in range(8):
        y = network.add("standard.softmax/1", network.add("standard.mat_mul/1", y, x), axis=1)
    network.output(y, "y")
    return context_of(network, no_fusion=True, reference_only=True), numpy.ones((256, 256), "f")


class Threads(unittest.TestCase):
    def test_a_logger_may_wait_while_another_thread_builds_a_network(self):
        """The thread that logs holds the catalogue's lock, which the other thread needs."""
        program = """
import sys, threading, time, tenon_engine as tenon
waits = threading.Event()
def logger(severity, text):
    if "declines" in text:
        waits.set()
        time.sleep(0.2)
registry = tenon.Registry([sys.argv[1]], logger=logger)
thread = threading.Thread(target=registry.index)
thread.start()
assert waits.wait(60)
network = tenon.Network(registry=registry)
assert network.has_operator("standard.relu/1")
network.expression("z = y + y", y=network.add("standard.relu/1", network.input("x", "f32", (2,))))
tenon.TimingCache(registry=registry)
thread.join()
"""
        # Without a definition the plugin of the program's operators declines, with a warning.
        folder = Path(tenon.__file__).with_name("operators")
        subprocess.run([sys.executable, "-c", program, str(folder)], check=True, timeout=60)

    def test_a_network_belongs_to_one_call(self):
        network = unary()
        seen = []

        def progress(phase, done, total):
            for use in (network.text, lambda: network.input("z", "f32", ()), lambda: x.shape,
                        lambda: tenon.build(network)):
                try:
                    use()
                except tenon.InvalidStateError as error:
                    seen.append(str(error))

        x = network.input("w", "f32", (2,))
        tenon.build(network, progress=progress, no_measuring=True)
        self.assertTrue(len(seen) >= 4 and len(seen) % 4 == 0)
        self.assertTrue(all("using this network" in text for text in seen))
        self.assertIn("neg", network.text())
        with self.assertRaises(TypeError):
            tenon.build(network, fast=True)
        self.assertIn("neg", network.text())

    @needs_numpy
    def test_four_threads_share_a_model(self):
        model = tenon.load(DIGITS / "model.onnx", shapes={"image": (1, 1, 8, 8)}, threads=1)
        images = numpy.load(DIGITS / "test_images.npy").astype("f")[:40] / 255
        expected = [model(image[None])[0] for image in images]
        failures = []

        def work():
            for _ in range(10):
                for image, wanted in zip(images, expected):
                    if not numpy.array_equal(model(image[None])[0], wanted):
                        failures.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertLessEqual(len(model._free), 4)

    @needs_numpy
    def test_a_context_belongs_to_one_thread(self):
        context, x = long_running()
        seen = []

        def other():
            while not started.is_set():
                pass
            for use in (context.run, lambda: context.set_input(0, x), lambda: context.output(0)):
                try:
                    use()
                except tenon.InvalidStateError as error:
                    seen.append(str(error))
            for use in (context.engine.commit_weights, lambda: context.engine.set_weights("w", x)):
                try:
                    use()
                except tenon.InvalidStateError as error:
                    refused.append(str(error))
            context.cancel()

        refused = []
        started = threading.Event()
        context.set_profiler(lambda step, seconds: started.set())
        thread = threading.Thread(target=other)
        thread.start()
        with self.assertRaises(tenon.CancelledError):
            while True:
                context(x)
        thread.join()
        self.assertTrue(seen and all("a context of its own" in text for text in seen))
        self.assertTrue(refused and all("is running" in text for text in refused))
        context.engine.commit_weights()

    @needs_numpy
    def test_a_context_belongs_to_one_call_while_it_reads_arrays(self):
        context = context_of(unary(shape=(4,)))
        x = numpy.ones(4, "f")
        context.set_input(0, x)
        context.run()
        seen = []

        class Slow:
            """Another thread uses the context before the memory is known."""

            def __dlpack_device__(self):
                return x.__dlpack_device__()

            def __dlpack__(self, **options):
                nonlocal asked
                asked += 1

                def other():
                    for use in (context.run, context.enqueue, context.times,
                                lambda: context.output(0), lambda: context(x),
                                lambda: twin.clone_states(context)):
                        try:
                            use()
                        except tenon.InvalidStateError as error:
                            seen.append(str(error))

                thread = threading.Thread(target=other)
                thread.start()
                thread.join()
                return x.__dlpack__(**options)

        twin = context.engine.context()
        asked = 0
        self.assertEqual(context(Slow())["y"].tolist(), [-1] * 4)
        context.set_input(0, Slow())
        # NumPy's older versions refuse the first request, and are asked again.
        self.assertEqual(len(seen), 6 * asked)
        self.assertTrue(asked >= 2 and all("a context of its own" in text for text in seen))
        context.run()

    @needs_numpy
    def test_a_refit_keeps_calls_out(self):
        network = tenon.Network()
        w = numpy.ones(1 << 22, "f")
        network.output(network.add("standard.mul/1", network.input("x", "f32", (1,)),
                                   network.constant(w, "w")), "y")
        engine = engine_of(network)
        context = engine.context(threads=1)
        context.set_input(0, numpy.ones(1, "f"))
        refused = {}
        calls = {"run": context.run, "context": engine.context, "verify": engine.verify,
                 "refit": lambda: engine.refit({"w": w})}

        def refit():
            while len(refused) < len(calls) and time.monotonic() < stop:
                try:
                    engine.refit({"w": w})
                except tenon.InvalidStateError:
                    pass  # the other thread runs

        stop = time.monotonic() + 60
        thread = threading.Thread(target=refit)
        thread.start()
        while thread.is_alive():
            for name, call in calls.items():
                try:
                    call()
                except tenon.InvalidStateError as error:
                    if "replaces weights" in str(error):
                        refused[name] = str(error)
        thread.join()
        self.assertEqual(set(refused), set(calls))
        engine.refit({"w": 2 * w})
        context.run()
        self.assertEqual(context.output(0)[-1], 2)

    @needs_numpy
    def test_enqueue_and_synchronize(self):
        context = context_of(unary(shape=(4,)))
        context.set_input(0, numpy.ones(4, "f"))
        context.enqueue()
        context.synchronize()
        self.assertEqual(context.output(0).tolist(), [-1] * 4)
        context.enqueue()
        context.set_input(0, numpy.zeros(4, "f"))
        context.run()
        self.assertEqual(context.output(0).tolist(), [0] * 4)
        self.assertIsNone(context.stream())
        context.enqueue()
        with self.assertRaisesRegex(tenon.InvalidStateError, "is running"):
            context.engine.commit_weights()
        context.synchronize()
        context.engine.commit_weights()
        context.enqueue()
        engine = context.engine
        del context
        engine.commit_weights()
        context = engine.context()
        context.set_input(0, numpy.zeros(4, "f"))
        context.run()
        with self.assertRaises(tenon.InvalidStateError):
            context.set_timing(1)
        self.assertGreater(context.step_work(0).bytes_read, 0)


if __name__ == "__main__":
    unittest.main()
