"""The installed library from Python, by ctypes alone: reads a model, y = |x| over 4 floats, runs it, frees it.
  by_ctypes.py LIBRARY MODEL"""

import ctypes
import sys

FLOAT32 = 12  # TENON_DTYPE_FLOAT32
NONE = 0xFFFFFFFF  # TENON_NONE


class TensorView(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("device_extents", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_uint32),
        ("dtype", ctypes.c_uint32),
        ("layout", ctypes.c_uint32),
        ("bit_offset", ctypes.c_uint32),
    ]


tenon = ctypes.CDLL(sys.argv[1])
tenon.tenon_last_message.restype = ctypes.c_char_p


def call(name, *arguments):
    if getattr(tenon, name)(*arguments) != 0:
        sys.exit(f"{name}: {tenon.tenon_last_message().decode()}")


registry, network, plan, engine, context = (ctypes.c_void_p() for _ in range(5))
call("tenon_registry_create", None, ctypes.byref(registry))
call("tenon_network_create", registry, ctypes.byref(network))
if tenon.tenon_network_parse_file(network, b"/no/such/file", None) == 0:
    sys.exit("a file that is not there was parsed")
if b"/no/such/file" not in tenon.tenon_last_message():
    sys.exit("the message does not name the file")
call("tenon_network_parse_file", network, sys.argv[2].encode(), None)
call("tenon_build", network, None, ctypes.byref(plan))
call("tenon_engine_create_from_plan", registry, plan, None, ctypes.byref(engine))
call("tenon_context_create", engine, None, ctypes.byref(context))
given = (ctypes.c_float * 4)(-1, 2, -3, 0.5)
dims = (ctypes.c_int64 * 1)(4)
x = TensorView(ctypes.cast(given, ctypes.c_void_p), dims, None, None, 1, FLOAT32, NONE, 0)
y = TensorView()
call("tenon_context_set_input", context, 0, ctypes.byref(x))
call("tenon_context_run", context)
call("tenon_context_get_output", context, 0, ctypes.byref(y))
result = list(ctypes.cast(y.data, ctypes.POINTER(ctypes.c_float))[0:4])
tenon.tenon_context_destroy(context)
tenon.tenon_engine_release(engine)
tenon.tenon_plan_destroy(plan)
tenon.tenon_network_destroy(network)
tenon.tenon_registry_release(registry)
if result != [1, 2, 3, 0.5]:
    sys.exit(f"wrong: {result}")
