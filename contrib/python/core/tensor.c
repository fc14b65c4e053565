/* Tensor: elements with a type and extents, for NumPy, DLPack and the buffer protocol. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

static python_tensor_t* make(python_state_t* state, const tenon_tensor_view_t* view) {
  python_tensor_t* tensor = python_allocate(state->tensor_type);
  if (tensor == NULL) {
    return NULL;
  }
  tensor->view = *view;
  tensor->device_type = 1;
  tensor->extents = PyMem_Malloc(((size_t)view->rank * 2 + 1) * sizeof(int64_t));
  if (tensor->extents == NULL) {
    Py_DECREF((PyObject*)tensor);
    (void)PyErr_NoMemory();
    return NULL;
  }
  int64_t dense = 1;
  for (uint32_t k = view->rank; k-- > 0;) {
    tensor->extents[k] = view->dims[k];
    tensor->extents[view->rank + k] = view->strides != NULL ? view->strides[k] : dense;
    dense *= view->dims[k];
  }
  tensor->view.dims = tensor->extents;
  tensor->view.strides = tensor->extents + view->rank;
  return tensor;
}

/* Copies the texts behind the elements, for the originals end with the next run. */
static void copy_strings(tenon_string_view_t* strings, size_t count, char* text) {
  for (size_t i = 0; i < count; ++i) {
    if (strings[i].size > 0) {
      memcpy(text, strings[i].data, strings[i].size);
    }
    strings[i].data = text;
    text += strings[i].size;
  }
}

PyObject* python_tensor_copy(python_state_t* state, const tenon_tensor_view_t* view) {
  python_tensor_t* tensor = make(state, view);
  if (tensor == NULL) {
    return NULL;
  }
  const size_t count = python_element_count(view);
  const size_t bits = tenon_dtype_bits(view->dtype);
  const size_t dense = bits < 8 ? (count * bits + 7) / 8 : count * (bits / 8);
  size_t text_size = 0;
  if (view->dtype == TENON_DTYPE_STRING) {
    tenon_string_view_t* strings = calloc(count + 1, sizeof(*strings));
    if (strings != NULL) {
      python_copy_out(view, strings);
    }
    for (size_t i = 0; strings != NULL && i < count; ++i) {
      text_size += strings[i].size;
    }
    tensor->block = strings == NULL ? NULL : realloc(strings, dense + text_size + 16);
    if (tensor->block == NULL) {
      free(strings);
    } else {
      copy_strings(tensor->block, count, (char*)tensor->block + dense);
    }
  } else {
    tensor->block = malloc(dense + count * (bits < 8) + 16);
    if (tensor->block != NULL && bits >= 8) {
      python_copy_out(view, tensor->block);
    } else if (tensor->block != NULL) {
      uint8_t* bytes = (uint8_t*)tensor->block + dense;
      python_copy_out(view, bytes);
      python_pack(bytes, count, (uint32_t)bits, tensor->block);
    }
  }
  if (tensor->block == NULL) {
    Py_DECREF((PyObject*)tensor);
    return PyErr_NoMemory();
  }
  tensor->view.data = tensor->block;
  tensor->view.bit_offset = 0;
  int64_t stride = 1;
  for (uint32_t k = view->rank; k-- > 0;) {
    tensor->extents[view->rank + k] = stride;
    stride *= view->dims[k];
  }
  return (PyObject*)tensor;
}

PyObject* python_tensor_borrow(python_context_t* context, const tenon_tensor_view_t* view,
                               int32_t device_type, int32_t device_index) {
  python_tensor_t* tensor = make(context->state, view);
  if (tensor != NULL) {
    tensor->owner = Py_NewRef((PyObject*)context);
    tensor->context = context;
    tensor->run = context->run_count;
    tensor->device_type = device_type;
    tensor->device_index = device_index;
  }
  return (PyObject*)tensor;
}

int python_tensor_check(python_tensor_t* tensor) {
  if (tensor->context != NULL && tensor->run != tensor->context->run_count) {
    (void)python_fail(tensor->state, TENON_ERROR_INVALID_STATE,
                      "the tensor belongs to an earlier run of its context: copy it before the "
                      "next run");
    return -1;
  }
  return 0;
}

