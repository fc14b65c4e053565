"""Memory of Python's objects as inputs and outputs."""

import array
import ctypes
import unittest

import tenon_engine as tenon
from support import DIGITS, context_of, engine_of, ml_dtypes, needs_ml_dtypes, needs_numpy, numpy, unary


class Plain:
    """DLPack alone, as tensors of other libraries have it."""

    def __init__(self, tensor, old=False):
        self.tensor = tensor
        self.old = old
        self.seen = None

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **keywords):
        self.seen = keywords
        if self.old and keywords:
            raise TypeError("no arguments")
        return self.tensor.__dlpack__(**keywords)


class Cuda:
    """An array that says it is in a device's memory; nothing is there."""

    def __init__(self, shape=(2,), read_only=False, strides=None):
        self.__cuda_array_interface__ = {
            "data": (4096, read_only), "shape": shape, "typestr": "<f4", "version": 3,
            "strides": strides,
        }


class WithoutNumPy(unittest.TestCase):
    def test_buffers_of_the_standard_library(self):
        context = context_of(unary(shape=(2, 3)))
        data = memoryview(array.array("f", range(6))).cast("B").cast("f", (2, 3))
        context.set_input("x", data)
        context.run()
        y = context.output("y", copy=False)
        self.assertEqual((y.dtype, y.shape, y.strides), ("f32", (2, 3), (3, 1)))
        self.assertEqual(y.tolist(), [[0, -1, -2], [-3, -4, -5]])
        self.assertEqual(memoryview(y).format, "f")

    def test_an_output_in_memory_of_the_caller(self):
        context = context_of(unary(shape=(4,)))
        y = array.array("f", [0] * 4)
        context.set_output("y", y)
        self.assertIs(context(array.array("f", [1, 2, 3, 4]))["y"], y)
        self.assertEqual(y.tolist(), [-1, -2, -3, -4])
        context.set_output("y", None)
        self.assertIsNot(context(array.array("f", [1, 2, 3, 4]))["y"], y)

    def test_wrong_objects(self):
        context = context_of(unary(shape=(4,)))
        with self.assertRaisesRegex(TypeError, "no tensor"):
            context(None)
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "input 'x'"):
            context(array.array("d", [1, 2, 3, 4]))
        with self.assertRaisesRegex(tenon.Error, "input 'x'"):
            context(array.array("f", [1, 2, 3]))
        with self.assertRaisesRegex(tenon.InvalidStateError, "'x' is not given"):
            context()
        with self.assertRaisesRegex(tenon.NotFoundError, "x"):
            context(z=array.array("f", [1, 2, 3, 4]))
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "the model has 1"):
            context(1, 2)
        with self.assertRaises((BufferError, TypeError)):
            context.set_output("y", b"read-only data!!")


    def test_the_host_does_not_read_memory_of_a_device(self):
        network = tenon.Network()
        x = network.input("x", "f32", (2,))
        w = network.constant(array.array("f", [2, 3]), "w")
        network.output(network.add("standard.mul/1", x, w), "y")
        engine = engine_of(network)
        for use in (
            lambda: engine.set_weights("w", Cuda()),
            lambda: tenon.build(network, samples=[[Cuda()]], permit=tenon.Permit.F16),
            lambda: tenon.Network().constant(Cuda()),
            lambda: tenon.Network().state("s", "f32", (2,), Cuda()),
            lambda: tenon.Network(DIGITS / "model.onnx", values={"image": Cuda((1, 1, 8, 8))}),
        ):
            with self.assertRaisesRegex(ValueError, "to the host first"):
                use()

    def test_interfaces_of_devices(self):
        context = context_of(unary(shape=(2,)))
        with self.assertRaisesRegex(BufferError, "read-only"):
            context.set_output(0, Cuda(read_only=True))
        with self.assertRaisesRegex(ValueError, "2 strides for 1 axes"):
            context.set_input(0, Cuda(strides=(4, 4)))
        with self.assertRaisesRegex(ValueError, "no multiples"):
            context.set_input(0, Cuda(strides=(6,)))

    def test_views_keep_the_memory_of_an_output(self):
        context = context_of(unary(shape=(2,)))
        context.set_input(0, array.array("f", [1, 2]))
        context.set_output(0, array.array("f", [0, 0]))
        context.run()
        view = memoryview(context.output(0, copy=False))
        with self.assertRaisesRegex(BufferError, "look at outputs"):
            context.set_output(0, None)
        self.assertEqual(view.tolist(), [-1, -2])
        del view
        context.set_output(0, None)

    def test_a_context_waits_for_readers_of_its_outputs(self):
        first, second = (context_of(unary(shape=(2,))) for _ in range(2))
        first.set_input(0, array.array("f", [1, 2]))
        first.run()
        second.set_input(0, first.output(0, copy=False))
        with self.assertRaisesRegex(BufferError, "look at outputs"):
            first.run()
        second.run()
        self.assertEqual(second.output(0, copy=False).tolist(), [1, 2])
        with self.assertRaisesRegex(ValueError, "already"):
            second.set_output(0, first.output(0, copy=False))
        second.set_input(0, array.array("f", [3, 4]))
        first.run()

    def test_requests_for_an_order_of_elements(self):
        context = context_of(unary(shape=(2, 3)))
        context.set_input(0, memoryview(bytes(24)).cast("f", (2, 3)))
        context.run()
        y = context.output(0, copy=False)
        self.assertTrue(memoryview(y).c_contiguous)
        ask = ctypes.pythonapi.PyObject_GetBuffer
        release = ctypes.pythonapi.PyBuffer_Release
        for flags, is_possible in ((0x0, True), (0x38, True), (0x98, True), (0x58, False)):
            buffer = ctypes.create_string_buffer(256)
            if is_possible:
                self.assertEqual(ask(ctypes.py_object(y), buffer, flags), 0)
                release(buffer)
            else:
                with self.assertRaises(BufferError):
                    ask(ctypes.py_object(y), buffer, flags)


