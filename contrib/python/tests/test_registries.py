"""Registries, and the lifetimes of all objects."""

import gc
import unittest
import weakref

import tenon_engine as tenon
from support import DIGITS, engine_of


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
        plugins = registry.plugins()
        self.assertIn("standard", [plugin.name for plugin in plugins])
        self.assertEqual([plugin.name for plugin in plugins if not plugin.reason], [])

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
        weakref.finalize(holder, dead.append, 1)
        del holder
        gc.collect()
        self.assertEqual(dead, [1])


if __name__ == "__main__":
    unittest.main()
