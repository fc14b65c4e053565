"""Nothing leaks: memory of the process and references after thousands of loads, runs, failures."""

import gc
import os
import sys
import unittest
from array import array

import tenon_engine as tenon
from support import DIGITS, context_of, needs_numpy, numpy, unary

ROUNDS = int(os.environ.get("TENON_LEAK_ROUNDS", "200"))


def resident_kib() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


class Leaks(unittest.TestCase):
    def grow(self, work, rounds):
        """The process grows by less than the allocator's pages, which 10,000 loads fragment by half a MiB, and by less
        than 64 bytes a round, after as many rounds as fill its caches."""
        limit_kib = 256 + rounds // 16
        for _ in range(rounds // 4 + 1):
            work()
        gc.collect()
        before = resident_kib()
        for _ in range(rounds):
            work()
        gc.collect()
        self.assertLess(resident_kib() - before, limit_kib)

    def test_runs(self):
        context = context_of(unary(shape=(1024,)))
        x = array("f", [1] * 1024)
        references = sys.getrefcount(x)
        self.grow(lambda: context(x), ROUNDS * 5)
        self.assertEqual(sys.getrefcount(x), references)

    @needs_numpy
    def test_arrays_of_all_kinds(self):
        context = context_of(unary(shape=(64, 64)))
        x = numpy.ones((64, 64), "f")
        class Plain:
            __dlpack__ = x.__dlpack__
            __dlpack_device__ = x.__dlpack_device__

        def work():
            context(x)
            context(x.T)
            context(Plain())
            numpy.from_dlpack(context.output(0, copy=False))
            numpy.asarray(context.output(0, copy=False))
            context.output(0, copy=False).__dlpack__()

        references = sys.getrefcount(x)
        self.grow(work, ROUNDS)
        gc.collect()
        self.assertEqual(sys.getrefcount(x), references)

    def test_loads(self):
        plan = bytes(tenon.build(tenon.Network(DIGITS / "model.onnx"), no_measuring=True))
        references = sys.getrefcount(plan)
        self.grow(lambda: tenon.Engine(plan).context(), ROUNDS)
        self.assertEqual(sys.getrefcount(plan), references)

    def test_parses_and_failures(self):
        data = (DIGITS / "model.onnx").read_bytes()
        context = context_of(unary(shape=(4,)))
        x = array("f", [1] * 5)

        def work():
            network = tenon.Network(data)
            for failure in (
                lambda: network.add("standard.nothing/1"),
                lambda: network.input("x", "f33", ()),
                lambda: context(x),
                lambda: context(y=x),
                lambda: context(None),
                lambda: tenon.Engine(b"no plan"),
                lambda: tenon.Network(data[:200]),
                lambda: tenon.build(network, fast=1),
                lambda: context.set_output(0, b"x"),
            ):
                try:
                    failure()
                except (tenon.Error, TypeError, BufferError):
                    pass
                else:
                    self.fail("no failure")

        references = sys.getrefcount(x), sys.getrefcount(data)
        self.grow(work, ROUNDS // 9)
        self.assertEqual((sys.getrefcount(x), sys.getrefcount(data)), references)


if __name__ == "__main__":
    unittest.main()
