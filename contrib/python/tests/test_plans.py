"""Plans as bytes and files, their engines, timing caches and samples."""

import math
import tempfile
import unittest
from pathlib import Path

import tenon_engine as tenon
from support import DIGITS, context_of, engine_of, needs_numpy, numpy, unary


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
        self.assertEqual(engine.input_range(0), (-math.inf, math.inf))
        self.assertEqual(engine.info().device, "cpu")
        self.assertTrue(engine.steps()[0].nodes and engine.blocks()[0].size_bytes)
        self.assertIn("convolution", engine.explain())
        self.assertIn("image", str(engine))
        self.assertGreaterEqual(engine.scratch_bytes(64), engine.scratch_bytes(1))
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
        with self.assertLogs("tenon", "INFO") as logs:
            tenon.build(
                network,
                permit=tenon.Permit.F16,
                samples=[{"image": images[:1]}, [images[1:2]]],
                no_measuring=True,
            )
        self.assertTrue(any("on 2 samples the results differ" in text for text in logs.output))


if __name__ == "__main__":
    unittest.main()
