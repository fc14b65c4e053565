"""Callbacks, signals, exceptions, loading and properties of engines."""

import gc
import logging
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import tenon_engine as tenon
from support import DIGITS, context_of, engine_of, needs_numpy, numpy, unary


class Callbacks(unittest.TestCase):
    def test_messages_go_to_logging(self):
        with self.assertLogs("tenon", logging.ERROR) as logs:
            with self.assertRaises(tenon.Error) as caught:
                tenon.Network("nowhere.onnx")
        self.assertIn(str(caught.exception), logs.output[0])

    def test_a_logger_of_the_program(self):
        seen = []
        registry = tenon.Registry(logger=lambda severity, text: seen.append((severity, text)))
        with self.assertRaises(tenon.Error):
            tenon.Network("nowhere.onnx", registry=registry)
        self.assertEqual(seen[-1][0], 3)
        self.assertIn("nowhere.onnx", seen[-1][1])

    def test_an_exception_of_the_logger_is_raised(self):
        def logger(severity, text):
            if severity == 3:
                raise KeyError(text)

        registry = tenon.Registry(logger=logger)
        with self.assertRaises(KeyError):
            tenon.Network("nowhere.onnx", registry=registry)
        # It is raised once.
        tenon.Network(DIGITS / "model.onnx", registry=registry)

    def test_progress(self):
        seen = []
        tenon.build(unary(), no_measuring=True, progress=lambda *call: seen.append(call))
        self.assertTrue({"optimise", "choose"} <= {phase for phase, _, _ in seen})

    def test_progress_cancels(self):
        with self.assertRaises(tenon.CancelledError):
            tenon.build(unary(), progress=lambda phase, done, total: True)

    def test_an_exception_of_progress_is_raised(self):
        def progress(phase, done, total):
            raise ZeroDivisionError(phase)

        with self.assertRaises(ZeroDivisionError):
            tenon.build(unary(), progress=progress)

    def test_an_interrupt_cancels_a_build(self):
        def progress(phase, done, total):
            os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            tenon.build(unary(), progress=progress)

    def test_an_interrupt_from_outside_cancels_a_long_build(self):
        network = tenon.Network(DIGITS / "model.onnx")
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            while True:
                tenon.build(network)
        timer.join()

    @needs_numpy
    def test_the_profiler_sees_each_step(self):
        engine = engine_of(unary())
        context = engine.context()
        seen = []
        context.set_profiler(lambda step, seconds: seen.append((step, seconds >= 0)))
        context(numpy.zeros((2, 3), "f"))
        self.assertEqual(sorted(seen), [(i, True) for i in range(len(engine.steps()))])
        context.set_profiler(None)
        context(numpy.zeros((2, 3), "f"))
        self.assertEqual(len(seen), len(engine.steps()))

        def profiler(step, seconds):
            raise ValueError(step)

        context.set_profiler(profiler)
        with self.assertRaises(ValueError):
            context(numpy.zeros((2, 3), "f"))
        context.set_profiler(None)
        self.assertEqual(context(numpy.zeros((2, 3), "f"))["y"].shape, (2, 3))
        with self.assertRaises(TypeError):
            context.set_profiler(3)