/* ---- NumPy ---- */

PyObject* python_strings_of(const tenon_tensor_view_t* view) {
  const size_t count = python_element_count(view);
  tenon_string_view_t* strings = calloc(count + 1, sizeof(*strings));
  PyObject* list = strings == NULL ? NULL : PyList_New(0);
  if (list != NULL) {
    python_copy_out(view, strings);
  }
  for (size_t i = 0; list != NULL && i < count; ++i) {
    PyObject* text = PyUnicode_DecodeUTF8(strings[i].data != NULL ? strings[i].data : "",
                                          (Py_ssize_t)strings[i].size, "surrogateescape");
    python_append(&list, text);
  }
  free(strings);
  return list;
}

/* An array of str objects. */
static PyObject* string_array(python_state_t* state, const tenon_tensor_view_t* view) {
  PyObject* list = python_strings_of(view);
  PyObject* shape = python_dims(view->dims, view->rank);
  PyObject* array = NULL;
  if (list != NULL && shape != NULL) {
    PyObject* flat = PyObject_CallMethod(state->numpy, "array", "Os", list, "object");
    array = flat == NULL ? NULL : PyObject_CallMethod(flat, "reshape", "O", shape);
    Py_XDECREF(flat);
  }
  Py_XDECREF(shape);
  Py_XDECREF(list);
  return array;
}

PyObject* python_array_copy(python_state_t* state, const tenon_tensor_view_t* view) {
  const tenon_dtype_t dtype = view->dtype;
  if (state->numpy == NULL || dtype >= TENON_DTYPE_COUNT || state->dtypes[dtype] == NULL) {
    return python_tensor_copy(state, view);
  }
  if (dtype == TENON_DTYPE_STRING) {
    return string_array(state, view);
  }
  PyObject* shape = python_dims(view->dims, view->rank);
  PyObject* array = shape == NULL ? NULL
                                  : PyObject_CallFunctionObjArgs(state->numpy_empty, shape,
                                                                 state->dtypes[dtype], NULL);
  Py_XDECREF(shape);
  Py_buffer buffer;
  if (array == NULL) {
    return NULL;
  }
  if (PyObject_GetBuffer(array, &buffer, PyBUF_WRITABLE) < 0) {
    Py_DECREF(array);
    return NULL;
  }
  python_copy_out(view, buffer.buf);
  PyBuffer_Release(&buffer);
  if (state->views[dtype] != NULL) {
    PyObject* typed = PyObject_CallMethod(array, "view", "O", state->views[dtype]);
    Py_DECREF(array);
    return typed;
  }
  return array;
}

PyObject* python_argument_copy(python_state_t* state, const tenon_argument_t* argument) {
  if (argument->kind == TENON_ARGUMENT_TENSOR) {
    return python_array_copy(state, &argument->tensor);
  }
  if (argument->kind == TENON_ARGUMENT_OPTIONAL ||
      argument->kind == TENON_ARGUMENT_OPTIONAL_SEQUENCE) {
    return argument->count == 0 ? Py_NewRef(Py_None)
                                : python_argument_copy(state, &argument->items[0]);
  }
  PyObject* list = PyList_New(0);
  for (uint32_t i = 0; list != NULL && i < argument->count; ++i) {
    PyObject* item = python_argument_copy(state, &argument->items[i]);
    python_append(&list, item);
  }
  return list;
}

/* ---- The type ---- */

static void tensor_dealloc(python_tensor_t* self) {
  PyMem_Free(self->extents);
  free(self->block);
  Py_XDECREF(self->owner);
  python_free(self);
}

static bool asks(int flags, int request) {
  return (flags & request) == request;
}

