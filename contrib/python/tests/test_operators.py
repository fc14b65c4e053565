"""Operators that a program in Python defines."""

import unittest

import tenon_engine as tenon
from support import engine_of, needs_numpy, numpy

try:
    import onnx
except ImportError:
    onnx = None


@needs_numpy
class Operators(unittest.TestCase):
    def test_an_operator_by_expression_fuses(self):
        swish = tenon.operator(
            "acme.swish", "y = x * sigmoid(beta * x)", attributes={"beta": 1.0}
        )
        self.assertEqual(swish, "acme.swish/1")
        network = tenon.Network()
        x = network.input("x", "f32", (1, 2, 4, 4))
        w = network.constant(numpy.ones((2, 2, 1, 1), "f"))
        y = network.add("standard.convolution/1", x, w)
        y = network.add(swish, y, beta=2.0)
        network.output(network.add("standard.add/1", y, x), "y")
        engine = engine_of(network)
        data = numpy.linspace(-1, 1, 32, dtype="f").reshape(1, 2, 4, 4)
        s = data.sum(1, keepdims=True)
        expected = s / (1 + numpy.exp(-2 * s)) + data
        numpy.testing.assert_allclose(engine.context()(data)["y"], expected, atol=1e-5)
        self.assertIn("convolution_0, swish_1, add_2", [step.nodes for step in engine.steps()])

    def test_several_inputs_and_types(self):
        mix = tenon.operator(
            "acme.mix/2", "y = a * w + b * (1 - w); z = a - b", types="f32 f64"
        )
        network = tenon.Network()
        ports = [network.input(name, "f64", (3,)) for name in "awb"]
        y, z = network.add(mix, *ports, outputs=2)
        network.output(y, "y")
        network.output(z, "z")
        outputs = engine_of(network).context()(
            a=numpy.full(3, 1.0), w=numpy.full(3, 0.25), b=numpy.full(3, 3.0)
        )
        self.assertEqual(outputs["y"].tolist(), [2.5] * 3)
        self.assertEqual(outputs["z"].tolist(), [-2] * 3)

    def test_local_names(self):
        softmax = tenon.operator(
            "acme.softmax", "let e = exp(x - max(x, axis)); y = e / sum(e, axis)",
            attributes={"axis": -1},
        )
        network = tenon.Network()
        network.output(network.add(softmax, network.input("x", "f32", (2, 2))), "y")
        y = engine_of(network).context()([[1, 1], [0, 100]])["y"]
        numpy.testing.assert_allclose(y, [[0.5, 0.5], [0, 1]], atol=1e-6)

    def test_a_faulty_text_is_reported_when_it_is_used(self):
        broken = tenon.operator("acme.broken", "y = x * nothing_known(x)")
        network = tenon.Network()
        x = network.input("x", "f32", (3,))
        with self.assertRaisesRegex(tenon.Error, "acme.broken/1"):
            network.add(broken, x)
        with self.assertRaisesRegex(ValueError, "no name of an operator"):
            tenon.operator("swish", "y = x")
        with self.assertRaisesRegex(ValueError, "defines nothing"):
            tenon.operator("acme.nothing", "x * x")

    def test_registries_made_before_keep_what_they_have(self):
        tenon.operator("acme.first", "y = x + 1")
        before = tenon.Network()
        x = before.input("x", "f32", (1,))
        before.add("acme.first/1", x)
        tenon.operator("acme.later", "y = x + 2")
        self.assertFalse(before.has_operator("acme.later/1"))
        self.assertTrue(tenon.Network().has_operator("acme.later/1"))
        self.assertTrue(tenon.Network(registry=tenon.Registry()).has_operator("acme.first/1"))

    @unittest.skipIf(onnx is None, "onnx is not installed")
    def test_nodes_of_onnx_map_to_it(self):
        tenon.operator("acme.scale", "y = x * factor", attributes={"factor": float})
        helper = onnx.helper
        graph = helper.make_graph(
            [helper.make_node("Scale", ["x"], ["y"], domain="acme", factor=3.0)],
            "scale",
            [helper.make_tensor_value_info("x", 1, [2])],
            [helper.make_tensor_value_info("y", 1, [2])],
        )
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)],
        )
        model = tenon.load(made.SerializeToString())
        self.assertEqual(model(numpy.ones(2, "f"))["y"].tolist(), [3, 3])


if __name__ == "__main__":
    unittest.main()
