"""Networks that are built layer by layer, parsed, and looked at."""

import unittest
import weakref

import tenon_engine as tenon
from support import DIGITS, context_of, needs_numpy, numpy, unary


class Layers(unittest.TestCase):
    def test_reports_inputs_and_outputs(self):
        network = tenon.Network()
        x = network.input("x", "f32", ("batch", 3, None))
        y = network.add("standard.softmax/1", x, axis=1)
        network.output(y, "y")
        self.assertEqual(network.inputs, [("x", "tensor", "f32", ("batch", 3, "x:2"))])
        self.assertEqual(network.outputs[0].name, "y")
        self.assertEqual((x.dtype, x.kind, x.shape), ("f32", 1, (None, 3, None)))
        self.assertIn("softmax", str(network))

    @needs_numpy
    def test_attributes_of_all_kinds(self):
        network = tenon.Network()
        x = network.input("x", numpy.float32, (1, 2, 4, 4))
        w = network.constant(numpy.ones((2, 1, 3, 3), numpy.float32))
        conv = network.add("standard.convolution/1", x, w, None, pads=[1, 1, 1, 1], groups=2)
        leaky = network.add("standard.leaky_relu/1", conv, alpha=1)
        cast = network.add("standard.cast/1", leaky, to=numpy.float64)
        network.output(cast, "y")
        y = context_of(network)(numpy.ones((1, 2, 4, 4), numpy.float32))["y"]
        self.assertEqual((y.dtype, y.shape, y[0, 0, 1, 1]), (numpy.float64, (1, 2, 4, 4), 9))

    @needs_numpy
    def test_expressions(self):
        network = tenon.Network()
        x = network.input("x", "f32", (4,))
        network.output(network.expression("y = x * x + a", x=x, a=network.constant(2.5, dtype="f32")), "y")
        y = context_of(network)(numpy.arange(4, dtype="f"))["y"]
        numpy.testing.assert_array_equal(y, [2.5, 3.5, 6.5, 11.5])

    @needs_numpy
    def test_several_outputs(self):
        network = tenon.Network()
        x = network.input("x", "f32", (6,))
        values, indices = network.add(
            "standard.top_k/1", x, network.constant(numpy.array([2])), outputs=2
        )
        network.output(values, "values")
        network.output(indices, "indices")
        outputs = context_of(network)(numpy.array([3, 1, 9, 2, 8, 0], "f"))
        self.assertEqual(outputs["values"].tolist(), [9, 8])
        self.assertEqual(outputs[-1].tolist(), [2, 4])

    @needs_numpy
    def test_bodies_of_a_branch(self):
        network = tenon.Network()
        condition = network.input("condition", "bool", ())
        x = network.input("x", "f32", (2,))
        bodies = []
        for op in ("standard.neg/1", "standard.abs/1"):
            with network.body() as body:
                body.result(network.add(op, body.parameter(like=x)))
            bodies.append(body)
        (y,) = network.add("standard.branch/1", condition, x, bodies=bodies, outputs=1)
        network.output(y, "y")
        context = context_of(network)
        x = numpy.array([-1, 2], "f")
        self.assertEqual(context(numpy.array(True), x)["y"].tolist(), [1, -2])
        self.assertEqual(context(numpy.array(False), x)["y"].tolist(), [1, 2])
        items = network.items(True)
        self.assertEqual([item.kind for item in items[:3]], ["input", "input", "output"])
        node = next(item for item in items if item.op == "standard.branch/1")
        self.assertEqual(len(node.bodies), 2)
        self.assertEqual(network.body_items(node.bodies[1])[-1].op, "standard.abs/1")

    def test_a_failed_body_leaves_the_network_valid(self):
        network = tenon.Network()
        x = network.input("x", "f32", (2,))
        with self.assertRaises(RuntimeError):
            with network.body() as body:
                body.parameter(like=x)
                raise RuntimeError("changed my mind")
        network.output(network.add("standard.abs/1", x), "y")
        self.assertIsNone(body.number)

    def test_errors_name_the_node_and_near_misses(self):
        network = tenon.Network()
        x = network.input("x", "f32", (2,))
        with self.assertRaisesRegex(tenon.UnsupportedError, "standard.softmax/1"):
            network.add("standard.sofmax/1", x)
        with self.assertRaisesRegex(tenon.InvalidDataError, "'n'"):
            network.add("standard.softmax/1", x, name="n", axis=5)
        with self.assertRaisesRegex(ValueError, "another network"):
            network.add("standard.abs/1", unary().input("z", "f32", (2,)))
        with self.assertRaisesRegex(TypeError, "no element type"):
            network.input("w", "f33", (2,))

    @needs_numpy
    def test_arguments_that_do_not_fit(self):
        network = tenon.Network()
        x = network.input("x", "f32", (2,))
        for names in (None, ["x"], ["x", "y", "z"]):
            with self.assertRaisesRegex(ValueError, "2 inputs need a name each"):
                network.add_expression("z = x + y", names, [x, x], None)
        with self.assertRaisesRegex(TypeError, "a sequence of str"):
            network.add_node("standard.relu/1", None, [x], [("a", 6, None)], (), 1, False)
        with self.assertRaises(TypeError):
            with network.body() as body:
                network.add("standard.if/1", x, bodies=[body])
        with self.assertRaises(OverflowError):
            network.add("standard.relu/1", x, outputs=-1)

    def test_a_shape_that_grows_while_it_is_read(self):
        class Extent:
            def __index__(self):
                shape.extend(["name"] * 1000)
                return 3

        shape = [Extent(), "batch"]
        self.assertEqual(tenon.Network().input("x", "f32", shape).shape, (3, None))

    @needs_numpy
    def test_values_know_their_contents(self):
        network = tenon.Network()
        x = network.input("x", "f32", ("batch", 4))
        shape = network.add("standard.shape_of/1", x)
        constant = network.constant(numpy.array([[1, 2]], numpy.int32))
        self.assertEqual(shape.contents, (None, 4))
        self.assertEqual(constant.constant.tolist(), [[1, 2]])
        self.assertIsNone(x.constant)
        self.assertNotEqual(x, shape)
        shape.set_name("renamed")
        self.assertIn("renamed", network.value_names())
        self.assertTrue(network.has_operator("standard.abs/1"))
        self.assertFalse(network.has_operator("standard.none/1"))

    @needs_numpy
    def test_a_borrowed_constant_is_kept(self):
        network = tenon.Network()
        x = network.input("x", "f32", (1000,))
        array = numpy.full(1000, 3, "f")
        keeper = weakref.ref(array)
        w = network.constant(array, copy=False)
        del array
        network.output(network.add("standard.add/1", x, w), "y")
        y = context_of(network)(numpy.zeros(1000, "f"))["y"]
        self.assertEqual(set(y.tolist()), {3})
        self.assertIsNotNone(keeper())
        del network, x, w
        self.assertIsNone(keeper())

    @needs_numpy
    def test_sequences_and_optionals(self):
        network = tenon.Network()
        items = network.input("items", "f32", (2,), kind="sequence")
        network.output(network.add("standard.sequence_at/1", items, network.constant(1)), "second")
        network.output(items, "same")
        context = context_of(network)
        outputs = context([numpy.array([1, 2], "f"), numpy.array([3, 4], "f")])
        self.assertEqual(outputs["second"].tolist(), [3, 4])
        self.assertEqual([item.tolist() for item in outputs["same"]], [[1, 2], [3, 4]])