/* Strides in bytes, behind the extents, for one request. */
static int tensor_get_buffer(python_tensor_t* self, Py_buffer* buffer, int flags) {
  const uint32_t rank = self->view.rank;
  const char* format = python_dtype_format(self->view.dtype);
  const char* bits = format == NULL ? python_dtype_numpy(self->view.dtype, false) : NULL;
  buffer->obj = NULL;
  if (python_tensor_check(self) < 0) {
    return -1;
  }
  if (bits != NULL && tenon_dtype_bits(self->view.dtype) >= 8 &&
      self->view.dtype != TENON_DTYPE_STRING) {
    format = python_dtype_format(python_dtype_of_name(bits));
  }
  if (format == NULL || self->device_type != 1) {
    PyErr_Format(PyExc_BufferError, "a tensor of %s %s has no buffer",
                 tenon_dtype_name(self->view.dtype),
                 self->device_type != 1 ? "in a device's memory" : "elements");
    return -1;
  }
  const Py_ssize_t size = (Py_ssize_t)(tenon_dtype_bits(self->view.dtype) / 8);
  Py_ssize_t* extents = PyMem_Malloc(((size_t)rank * 2 + 1) * sizeof(*extents));
  if (extents == NULL) {
    (void)PyErr_NoMemory();
    return -1;
  }
  Py_ssize_t dense = size;
  bool is_dense = true;
  for (uint32_t k = rank; k-- > 0;) {
    extents[k] = (Py_ssize_t)self->view.dims[k];
    extents[rank + k] = (Py_ssize_t)self->view.strides[k] * size;
    is_dense = is_dense && (extents[k] == 1 || extents[rank + k] == dense);
    dense *= extents[k];
  }
  const bool is_column_major = asks(flags, PyBUF_F_CONTIGUOUS) && rank > 1;
  const bool needs_rows = !asks(flags, PyBUF_STRIDES) || asks(flags, PyBUF_C_CONTIGUOUS) ||
                          asks(flags, PyBUF_F_CONTIGUOUS) || asks(flags, PyBUF_ANY_CONTIGUOUS);
  if (is_column_major || (needs_rows && !is_dense)) {
    PyMem_Free(extents);
    PyErr_SetString(PyExc_BufferError, "the tensor's elements are in another order: copy it");
    return -1;
  }
  *buffer = (Py_buffer){.buf = self->view.data,
                        .obj = Py_NewRef((PyObject*)self),
                        .len = dense,
                        .itemsize = size,
                        .readonly = 0,
                        .ndim = (int)rank,
                        .format = asks(flags, PyBUF_FORMAT) ? (char*)format : NULL,
                        .shape = asks(flags, PyBUF_ND) ? extents : NULL,
                        .strides = asks(flags, PyBUF_STRIDES) ? extents + rank : NULL,
                        .internal = extents};
  if (self->context != NULL) {
    ++self->context->export_count;
  }
  return 0;
}

static void tensor_release_buffer(python_tensor_t* self, Py_buffer* buffer) {
  PyMem_Free(buffer->internal);
  if (self->context != NULL) {
    --self->context->export_count;
  }
}

static PyObject* tensor_array(python_tensor_t* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"dtype", "copy", NULL};
  PyObject* dtype = Py_None;
  PyObject* copy = Py_None;
  python_state_t* state = self->state;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO:__array__", names, &dtype, &copy) ||
      python_tensor_check(self) < 0) {
    return NULL;
  }
  if (state->numpy == NULL || self->device_type != 1) {
    return python_fail(
        state, TENON_ERROR_INVALID_STATE,
        state->numpy == NULL ? "NumPy is not installed" : "the tensor is in a device's memory");
  }
  const tenon_dtype_t own = self->view.dtype;
  PyObject* array = NULL;
  const bool is_copied = own == TENON_DTYPE_STRING || tenon_dtype_bits(own) < 8;
  if (is_copied && copy == Py_False) {
    PyErr_Format(PyExc_ValueError, "elements of %s need a copy", tenon_dtype_name(own));
    return NULL;
  }
  if (is_copied || copy == Py_True) {
    array = python_array_copy(state, &self->view);
  } else {
    PyObject* bytes = PyMemoryView_FromObject((PyObject*)self);
    array = bytes == NULL ? NULL : PyObject_CallMethod(state->numpy, "asarray", "O", bytes);
    Py_XDECREF(bytes);
    if (array != NULL && state->views[own] != NULL) {
      PyObject* typed = PyObject_CallMethod(array, "view", "O", state->views[own]);
      Py_DECREF(array);
      array = typed;
    }
  }
  if (array != NULL && dtype != Py_None) {
    PyObject* converted = PyObject_CallMethod(array, "astype", "O", dtype);
    Py_DECREF(array);
    array = converted;
  }
  return array;
}

