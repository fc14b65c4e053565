"""Callbacks, signals and exceptions."""

import logging
import os
import pickle
import signal
import threading
import unittest

import tenon_engine as tenon
from support import DIGITS, engine_of, needs_numpy, numpy, unary


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


if __name__ == "__main__":
    unittest.main()