class Errors(unittest.TestCase):
    def test_classes(self):
        for cls, base in (
            (tenon.InvalidArgumentError, ValueError),
            (tenon.InvalidStateError, RuntimeError),
            (tenon.UnsupportedError, NotImplementedError),
            (tenon.NotFoundError, FileNotFoundError),
            (tenon.OutOfMemoryError, MemoryError),
            (tenon.IOFailedError, OSError),
            (tenon.DeniedError, PermissionError),
        ):
            self.assertTrue(issubclass(cls, base) and issubclass(cls, tenon.Error))
            error = pickle.loads(pickle.dumps(cls("words", 3)))
            self.assertEqual((type(error), str(error), error.status), (cls, "words", 3))
        self.assertEqual(tenon.status_text(3), "invalid data")

    def test_wrong_options(self):
        with self.assertRaisesRegex(TypeError, "'fast' is no option"):
            tenon.build(unary(), fast=True)
        with self.assertRaisesRegex(ValueError, "verify='maybe'"):
            tenon.Engine(tenon.build(unary(), no_measuring=True), verify="maybe")
        with self.assertRaisesRegex(ValueError, "profile of 'x'"):
            tenon.build(unary(), profile={"x": ((1, 2), (3, 4))})
        engine = engine_of(unary())
        for number in (-1, 2**32):
            for use in (
                lambda: engine.context(threads=number),
                lambda: engine.scratch_bytes(number),
                lambda: engine.context().step_work(number),
                lambda: engine.context().set_timing(number),
                lambda: tenon.build(unary(), threads=number),
                lambda: unary().body_items(number),
            ):
                with self.assertRaises(OverflowError):
                    use()
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "no such"):
            tenon.build(unary(), exclude=["no such"])