static PyObject* tensor_tolist(python_tensor_t* self, PyObject* unused) {
  (void)unused;
  if (python_tensor_check(self) < 0) {
    return NULL;
  }
  if (self->view.dtype == TENON_DTYPE_STRING) {
    return python_strings_of(&self->view);
  }
  PyObject* bytes = PyMemoryView_FromObject((PyObject*)self);
  PyObject* list = bytes == NULL ? NULL : PyObject_CallMethod(bytes, "tolist", NULL);
  Py_XDECREF(bytes);
  return list;
}

static PyObject* tensor_device(python_tensor_t* self, PyObject* unused) {
  (void)unused;
  return Py_BuildValue("(ii)", (int)self->device_type, (int)self->device_index);
}

static PyObject* tensor_repr(python_tensor_t* self) {
  PyObject* shape = python_dims(self->view.dims, self->view.rank);
  PyObject* text = shape == NULL ? NULL
                                 : PyUnicode_FromFormat("<tenon Tensor %s %R%s>",
                                                        tenon_dtype_name(self->view.dtype), shape,
                                                        self->context != NULL ? ", borrowed" : "");
  Py_XDECREF(shape);
  return text;
}

static PyObject* tensor_get_shape(python_tensor_t* self, void* unused) {
  (void)unused;
  return python_dims(self->view.dims, self->view.rank);
}

static PyObject* tensor_get_strides(python_tensor_t* self, void* unused) {
  (void)unused;
  return python_dims(self->view.strides, self->view.rank);
}

static PyObject* tensor_get_dtype(python_tensor_t* self, void* unused) {
  (void)unused;
  return python_text(tenon_dtype_name(self->view.dtype));
}

static PyObject* tensor_get_address(python_tensor_t* self, void* unused) {
  (void)unused;
  return python_tensor_check(self) < 0 ? NULL : PyLong_FromVoidPtr(self->view.data);
}

static PyObject* tensor_get_is_borrowed(python_tensor_t* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(self->context != NULL);
}

static PyMethodDef tensor_methods[] = {
    PYTHON_KEYWORDS("__array__", tensor_array, "dtype=None, copy=None", "Returns a NumPy array."),
    PYTHON_KEYWORDS("__dlpack__", python_tensor_dlpack,
                    "*, stream=None, max_version=None, dl_device=None, copy=None",
                    "Returns a DLPack capsule."),
    PYTHON_PLAIN("__dlpack_device__", tensor_device,
                 "Returns type and index of the device, as in DLPack."),
    PYTHON_PLAIN("tolist", tensor_tolist,
                 "Returns the elements in nested lists; strings in a flat list."),
    {NULL, NULL, 0, NULL}};

static PyGetSetDef tensor_getters[] = {
    PYTHON_GETTER("shape", tensor_get_shape, "Extents, a tuple of int."),
    PYTHON_GETTER("strides", tensor_get_strides, "Strides in elements, a tuple of int."),
    PYTHON_GETTER("dtype", tensor_get_dtype, "Element type, such as 'f32'."),
    PYTHON_GETTER("address", tensor_get_address, "Address of the first element."),
    PYTHON_GETTER("is_borrowed", tensor_get_is_borrowed,
                  "True if the memory is the context's: its next run overwrites it."),
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Elements with a type and extents: an output in memory of its own, or borrowed from a context "
     "until its next run. NumPy, DLPack and the buffer protocol read it without a copy."},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_repr, tensor_repr},
    {Py_tp_methods, tensor_methods},
    {Py_tp_getset, tensor_getters},
    {Py_bf_getbuffer, tensor_get_buffer},
    {Py_bf_releasebuffer, tensor_release_buffer},
    {0, NULL}};

PYTHON_SPEC(tensor, "Tensor", PYTHON_RESULT, slots);
