"""Models: load, dynamic shapes, recorded results, and ONNX Runtime if it is installed."""

import collections.abc
import tempfile
import unittest
from pathlib import Path

import tenon_engine as tenon
from support import DIGITS, needs_numpy, numpy

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


@needs_numpy
class Digits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = numpy.load(DIGITS / "test_images.npy").astype("f") / 255
        cls.labels = numpy.load(DIGITS / "test_labels.npy").reshape(-1)

    def test_classifies(self):
        model = tenon.load(DIGITS / "model.onnx")
        scores = model(image=self.images)["probabilities"]
        self.assertEqual((scores.argmax(1) == self.labels).sum(), 593)

    @unittest.skipIf(onnxruntime is None, "ONNX Runtime is not installed")
    def test_equals_onnx_runtime(self):
        session = onnxruntime.InferenceSession(
            str(DIGITS / "model.onnx"), providers=["CPUExecutionProvider"]
        )
        (expected,) = session.run(None, {"image": self.images[:50]})
        scores = tenon.load(DIGITS / "model.onnx")(self.images[:50])[0]
        numpy.testing.assert_allclose(scores, expected, atol=1e-5)

    def test_shapes_without_a_profile(self):
        model = tenon.load(DIGITS / "model.onnx", no_measuring=True)
        with self.assertRaisesRegex(tenon.InvalidStateError, "first call"):
            model.engine
        self.assertEqual(model.inputs[0].name, "image")
        with self.assertLogs("tenon", "INFO") as logs:
            for count in (2, 1, 2, 5, 3):
                self.assertEqual(model(self.images[:count])[0].shape, (count, 10))
        again = [text for text in logs.output if "building again" in text]
        self.assertEqual(len(again), 2)
        self.assertEqual(model.engine.profile(0)[0], (1, 1, 8, 8))
        self.assertEqual(model.engine.profile(0)[2], (5, 1, 8, 8))

    def test_shapes_with_a_profile(self):
        model = tenon.load(
            DIGITS / "model.onnx",
            profile={"image": [(1, 1, 8, 8), (2, 1, 8, 8), (4, 1, 8, 8)]},
            no_measuring=True,
        )
        self.assertEqual(model(self.images[:4])[0].shape, (4, 10))
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "image"):
            model(self.images[:5])

    def test_wrong_calls_cost_no_build(self):
        model = tenon.load(DIGITS / "model.onnx", no_measuring=True)
        one = self.images[:1]
        for call, error, text in (
            (lambda: model(img=one), tenon.NotFoundError, "no input 'img'; the inputs are: image"),
            (lambda: model(), tenon.InvalidStateError, "input 'image' is not given"),
            (lambda: model(one, one), tenon.InvalidArgumentError, "2 inputs are given"),
            (lambda: model(one[0]), tenon.InvalidArgumentError, "rank 3, the model expects 4"),
            (lambda: model.run({"self": one}), tenon.NotFoundError, "no input 'self'"),
            (lambda: model.save("nowhere"), tenon.InvalidStateError, "first call"),
        ):
            with self.assertRaisesRegex(error, text):
                call()
            with self.assertRaisesRegex(tenon.InvalidStateError, "first call"):
                model.engine
        self.assertEqual(repr(model), "<tenon Model (image: f32[batch, 1, 8, 8]) -> "
                                      "(probabilities: f32[batch, 10])>")

    def test_wrong_options_of_load(self):
        path = DIGITS / "model.onnx"
        plan = tenon.build(tenon.Network(path), no_measuring=True)
        for call, error, text in (
            (lambda: tenon.load(None), TypeError, "NoneType is no source"),
            (lambda: tenon.Engine(None), TypeError, "NoneType is no source"),
            (lambda: tenon.load(path, fast=True), TypeError, "'fast' is no option"),
            (lambda: tenon.load(path, verify="maybe"), ValueError, "verify='maybe'"),
            (lambda: tenon.load(path, shapes={"img": (1, 1, 8, 8)}), tenon.NotFoundError,
             "no input 'img'; the inputs are: image"),
            (lambda: tenon.load(path, profile=[(1, 1, 8, 8)]), TypeError, "a mapping"),
            (lambda: tenon.load(path, profile={"image": 4}), ValueError, "profile of 'image'"),
            (lambda: tenon.load(plan, fast=True, shapes={}), TypeError, "'fast', 'shapes' cannot"),
        ):
            with self.assertRaisesRegex(error, text):
                call()

    def test_a_timing_cache_is_kept_for_dynamic_shapes_too(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cache"
            model = tenon.load(DIGITS / "model.onnx", timing_cache=path)
            model(self.images[:1])
            self.assertGreater(len(tenon.TimingCache(path)), 0)

    def test_results_are_a_mapping(self):
        outputs = tenon.load(DIGITS / "model.onnx", no_measuring=True).run({"image": self.images[:1]})
        self.assertIsInstance(outputs, collections.abc.Mapping)
        self.assertEqual(list(outputs), ["probabilities"])
        self.assertIs(outputs["probabilities"], outputs[0])
        self.assertIs(outputs.get("probabilities"), outputs.values()[-1])
        self.assertIsNone(outputs.get("nothing"))
        self.assertEqual(dict(outputs.items()).keys(), set(outputs.keys()))
        self.assertIn("probabilities", outputs)
        self.assertIn("probabilities", repr(outputs))
        with self.assertRaisesRegex(KeyError, "nothing"):
            outputs["nothing"]
        with self.assertRaises(IndexError):
            outputs[1]

    def test_saves(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "digits.plan"
            model = tenon.load(DIGITS / "model.onnx", shapes={"image": (1, 1, 8, 8)},
                               timing_cache=Path(folder) / "cache")
            model.save(path)
            again = tenon.load(path)
            numpy.testing.assert_array_equal(
                again(self.images[:1])[0], model(self.images[:1])[0]
            )
            self.assertTrue((Path(folder) / "cache").exists())
            with self.assertRaises(tenon.InvalidStateError):
                again.save(path)


if __name__ == "__main__":
    unittest.main()