class States(unittest.TestCase):
    @needs_numpy
    def test_a_state_lives_in_its_context(self):
        network = tenon.Network()
        x = network.input("x", "f32", (2,))
        total = network.state("total", "f32", (2,), numpy.array([10, 20], "f"))
        new = network.add("standard.add/1", total, x)
        network.write_state("total", new)
        network.output(new, "y")
        engine = tenon.Engine(tenon.build(network, no_measuring=True))
        a, b = engine.context(), engine.context()
        one = numpy.ones(2, "f")
        self.assertEqual(a(one)["y"].tolist(), [11, 21])
        self.assertEqual(a(one)["y"].tolist(), [12, 22])
        self.assertEqual(b(one)["y"].tolist(), [11, 21])
        b.clone_states(a)
        self.assertEqual(b(one)["y"].tolist(), [13, 23])
        self.assertEqual(a.read_state("total", "f32", (2,)).tolist(), [12, 22])
        a.write_state("total", numpy.array([100, 200], "f"))
        self.assertEqual(a(one)["y"].tolist(), [101, 201])
        a.reset_states()
        self.assertEqual(a(one)["y"].tolist(), [11, 21])
        with self.assertRaises(tenon.NotFoundError):
            a.read_state("nothing", "f32", (2,))
        self.assertGreater(engine.info().state_bytes, 0)

    @needs_numpy
    def test_an_input_and_an_output_become_a_state(self):
        network = tenon.Network()
        x = network.input("x", "f32", (1,))
        past = network.input("past", "f32", (1,))
        network.output(network.add("standard.add/1", x, past), "sum")
        network.output(network.add("standard.add/1", x, past), "y")
        network.make_state("past", "sum")
        model = tenon.Model(tenon.Engine(tenon.build(network, no_measuring=True)))
        one = numpy.ones(1, "f")
        self.assertEqual([model(one)["y"].item() for _ in range(3)], [1, 2, 3])
        model.reset_states()
        self.assertEqual(model(one)["y"].item(), 1)


class Parsing(unittest.TestCase):
    def test_reports_what_the_file_holds(self):
        network = tenon.Network(DIGITS / "model.onnx")
        self.assertEqual(network.inputs[0].name, "image")
        self.assertEqual(network.inputs[0].shape[1:], (1, 8, 8))
        self.assertTrue(any(kind.type == "Conv" for kind in network.node_types()))
        self.assertTrue(network.files()[0].endswith("model.onnx"))
        self.assertIn("probabilities", network.value_names())
        network.clear_outputs()
        network.mark_output(network.value_names()[2])
        self.assertEqual(len(network.outputs), 1)

    def test_bytes_shapes_and_parts(self):
        data = (DIGITS / "model.onnx").read_bytes()
        network = tenon.Network(data, name="digits", shapes={"image": (2, 1, 8, 8)})
        self.assertEqual(network.inputs[0].shape, (2, 1, 8, 8))
        caffe = tenon.Network(DIGITS / "model.prototxt", parts=[DIGITS / "model.caffemodel"])
        self.assertEqual(len(caffe.files()), 2)

    @needs_numpy
    def test_an_input_becomes_a_constant(self):
        value = numpy.zeros((1, 1, 8, 8), "f")
        network = tenon.Network(DIGITS / "model.onnx", values={"image": value})
        self.assertEqual(network.inputs, [])

    def test_errors(self):
        with self.assertRaisesRegex(FileNotFoundError, "nowhere.onnx"):
            tenon.Network("nowhere.onnx")
        with self.assertRaises(tenon.InvalidDataError) as caught:
            tenon.Network(b"\x08\x07:garbage" * 4, format="onnx")
        self.assertEqual(caught.exception.status, tenon.Status.INVALID_DATA)
        with self.assertRaises(tenon.NotFoundError):
            tenon.Network(DIGITS / "model.onnx", format="no such format")
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "setting|level"):
            tenon.Network(DIGITS / "model.onnx", settings=["level=1"])


if __name__ == "__main__":
    unittest.main()
