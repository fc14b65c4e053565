"""Memory of a device, with the device `far` of the tests, whose memory the host cannot touch."""

import os
import subprocess
import sys
import unittest

import tenon_engine as tenon
from support import engine_of, needs_numpy, numpy, unary

FAR = os.environ.get("TENON_FAR_DEVICE", "")


@needs_numpy
@unittest.skipUnless(FAR and os.path.isdir(FAR), "the device `far` is not built")
class Devices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.registry = tenon.Registry([FAR, *os.environ["TENON_PLUGIN_PATH"].split(":")])
        network = tenon.Network(registry=cls.registry)
        x = network.input("x", "f32", (64,))
        network.output(network.add("standard.neg/1", x), "y")
        plan = tenon.build(network, device="far", no_measuring=True)
        cls.engine = tenon.Engine(plan, registry=cls.registry)

    def test_memory(self):
        memory = self.engine.allocate(256)
        self.assertEqual((len(memory), memory.address % 256), (256, 0))
        x = numpy.arange(64, dtype="f")
        memory.write(x)
        other = self.engine.allocate(256)
        other.copy_from(memory)
        y = numpy.zeros(64, "f")
        other.read_into(y)
        self.assertEqual(y.tolist(), x.tolist())
        with self.assertRaisesRegex(ValueError, "exceed"):
            memory.write(x, 4)
        context = self.engine.context()
        for shape, dtype in (((65,), "f32"), ((64,), "f64"), ((2**40, 2**40), "u4")):
            for is_output in (False, True):
                with self.assertRaisesRegex(ValueError, "exceeds the memory of 256 bytes"):
                    context.set_memory(0, memory, dtype, shape, is_output=is_output)

    def test_inputs_and_outputs_on_the_device(self):
        x, y = self.engine.allocate(256), self.engine.allocate(256)
        x.write(numpy.arange(64, dtype="f"))
        context = self.engine.context()
        context.set_memory("x", x, "f32", (64,))
        context.set_memory("y", y, "f32", (64,), is_output=True)
        context.run()
        host = numpy.zeros(64, "f")
        y.read_into(host)
        self.assertEqual(host.tolist(), [-i for i in range(64)])
        context.set_input("x", numpy.ones(64, "f"))
        context.set_output("y", None)
        context.run()
        self.assertEqual(context.output("y").tolist(), [-1] * 64)

    def test_inputs_of_the_host(self):
        context = self.engine.context()
        context.set_timing(1)
        self.assertEqual(context(numpy.ones(64, "f"))["y"].tolist(), [-1] * 64)
        self.assertEqual(context.times().run_count, 1)
        self.assertEqual(self.engine.info().device, "far:0")

    def test_the_device_is_closed_without_the_lock_of_the_interpreter(self):
        """Its report blocks until a thread of Python opens the pipe."""
        program = """
import os, sys, tempfile, threading, time, tenon_engine as tenon
report = os.environ["FAR_DEVICE_REPORT"] = os.path.join(tempfile.mkdtemp(), "report")
registry = tenon.Registry([os.environ["TENON_FAR_DEVICE"], *os.environ["TENON_PLUGIN_PATH"].split(":")])
network = tenon.Network(registry=registry)
network.output(network.add("standard.neg/1", network.input("x", "f32", (64,))), "y")
engine = tenon.Engine(tenon.build(network, device="far", no_measuring=True), registry=registry)
if os.path.exists(report):
    os.remove(report)
os.mkfifo(report)
def read():
    time.sleep(0.2)
    with open(report) as file:
        print(file.read())
thread = threading.Thread(target=read)
thread.start()
del engine
thread.join()
"""
        text = subprocess.run([sys.executable, "-c", program], check=True, timeout=60,
                              capture_output=True, text=True).stdout
        self.assertIn("device 0", text)

    def test_a_plan_for_the_host_has_no_device_memory(self):
        with self.assertRaises(tenon.InvalidStateError):
            engine_of(unary()).allocate(16)


if __name__ == "__main__":
    unittest.main()