@needs_numpy
class WithNumPy(unittest.TestCase):
    def test_types_round_trip(self):
        for dtype in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split():
            network = tenon.Network()
            network.output(network.input("x", dtype, (3,)), "y")
            x = numpy.array([0, 1, 1]).astype(dtype)
            y = context_of(network)(x)["y"]
            self.assertEqual(y.dtype, x.dtype)
            numpy.testing.assert_array_equal(x, y)

    def test_lists_and_numbers_take_the_type_of_the_input(self):
        context = context_of(unary(shape=(2, 2)))
        self.assertEqual(context([[1, 2], [3, 4]])["y"].tolist(), [[-1, -2], [-3, -4]])
        scalar = context_of(unary(shape=()))
        self.assertEqual(scalar(2)["y"].item(), -2)

    def test_strides(self):
        context = context_of(unary(shape=(2, 3)))
        x = numpy.arange(6, dtype="f").reshape(3, 2)
        numpy.testing.assert_array_equal(context(x.T)["y"], -x.T)
        numpy.testing.assert_array_equal(context(x[::-1].T)["y"], -x[::-1].T)
        numpy.testing.assert_array_equal(context(numpy.broadcast_to(x[:1].T, (2, 3)))["y"],
                                         -numpy.broadcast_to(x[:1].T, (2, 3)))

    def test_the_other_byte_order_is_refused(self):
        context = context_of(unary(shape=(2,)))
        with self.assertRaisesRegex(TypeError, "byte order"):
            context(numpy.zeros(2, ">f4"))

    def test_outputs_belong_to_the_caller(self):
        context = context_of(unary(shape=(2,)))
        first = context(numpy.ones(2, "f"))["y"]
        context(numpy.zeros(2, "f"))
        self.assertEqual(first.tolist(), [-1, -1])

    def test_a_strided_output_of_the_caller(self):
        context = context_of(unary(shape=(2, 3)))
        y = numpy.zeros((3, 2), "f")
        context.set_output("y", y.T)
        x = numpy.arange(6, dtype="f").reshape(2, 3)
        context(x)
        numpy.testing.assert_array_equal(y.T, -x)

    def test_the_library_reads_the_memory_in_place(self):
        context = context_of(unary(shape=(1024,)))
        x = numpy.zeros(1024, "f")
        y = numpy.zeros(1024, "f")
        context.set_input(0, x)
        context.set_output(0, y)
        context.run()
        x[:] = 5
        context.run()
        self.assertEqual(y[100], -5)

    def test_strings(self):
        network = tenon.Network()
        network.output(network.input("x", "str", (2, 2)), "y")
        context = context_of(network)
        texts = [["a", "bc"], ["", "\u00e4\0\U0001f600"]]
        for x in (texts, numpy.array(texts, object), numpy.array(texts)):
            self.assertEqual(context(x)["y"].tolist(), texts)
        with self.assertRaisesRegex(ValueError, "equal lengths"):
            context([["a"], ["b", "c"]])

    def test_data_dependent_extents(self):
        network = tenon.Network()
        x = network.input("x", "f32", (6,))
        network.output(network.add("standard.nonzero/1", x), "y")
        context = context_of(network)
        context.set_input(0, numpy.array([0, 1, 0, 1, 1, 0], "f"))
        dims, most = context.output_extents("y")
        self.assertEqual((dims, most), ((1, -1), (1, 6)))
        context.run()
        self.assertEqual(context.output("y").tolist(), [[1, 3, 4]])


