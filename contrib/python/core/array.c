/* Memory of Python's objects as tensors: buffers, types of ml_dtypes, CUDA arrays, strings, and
 * numbers without memory of their own, which NumPy makes an array of. */
#include "array.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

static python_array_t* allocate(PyObject* object) {
  python_array_t* array = PyMem_Malloc(sizeof(*array));
  if (array == NULL) {
    (void)PyErr_NoMemory();
    return NULL;
  }
  /* dims and strides stay uninitialised: their first `rank` members are written before use. */
  memset(&array->view, 0, sizeof(array->view));
  memset(&array->buffer, 0, sizeof(*array) - offsetof(python_array_t, buffer));
  array->view.dims = array->dims;
  array->view.strides = array->strides;
  array->view.layout = TENON_NONE;
  array->device_type = 1;
  array->object = Py_NewRef(object);
  return array;
}

void python_array_release(python_array_t* array) {
  if (array != NULL) {
    if (array->buffer.obj != NULL) {
      PyBuffer_Release(&array->buffer);
    }
    if (array->is_lent) {
      --((python_tensor_t*)array->object)->context->export_count;
    }
    Py_XDECREF(array->keeper);
    Py_XDECREF(array->object);
    PyMem_Free(array->block);
    PyMem_Free(array);
  }
}

/* Strides from bytes to elements. */
static int divide_strides(python_array_t* array, int64_t item_bytes) {
  for (uint32_t k = 0; k < array->view.rank; ++k) {
    if (array->strides[k] % item_bytes != 0) {
      PyErr_SetString(PyExc_ValueError,
                      "the array's strides are no multiples of its elements: copy it first");
      return -1;
    }
    array->strides[k] /= item_bytes;
  }
  return 0;
}

/* Fills in extents and strides of the buffer. `dtype`: of its elements. */
static int use_buffer(python_array_t* array, tenon_dtype_t dtype) {
  const Py_buffer* buffer = &array->buffer;
  if (buffer->ndim > TENON_RANK_LIMIT) {
    PyErr_Format(PyExc_ValueError, "an array of %d axes: at most %d are possible", buffer->ndim,
                 (int)TENON_RANK_LIMIT);
    return -1;
  }
  array->view.data = buffer->buf;
  array->view.dtype = dtype;
  array->view.rank = (uint32_t)buffer->ndim;
  for (int k = 0; k < buffer->ndim; ++k) {
    array->dims[k] = buffer->shape[k];
    array->strides[k] = buffer->strides[k];
  }
  return divide_strides(array, buffer->itemsize);
}

/* The name of the object's dtype as an element type; UNDEFINED for none. */
static tenon_dtype_t named_dtype(PyObject* object) {
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  PyObject* own = PyObject_GetAttrString(object, "dtype");
  if (own == NULL || python_dtype_from(own, &dtype) < 0) {
    PyErr_Clear();
    dtype = TENON_DTYPE_UNDEFINED;
  }
  Py_XDECREF(own);
  return dtype;
}

/* Packs the elements, one in each byte, of an array of less than 8 bits. */
static int pack(python_array_t* array) {
  const uint32_t bits = tenon_dtype_bits(array->view.dtype);
  tenon_tensor_view_t bytes = array->view;
  bytes.dtype = TENON_DTYPE_UINT8;
  const size_t count = python_element_count(&bytes);
  uint8_t* dense = PyMem_Malloc(count + 1);
  array->block = PyMem_Malloc(count + 1);
  if (dense == NULL || array->block == NULL) {
    PyMem_Free(dense);
    (void)PyErr_NoMemory();
    return -1;
  }
  python_copy_out(&bytes, dense);
  python_pack(dense, count, bits, array->block);
  PyMem_Free(dense);
  int64_t stride = 1;
  for (uint32_t k = array->view.rank; k-- > 0;) {
    array->strides[k] = stride;
    stride *= array->dims[k];
  }
  array->view.data = array->block;
  return 0;
}

