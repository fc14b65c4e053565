"""Each allocation of a call fails in turn: the call raises MemoryError, and the next one succeeds."""

import unittest
from array import array

import tenon_engine as tenon
from support import DIGITS, engine_of, numpy, unary

try:
    import _testcapi
except ImportError:
    _testcapi = None


@unittest.skipIf(_testcapi is None, "the interpreter has no module _testcapi")
class Allocations(unittest.TestCase):
    def fail_each(self, call):
        """Until no more allocation of the call fails, which 10 calls without a failure show."""
        call()
        start = successes = failures = 0
        while successes < 10:
            _testcapi.set_nomemory(start, start + 1)
            try:
                call()
                successes += 1
            except MemoryError:
                failures += 1
                successes = 0
            finally:
                _testcapi.remove_mem_hooks()
            start += 1
        return failures

    def check(self, calls):
        for name, call in calls.items():
            with self.subTest(name):
                self.assertGreater(self.fail_each(call), 0)

    def test_runs(self):
        engine = engine_of(unary())
        context, other = engine.context(threads=1), engine.context(threads=1)
        x = memoryview(bytes(24)).cast("f", (2, 3))

        def borrow():
            other.set_input(0, x)
            other.run()
            return other.output(0, copy=False)

        calls = {
            "call": lambda: context(x=x),
            "borrow": borrow,
            "view": lambda: memoryview(borrow()).tolist(),
            "list": lambda: borrow().tolist(),
            "lend": lambda: context(borrow()),
            "capsule": lambda: borrow().__dlpack__(max_version=(1, 0)),
            "text": lambda: repr(borrow()),
            "output": lambda: context.set_output(0, memoryview(bytearray(24)).cast("f", (2, 3))),
        }
        if numpy is not None:
            calls["numbers"] = lambda: context([[1, 2, 3], [4, 5, 6]])
            calls["array"] = lambda: numpy.asarray(borrow())
        self.check(calls)

    def test_strings(self):
        network = tenon.Network()
        network.output(network.input("x", "str", (2,)), "y")
        context = engine_of(network).context(threads=1)
        self.check({"call": lambda: context(["a", "b"])})

    def test_engines(self):
        registry = tenon.Registry(logger=None)
        plan = bytes(tenon.build(unary(), no_measuring=True))
        engine = tenon.Engine(plan)
        self.check({
            "engine": lambda: tenon.Engine(plan, registry=registry),
            "context": lambda: engine.context(threads=1),
            "inputs": lambda: engine.inputs,
            "steps": engine.steps,
            "info": engine.info,
            "text": engine.text,
            "plugins": registry.plugins,
            "registry": lambda: tenon.Registry([str(DIGITS)], logger=None),
            "cache": lambda: tenon.TimingCache(registry=registry),
        })

    def test_networks(self):
        registry = tenon.Registry(logger=None)
        x = array("f", [1, 2, 3])

        def network():
            made = tenon.Network(registry=registry)
            return made, made.input("x", "f32", (3, "n"))

        def layers():
            made, value = network()
            value = made.add("standard.softmax/1", value, axis=1)
            value = made.expression("z = y + w", y=value, w=made.constant(x[:1]))
            made.output(value, "y")
            return made

        def states():
            made = tenon.Network(registry=registry)
            made.write_state("s", made.state("s", "f32", (3,), x))

        self.check({
            "parse": lambda: tenon.Network(str(DIGITS / "model.onnx"), registry=registry),
            "layers": layers,
            "states": states,
            "text": lambda: layers().text(),
            "items": lambda: layers().items(),
        })


if __name__ == "__main__":
    unittest.main()