class Plans(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "digits.plan"

    def tearDown(self):
        self.folder.cleanup()

    @needs_numpy
    def test_a_plan_as_bytes_and_as_a_file(self):
        plan = tenon.build(unary(), no_measuring=True)
        plan.save(self.path)
        data = bytes(plan)
        self.assertEqual(self.path.read_bytes(), data)
        self.assertEqual(len(plan), len(data))
        self.assertTrue(tenon.sniff_plan(data) and not tenon.sniff_plan(b"something"))
        x = numpy.ones((2, 3), "f")
        for source in (plan, data, bytearray(data), self.path, str(self.path)):
            self.assertEqual(tenon.load(source)(x)["y"].tolist(), (-x).tolist())
        engine = tenon.Engine(memoryview(data), verify="all", plugins="refuse")
        engine.verify()
        with self.assertRaises(tenon.InvalidDataError):
            tenon.Engine(data[:-100])

    def test_a_timing_cache(self):
        path = Path(self.folder.name) / "cache"
        cache = tenon.TimingCache(path)
        first = tenon.build(tenon.Network(DIGITS / "model.onnx"), timing_cache=cache)
        self.assertGreater(len(cache), 0)
        cache.save(path)
        again = tenon.TimingCache(path)
        second = tenon.build(tenon.Network(DIGITS / "model.onnx"), timing_cache=again)
        self.assertEqual(bytes(first), bytes(second))

    def test_properties(self):
        network = tenon.Network(DIGITS / "model.onnx")
        profile = {"image": ((1, 1, 8, 8), (2, 1, 8, 8), (4, 1, 8, 8))}
        engine = tenon.Engine(tenon.build(network, profile=profile, no_measuring=True))
        self.assertEqual(engine.profile("image"), profile["image"])
        self.assertEqual(engine.input_range(0), (-numpy.inf, numpy.inf) if numpy else engine.input_range(0))
        self.assertEqual(engine.info().device, "cpu")
        self.assertTrue(engine.steps()[0].nodes and engine.blocks()[0].size_bytes)
        self.assertIn("convolution", engine.explain())
        self.assertIn("image", str(engine))
        self.assertGreaterEqual(engine.scratch_bytes(2), 0)
        self.assertEqual(engine.read_device().used_bytes, 0)
        self.assertEqual(len(tenon.digest_file(DIGITS / "model.onnx")), 64)
        self.assertIsNone(tenon.current_call())

    @needs_numpy
    def test_refit(self):
        network = tenon.Network()
        x = network.input("x", "f32", (2,))
        w = network.constant(numpy.array([2, 3], "f"), "w")
        network.output(network.add("standard.mul/1", x, w), "y")
        engine = engine_of(network)
        self.assertEqual(engine.weights(), ["w"])
        one = numpy.ones(2, "f")
        self.assertEqual(engine.context()(one)["y"].tolist(), [2, 3])
        engine.refit({"w": numpy.array([[5, 0], [7, 0]], "f")[:, 0]})
        self.assertEqual(engine.context()(one)["y"].tolist(), [5, 7])
        with self.assertRaises(tenon.InvalidArgumentError):
            engine.set_weights("w", numpy.zeros(3, "f"))
        with self.assertRaises(MemoryError):
            engine.set_weights("w", numpy.broadcast_to(numpy.float32(1), (2**60,)))

    def test_samples_that_grow_while_they_are_read(self):
        class Sample:
            def __dlpack_device__(self):
                return y.__dlpack_device__()

            def __dlpack__(self, **options):
                samples[0].extend([data] * 10000)
                return y.__dlpack__(**options)

        data = memoryview(bytes(24)).cast("f", (2, 3))
        context = context_of(unary())
        context.set_input(0, data)
        context.run()
        y = context.output(0, copy=False)
        for make in (tenon.Plan, tenon.build):
            samples = [[Sample()]]
            self.assertGreater(len(make(unary(), samples=samples, no_measuring=True)), 0)
            self.assertEqual(len(samples[0]), 10001)

    @needs_numpy
    def test_samples_measure_the_error(self):
        network = tenon.Network(DIGITS / "model.onnx", shapes={"image": (1, 1, 8, 8)})
        images = numpy.load(DIGITS / "test_images.npy").astype("f")[:2] / 255
        plan = tenon.build(
            network,
            permit=tenon.Permit.F16,
            samples=[{"image": images[:1]}, [images[1:2]]],
            no_measuring=True,
        )
        self.assertGreater(len(plan), 0)


class Registries(unittest.TestCase):
    def test_plugins_devices_and_index(self):
        registry = tenon.default_registry()
        self.assertIn("standard", [plugin.name for plugin in registry.plugins()])
        self.assertIn("cpu", [device["device"] if "device" in device else device["name"]
                              for device in registry.devices()])
        self.assertTrue(any(item["kind"] == "operator" for item in registry.index()))
        self.assertIn("plugins", registry.paths_text())

    def test_only_listed_plugins(self):
        registry = tenon.Registry(digests=["0" * 64], logger=None)
        self.assertTrue(all(plugin.reason for plugin in registry.plugins()))

    def test_preferred_plugins(self):
        registry = tenon.Registry(prefer=["cpu", "standard"], logger=None)
        self.assertEqual([plugin.name for plugin in registry.plugins()][:2], ["cpu", "standard"])
        with self.assertRaisesRegex(tenon.NotFoundError, "preferred plugin 'absent'"):
            tenon.Registry(prefer=["absent"], logger=None)

    def test_objects_are_released_in_any_order(self):
        registry = tenon.Registry(logger=None)
        network = tenon.Network(DIGITS / "model.onnx", registry=registry)
        plan = tenon.build(network, no_measuring=True)
        engine = tenon.Engine(bytearray(plan), registry=registry)
        context = engine.context()
        del registry, network, plan, engine
        gc.collect()
        context.set_input(0, memoryview(bytes(256)).cast("f", (1, 1, 8, 8)))
        context.run()
        y = context.output(0, copy=False)
        del context
        gc.collect()
        self.assertAlmostEqual(sum(y.tolist()[0]), 1, 3)

    def test_cycles_are_collected(self):
        class Holder:
            pass

        holder = Holder()
        holder.registry = tenon.Registry(logger=lambda severity, text: holder)
        holder.engine = engine_of(
            tenon.Network(DIGITS / "model.onnx", registry=holder.registry)
        )
        dead = []
        holder.context = holder.engine.context()
        holder.context.set_profiler(lambda step, seconds: holder)
        import weakref

        weakref.finalize(holder, dead.append, 1)
        del holder
        gc.collect()
        self.assertEqual(dead, [1])


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


def long_running():
    """A run of many steps, each of milliseconds."""
    network = tenon.Network()
    x = y = network.input("x", "f32", (256, 256))
    for _ in range(8):
        y = network.add("standard.softmax/1", network.add("standard.mat_mul/1", y, x), axis=1)
    network.output(y, "y")
    return context_of(network, no_fusion=True, reference_only=True), numpy.ones((256, 256), "f")


if __name__ == "__main__":
    unittest.main()