/* An array of a type of ml_dtypes, which has no buffer: its bits have one. 0: it is none. */
static int use_bits(python_array_t* array, PyObject* object, int flags) {
  const tenon_dtype_t dtype = named_dtype(object);
  if (dtype == TENON_DTYPE_UNDEFINED || python_dtype_format(dtype) != NULL ||
      dtype == TENON_DTYPE_STRING) {
    return 0;
  }
  array->keeper = PyObject_CallMethod(object, "view", "s", python_dtype_numpy(dtype, false));
  if (array->keeper == NULL || PyObject_GetBuffer(array->keeper, &array->buffer, flags) < 0) {
    PyErr_Clear();
    Py_CLEAR(array->keeper);
    return 0;
  }
  if (use_buffer(array, dtype) < 0) {
    return -1;
  }
  if (tenon_dtype_bits(dtype) >= 8) {
    return 1;
  }
  if ((flags & PyBUF_WRITABLE) != 0) {
    PyErr_Format(PyExc_TypeError, "outputs of %s cannot be written to the caller's memory",
                 tenon_dtype_name(dtype));
    return -1;
  }
  return pack(array) < 0 ? -1 : 1;
}

/* ---- Strings ---- */

/* One string, as a view into an object that `owners`, a list, keeps. */
static int take_string(PyObject* item, PyObject* owners, tenon_string_view_t* out_view) {
  PyObject* bytes = PyBytes_Check(item)
                        ? Py_NewRef(item)
                        : PyUnicode_AsEncodedString(item, "utf-8", "surrogateescape");
  char* data = NULL;
  Py_ssize_t size = 0;
  if (bytes == NULL || PyBytes_AsStringAndSize(bytes, &data, &size) < 0 ||
      PyList_Append(owners, bytes) < 0) {
    Py_XDECREF(bytes);
    return -1;
  }
  Py_DECREF(bytes);
  out_view->data = data;
  out_view->size = (size_t)size;
  return 0;
}

/* Appends the strings of nested lists to `flat`, and checks that the extents agree. */
static int flatten(PyObject* item, uint32_t axis, python_array_t* array, PyObject* flat) {
  if (PyUnicode_Check(item) || PyBytes_Check(item)) {
    if (axis != array->view.rank) {
      PyErr_SetString(PyExc_ValueError, "the nested lists of strings differ in depth");
      return -1;
    }
    return PyList_Append(flat, item);
  }
  const Py_ssize_t count = PyList_Check(item) || PyTuple_Check(item) ? PySequence_Size(item) : -1;
  if (count < 0 || axis >= array->view.rank || array->dims[axis] != count) {
    PyErr_SetString(PyExc_ValueError, "strings are a str, or nested lists of equal lengths");
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* inner = PySequence_GetItem(item, i);
    const int result = inner == NULL ? -1 : flatten(inner, axis + 1, array, flat);
    Py_XDECREF(inner);
    if (result < 0) {
      return -1;
    }
  }
  return 0;
}

/* The extents of nested lists, by their first items. */
static int measure(PyObject* item, python_array_t* array) {
  uint32_t rank = 0;
  PyObject* inner = Py_NewRef(item);
  while (PyList_Check(inner) || PyTuple_Check(inner)) {
    const Py_ssize_t count = PySequence_Size(inner);
    if (rank >= TENON_RANK_LIMIT) {
      Py_DECREF(inner);
      PyErr_SetString(PyExc_ValueError, "the lists are nested too deep");
      return -1;
    }
    array->dims[rank++] = count;
    if (count == 0) {
      break;
    }
    PyObject* first = PySequence_GetItem(inner, 0);
    Py_DECREF(inner);
    if (first == NULL) {
      return -1;
    }
    inner = first;
  }
  Py_DECREF(inner);
  array->view.rank = rank;
  return 0;
}

/* A str, bytes, nested lists of them, or an array with `tolist`. */
static int use_strings(python_array_t* array, PyObject* object) {
  int result = -1;
  PyObject* nested = PyObject_HasAttrString(object, "tolist")
                         ? PyObject_CallMethod(object, "tolist", NULL)
                         : Py_NewRef(object);
  PyObject* flat = PyList_New(0);
  PyObject* owners = PyList_New(0);
  if (nested != NULL && flat != NULL && owners != NULL && measure(nested, array) == 0 &&
      flatten(nested, 0, array, flat) == 0) {
    const Py_ssize_t count = PyList_Size(flat);
    tenon_string_view_t* views = python_calloc((size_t)count, sizeof(*views));
    result = views == NULL ? -1 : 0;
    array->block = views;
    for (Py_ssize_t i = 0; result == 0 && i < count; ++i) {
      result = take_string(PyList_GetItem(flat, i), owners, &views[i]);
    }
    int64_t stride = 1;
    for (uint32_t k = array->view.rank; k-- > 0;) {
      array->strides[k] = stride;
      stride *= array->dims[k];
    }
    array->view.data = views;
    array->view.dtype = TENON_DTYPE_STRING;
    array->keeper = Py_NewRef(owners);
  }
  Py_XDECREF(owners);
  Py_XDECREF(flat);
  Py_XDECREF(nested);
  return result;
}