@needs_ml_dtypes
class NarrowTypes(unittest.TestCase):
    def test_bfloat16_and_float8(self):
        for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
            dtype = numpy.dtype(getattr(ml_dtypes, name))
            network = tenon.Network()
            network.output(network.input("x", dtype, (3,)), "y")
            x = numpy.array([1, -2, 0.5]).astype(dtype)
            y = context_of(network)(x)["y"]
            self.assertEqual(y.dtype, dtype)
            self.assertEqual(y.tolist(), x.tolist())

    def test_four_bits(self):
        network = tenon.Network()
        x = network.input("x", ml_dtypes.int4, (3,))
        network.output(network.add("standard.cast/1", x, to="i32"), "wide")
        network.output(x, "y")
        outputs = context_of(network)(numpy.array([7, -8, -1]).astype(ml_dtypes.int4))
        self.assertEqual(outputs["wide"].tolist(), [7, -8, -1])
        self.assertEqual(outputs["y"].dtype, ml_dtypes.int4)
        self.assertEqual(outputs["y"].astype("i4").tolist(), [7, -8, -1])
        context = context_of(network)
        context.set_input(0, numpy.array([7, -8, -1]).astype(ml_dtypes.int4))
        context.run()
        y = context.output("y", copy=False)
        self.assertEqual(y.__array__().astype("i4").tolist(), [7, -8, -1])
        with self.assertRaisesRegex(ValueError, "need a copy"):
            y.__array__(copy=False)


@needs_numpy
class Tensors(unittest.TestCase):
    def setUp(self):
        self.context = context_of(unary(shape=(2, 2)))
        self.context.set_input(0, numpy.arange(4, dtype="f").reshape(2, 2))
        self.context.run()

    def test_dlpack_out(self):
        y = self.context.output(0, copy=False)
        self.assertTrue(y.is_borrowed)
        self.assertEqual(y.__dlpack_device__(), (1, 0))
        self.assertIn('"dltensor"', repr(y.__dlpack__()))
        self.assertIn("dltensor_versioned", repr(y.__dlpack__(max_version=(1, 0))))
        numpy.testing.assert_array_equal(numpy.from_dlpack(y), [[0, -1], [-2, -3]])
        with self.assertRaises(BufferError):
            y.__dlpack__(dl_device=(2, 0))

    def test_dlpack_in(self):
        x = numpy.arange(4, dtype="f").reshape(2, 2)
        for old in (False, True):
            plain = Plain(x, old)
            self.assertEqual(self.context(plain)["y"].tolist(), (-x).tolist())
        self.assertEqual(self.context(Plain(x.T))["y"].tolist(), (-x.T).tolist())

    def test_dlpack_of_other_devices_and_of_memory_that_is_read_only(self):
        class Changed(Plain):
            """The capsule with a changed member, at `offset` of DLManagedTensorVersioned."""

            def __init__(self, tensor, offset, value):
                super().__init__(tensor)
                self.place, self.value = offset, value

            def __dlpack__(self, **keywords):
                capsule = self.tensor.__dlpack__(max_version=(1, 0))
                pointer = ctypes.pythonapi.PyCapsule_GetPointer
                pointer.restype = ctypes.c_void_p
                pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
                address = pointer(capsule, b"dltensor_versioned")
                ctypes.c_int32.from_address(address + self.place).value = self.value
                return capsule

        y = self.context.output(0, copy=False)
        other = context_of(unary(shape=(2, 2)))
        with self.assertRaisesRegex(TypeError, "device of type 10"):
            other(Changed(y, 40, 10))
        with self.assertRaisesRegex(BufferError, "read-only"):
            other.set_output(0, Changed(y, 24, 1))
        other.set_output(0, Changed(y, 24, 0))

    def test_a_tensor_is_an_input(self):
        y = self.context.output(0, copy=False)
        other = context_of(unary(shape=(2, 2)))
        self.assertEqual(other(y)["y"].tolist(), [[0, 1], [2, 3]])

    def test_the_next_run_waits_for_views(self):
        view = numpy.asarray(self.context.output(0, copy=False))
        self.assertEqual(view.tolist(), [[0, -1], [-2, -3]])
        with self.assertRaisesRegex(BufferError, "look at outputs"):
            self.context.run()
        del view
        self.context.run()
        for make in (numpy.from_dlpack, memoryview):
            view = make(self.context.output(0, copy=False))
            with self.assertRaises(BufferError):
                self.context.run()
            del view
            self.context.run()

    def test_a_stale_tensor_is_refused(self):
        y = self.context.output(0, copy=False)
        self.context.run()
        for use in (numpy.asarray, numpy.from_dlpack, memoryview):
            with self.assertRaises((tenon.InvalidStateError, BufferError)):
                use(y)

    def test_a_tensor_keeps_its_context(self):
        y = self.context.output(0, copy=False)
        del self.context
        self.assertEqual(numpy.array(y, copy=True).tolist(), [[0, -1], [-2, -3]])


if __name__ == "__main__":
    unittest.main()