/* ---- Memory of CUDA devices ---- */

/* "<f4": NumPy's short name of a type. */
static tenon_dtype_t dtype_of_type_string(const char* text) {
  const char order = text[0];
  const int kind = order != '\0' ? text[1] : '\0';
  const long size = kind != '\0' ? strtol(text + 2, NULL, 10) : 0;
  const char* format = NULL;
  if (order == '>' || kind == '\0') {
    return TENON_DTYPE_UNDEFINED;
  }
  switch (kind) {
    case 'b':
      return TENON_DTYPE_BOOL;
    case 'i':
      format = "q";
      break;
    case 'u':
      format = "Q";
      break;
    case 'f':
      format = size == 2 ? "e" : size == 4 ? "f" : "d";
      break;
    case 'c':
      format = size == 8 ? "Zf" : "Zd";
      break;
    default:
      return TENON_DTYPE_UNDEFINED;
  }
  return python_dtype_of_format(format, size);
}

/* Reads the members of the interface. Its strides count bytes; None means row-major. */
static int read_cuda(python_array_t* array, PyObject* members, bool writable) {
  PyObject* data = PyDict_GetItemString(members, "data");
  PyObject* shape = PyDict_GetItemString(members, "shape");
  PyObject* type = PyDict_GetItemString(members, "typestr");
  PyObject* strides = PyDict_GetItemString(members, "strides");
  const char* text = type != NULL ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
  PyObject* address = data != NULL ? PySequence_GetItem(data, 0) : NULL;
  PyObject* read_only = writable && data != NULL ? PySequence_GetItem(data, 1) : NULL;
  const int is_read_only = read_only != NULL ? PyObject_IsTrue(read_only) : 0;
  Py_XDECREF(read_only);
  uint32_t rank = 0;
  if (text == NULL || address == NULL || shape == NULL ||
      python_extents(shape, array->dims, &rank) < 0) {
    Py_XDECREF(address);
    if (PyErr_Occurred() == NULL) {
      PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__ lacks data, shape or typestr");
    }
    return -1;
  }
  array->view.data = PyLong_AsVoidPtr(address);
  array->view.rank = rank;
  array->view.dtype = dtype_of_type_string(text);
  Py_DECREF(address);
  if (is_read_only > 0) {
    PyErr_SetString(PyExc_BufferError, "the array is read-only");
    return -1;
  }
  const int64_t bytes = (int64_t)python_dtype_bytes(array->view.dtype);
  if (array->view.dtype == TENON_DTYPE_UNDEFINED || PyErr_Occurred() != NULL) {
    PyErr_Format(PyExc_TypeError, "__cuda_array_interface__: no element type '%s'", text);
    return -1;
  }
  int64_t dense = 1;
  for (uint32_t k = rank; k-- > 0;) {
    array->strides[k] = dense;
    dense *= array->dims[k];
  }
  if (strides != NULL && strides != Py_None) {
    if (python_extents(strides, array->strides, &rank) < 0) {
      return -1;
    }
    if (rank != array->view.rank) {
      PyErr_Format(PyExc_ValueError, "__cuda_array_interface__: %u strides for %u axes", rank,
                   array->view.rank);
      return -1;
    }
    if (divide_strides(array, bytes) < 0) {
      return -1;
    }
  }
  array->device_type = 2;
  return 1;
}

static int use_cuda(python_array_t* array, PyObject* object, bool writable) {
  PyObject* members = PyObject_GetAttrString(object, "__cuda_array_interface__");
  if (members == NULL) {
    PyErr_Clear();
    return 0;
  }
  const int result = PyDict_Check(members) ? read_cuda(array, members, writable) : 0;
  Py_DECREF(members);
  return result;
}

/* ---- All kinds ---- */

/* Another Tensor, which knows its elements. 0: it is none. */
static int use_tensor(python_state_t* state, python_array_t* array, PyObject* object,
                      bool writable) {
  if (!PyObject_TypeCheck(object, state->tensor_type)) {
    return 0;
  }
  python_tensor_t* tensor = (python_tensor_t*)object;
  if (writable && tensor->context != NULL) {
    PyErr_SetString(PyExc_ValueError, "the tensor is an output of a context already");
    return -1;
  }
  if (python_tensor_check(tensor) < 0) {
    return -1;
  }
  array->view = tensor->view;
  array->view.dims = array->dims;
  array->view.strides = array->strides;
  for (uint32_t k = 0; k < tensor->view.rank; ++k) {
    array->dims[k] = tensor->view.dims[k];
    array->strides[k] = tensor->view.strides[k];
  }
  array->device_type = tensor->device_type;
  array->device_index = tensor->device_index;
  array->is_lent = tensor->context != NULL;
  if (array->is_lent) {
    ++tensor->context->export_count;
  }
  return 1;
}

/* The buffer protocol. 0: the object has none, or one of elements that are no numbers. */
static int use_protocol(python_array_t* array, PyObject* object, int flags) {
  if (!PyObject_CheckBuffer(object) || PyUnicode_Check(object) || PyBytes_Check(object)) {
    return 0;
  }
  if (PyObject_GetBuffer(object, &array->buffer, flags) < 0) {
    if ((flags & PyBUF_WRITABLE) != 0 && PyErr_ExceptionMatches(PyExc_BufferError)) {
      return -1; /* read-only */
    }
    PyErr_Clear();
    memset(&array->buffer, 0, sizeof(array->buffer));
    return 0;
  }
  const tenon_dtype_t dtype = python_dtype_of_format(array->buffer.format, array->buffer.itemsize);
  if (dtype == TENON_DTYPE_UNDEFINED) {
    if (array->buffer.format != NULL && array->buffer.format[0] == '>') {
      PyErr_SetString(PyExc_TypeError,
                      "the array's elements have the other byte order: convert it by astype");
      return -1;
    }
    PyBuffer_Release(&array->buffer);
    memset(&array->buffer, 0, sizeof(array->buffer));
    return 0;
  }
  return use_buffer(array, dtype) < 0 ? -1 : 1;
}

/* An array that NumPy makes of numbers in lists. */
static python_array_t* from_numbers(python_state_t* state, PyObject* object, tenon_dtype_t expected,
                                    int64_t stream) {
  if (state->numpy == NULL || PyUnicode_Check(object) || PyBytes_Check(object) ||
      object == Py_None || PyDict_Check(object)) {
    PyErr_Format(PyExc_TypeError,
                 "%R is no tensor: an object with the buffer protocol, __dlpack__ or "
                 "__cuda_array_interface__ is needed",
                 Py_TYPE(object));
    return NULL;
  }
  const char* name = python_dtype_numpy(expected, false);
  PyObject* made = name == NULL || tenon_dtype_bits(expected) < 8
                       ? PyObject_CallMethod(state->numpy, "asarray", "O", object)
                       : PyObject_CallMethod(state->numpy, "asarray", "Os", object, name);
  if (made == NULL) {
    return NULL;
  }
  python_array_t* array = NULL;
  if (PyObject_CheckBuffer(object) || named_dtype(made) == TENON_DTYPE_STRING) {
    PyErr_Format(PyExc_TypeError, "an array of %R has no elements that Tenon knows", made);
  } else {
    array = python_array_acquire(state, made, TENON_DTYPE_UNDEFINED, false, stream);
  }
  Py_DECREF(made);
  return array;
}

python_array_t* python_array_acquire(python_state_t* state, PyObject* object,
                                     tenon_dtype_t expected, bool writable, int64_t stream) {
  const int flags = writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
  python_array_t* array = allocate(object);
  if (array == NULL) {
    return NULL;
  }
  int found = 0;
  if (expected == TENON_DTYPE_STRING) {
    found = use_strings(array, object) < 0 ? -1 : 1;
  }
  if (found == 0) {
    found = use_tensor(state, array, object, writable);
  }
  if (found == 0) {
    found = use_protocol(array, object, flags);
  }
  if (found == 0) {
    found = use_bits(array, object, flags);
  }
  if (found == 0) {
    found = use_cuda(array, object, writable);
  }
  if (found == 0) {
    found = python_dlpack_acquire(object, writable, stream, array);
  }
  if (found > 0) {
    return array;
  }
  python_array_release(array);
  if (found < 0) {
    return NULL;
  }
  if (writable) {
    PyErr_SetString(PyExc_TypeError, "memory for an output must be a writable array");
    return NULL;
  }
  return from_numbers(state, object, expected, stream);
}

python_array_t* python_array_on_host(python_state_t* state, PyObject* object,
                                     tenon_dtype_t expected) {
  python_array_t* array = python_array_acquire(state, object, expected, false, -1);
  if (array != NULL && array->device_type != 1) {
    PyErr_SetString(PyExc_ValueError,
                    "the array is in a device's memory: copy it to the host first");
    python_array_release(array);
    return NULL;
  }
  return array;
}
