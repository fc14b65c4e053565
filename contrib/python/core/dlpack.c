/* DLPack 1.0, both ways: capsules named "dltensor" (before 1.0) and "dltensor_versioned". */
#include <stdlib.h>
#include <string.h>

#include "state.h"

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 0, DLPACK_READ_ONLY = 1, DLPACK_IS_COPIED = 2 };
enum { DEVICE_CPU = 1, DEVICE_CUDA = 2, DEVICE_CUDA_HOST = 3, DEVICE_CUDA_MANAGED = 13 };

/* The structures of the DLPack specification. */
typedef struct dlpack_tensor_t {
  void* data;
  int32_t device_type;
  int32_t device_index;
  int32_t rank;
  uint8_t type_code;
  uint8_t type_bits;
  uint16_t type_lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} dlpack_tensor_t;

typedef struct dlpack_managed_t {
  dlpack_tensor_t tensor;
  void* context;
  void (*deleter)(struct dlpack_managed_t* self);
} dlpack_managed_t;

typedef struct dlpack_versioned_t {
  uint32_t major;
  uint32_t minor;
  void* context;
  void (*deleter)(struct dlpack_versioned_t* self);
  uint64_t flags;
  dlpack_tensor_t tensor;
} dlpack_versioned_t;

static const struct {
  tenon_dtype_t dtype;
  uint8_t code;
} codes[] = {
    {TENON_DTYPE_INT8, 0},
    {TENON_DTYPE_INT16, 0},
    {TENON_DTYPE_INT32, 0},
    {TENON_DTYPE_INT64, 0},
    {TENON_DTYPE_UINT8, 1},
    {TENON_DTYPE_UINT16, 1},
    {TENON_DTYPE_UINT32, 1},
    {TENON_DTYPE_UINT64, 1},
    {TENON_DTYPE_FLOAT16, 2},
    {TENON_DTYPE_FLOAT32, 2},
    {TENON_DTYPE_FLOAT64, 2},
    {TENON_DTYPE_BFLOAT16, 4},
    {TENON_DTYPE_COMPLEX64, 5},
    {TENON_DTYPE_COMPLEX128, 5},
    {TENON_DTYPE_BOOL, 6},
    {TENON_DTYPE_FLOAT8E4M3FN, 10},
    {TENON_DTYPE_FLOAT8E4M3FNUZ, 11},
    {TENON_DTYPE_FLOAT8E5M2, 12},
    {TENON_DTYPE_FLOAT8E5M2FNUZ, 13},
    {TENON_DTYPE_FLOAT8E8M0, 14},
};
enum { CODE_COUNT = sizeof(codes) / sizeof(codes[0]) };

/* ---- In ---- */

static int use_tensor(const dlpack_tensor_t* tensor, python_array_t* array) {
  for (size_t i = 0; i < CODE_COUNT; ++i) {
    if (codes[i].code == tensor->type_code &&
        tenon_dtype_bits(codes[i].dtype) == tensor->type_bits && tensor->type_lanes == 1) {
      array->view.dtype = codes[i].dtype;
    }
  }
  if (array->view.dtype == TENON_DTYPE_UNDEFINED || tensor->rank < 0 ||
      tensor->rank > TENON_RANK_LIMIT) {
    PyErr_Format(PyExc_TypeError, "DLPack: no tensor of %d axes, type code %d, %d bits is possible",
                 (int)tensor->rank, (int)tensor->type_code, (int)tensor->type_bits);
    return -1;
  }
  const bool is_host = tensor->device_type == DEVICE_CPU || tensor->device_type == DEVICE_CUDA_HOST;
  const bool is_cuda =
      tensor->device_type == DEVICE_CUDA || tensor->device_type == DEVICE_CUDA_MANAGED;
  if (!is_host && !is_cuda) {
    PyErr_Format(PyExc_TypeError,
                 "DLPack: memory of a device of type %d: copy it to the host first",
                 (int)tensor->device_type);
    return -1;
  }
  array->view.data = tensor->data == NULL ? NULL : (char*)tensor->data + tensor->byte_offset;
  array->view.rank = (uint32_t)tensor->rank;
  array->device_type = is_host ? DEVICE_CPU : DEVICE_CUDA;
  array->device_index = tensor->device_index;
  int64_t dense = 1;
  for (uint32_t k = array->view.rank; k-- > 0;) {
    array->dims[k] = tensor->shape[k];
    array->strides[k] = tensor->strides != NULL ? tensor->strides[k] : dense;
    dense *= array->dims[k];
  }
  return 1;
}

/* The object's capsule. The newest form that it knows; older objects know no arguments. */
static PyObject* request_capsule(PyObject* method, PyObject* object, int64_t stream) {
  PyObject* device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
  PyObject* type = device != NULL ? PySequence_GetItem(device, 0) : NULL;
  const long device_type = type != NULL ? PyLong_AsLong(type) : DEVICE_CPU;
  PyObject* keywords = NULL;
  PyObject* none = PyTuple_New(0);
  PyObject* capsule = NULL;
  PyErr_Clear();
  for (int version = 1; version >= 0 && capsule == NULL && none != NULL; --version) {
    PyErr_Clear();
    keywords = version == 1 ? Py_BuildValue("{s:(ii)}", "max_version", 1, 0) : PyDict_New();
    if (keywords != NULL && device_type == DEVICE_CUDA) {
      PyObject* number = PyLong_FromLongLong(stream);
      if (number != NULL) {
        (void)PyDict_SetItemString(keywords, "stream", number);
        Py_DECREF(number);
      }
    }
    capsule = keywords != NULL ? PyObject_Call(method, none, keywords) : NULL;
    Py_XDECREF(keywords);
    if (capsule == NULL && !PyErr_ExceptionMatches(PyExc_TypeError)) {
      break;
    }
  }
  Py_XDECREF(none);
  Py_XDECREF(type);
  Py_XDECREF(device);
  return capsule;
}

int python_dlpack_acquire(PyObject* object, bool writable, int64_t stream, python_array_t* array) {
  PyObject* method = PyType_Check(object) ? NULL : PyObject_GetAttrString(object, "__dlpack__");
  if (method == NULL) {
    PyErr_Clear();
    return 0;
  }
  PyObject* capsule = request_capsule(method, object, stream);
  Py_DECREF(method);
  if (capsule == NULL) {
    return -1;
  }
  /* The capsule stays as it is: its destructor frees the tensor when the array is released. */
  array->keeper = capsule;
  const dlpack_versioned_t* versioned = NULL;
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (versioned->major != DLPACK_MAJOR) {
      PyErr_Format(PyExc_BufferError, "DLPack %d is newer than %d, which Tenon reads",
                   (int)versioned->major, (int)DLPACK_MAJOR);
      return -1;
    }
    if (writable && (versioned->flags & DLPACK_READ_ONLY) != 0) {
      PyErr_SetString(PyExc_BufferError, "the tensor is read-only");
      return -1;
    }
    return use_tensor(&versioned->tensor, array);
  }
  const dlpack_managed_t* managed = PyCapsule_GetPointer(capsule, "dltensor");
  return managed == NULL ? -1 : use_tensor(&managed->tensor, array);
}

/* ---- Out ---- */

/* Both forms with the tensor that they keep. */
typedef struct export_t {
  dlpack_managed_t managed;
  dlpack_versioned_t versioned;
  python_tensor_t* tensor;
} export_t;

static void release(export_t* export) {
  if (Py_IsInitialized()) {
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (export->tensor->context != NULL) {
      --export->tensor->context->export_count;
    }
    Py_DECREF((PyObject*)export->tensor);
    PyGILState_Release(gil);
  }
  free(export);
}

static void delete_managed(dlpack_managed_t* self) {
  release(self->context);
}

static void delete_versioned(dlpack_versioned_t* self) {
  release(self->context);
}

/* A capsule that nobody has used. */
static void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    dlpack_managed_t* managed = PyCapsule_GetPointer(capsule, "dltensor");
    managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    dlpack_versioned_t* versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    versioned->deleter(versioned);
  }
}

static PyObject* make_capsule(python_tensor_t* tensor, bool is_versioned, bool is_copied) {
  const tenon_tensor_view_t* view = &tensor->view;
  dlpack_tensor_t made = {.data = view->data,
                          .device_type = tensor->device_type,
                          .device_index = tensor->device_index,
                          .rank = (int32_t)view->rank,
                          .type_bits = (uint8_t)tenon_dtype_bits(view->dtype),
                          .type_lanes = 1,
                          .shape = tensor->extents,
                          .strides = tensor->extents + view->rank};
  bool is_known = false;
  for (size_t i = 0; i < CODE_COUNT; ++i) {
    if (codes[i].dtype == view->dtype) {
      made.type_code = codes[i].code;
      is_known = true;
    }
  }
  if (!is_known) {
    PyErr_Format(PyExc_BufferError, "DLPack has no type for %s", tenon_dtype_name(view->dtype));
    return NULL;
  }
  export_t* export = calloc(1, sizeof(*export));
  if (export == NULL) {
    return PyErr_NoMemory();
  }
  export->tensor = tensor;
  export->managed = (dlpack_managed_t){made, export, delete_managed};
  export->versioned = (dlpack_versioned_t){
      DLPACK_MAJOR, DLPACK_MINOR, export, delete_versioned, is_copied ? DLPACK_IS_COPIED : 0, made};
  PyObject* capsule = is_versioned
                          ? PyCapsule_New(&export->versioned, "dltensor_versioned", destroy_capsule)
                          : PyCapsule_New(&export->managed, "dltensor", destroy_capsule);
  if (capsule == NULL) {
    free(export);
    return NULL;
  }
  Py_INCREF((PyObject*)tensor);
  if (tensor->context != NULL) {
    ++tensor->context->export_count;
  }
  return capsule;
}

/* Whether `device`, a tuple or None, is the tensor's own. */
static bool is_own_device(const python_tensor_t* tensor, PyObject* device) {
  int type = 0;
  int index = 0;
  if (device == NULL || device == Py_None) {
    return true;
  }
  return PyArg_ParseTuple(device, "ii", &type, &index) != 0 && type == tensor->device_type &&
         index == tensor->device_index;
}

PyObject* python_tensor_dlpack(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  python_tensor_t* tensor = (python_tensor_t*)self;
  PyObject* stream = NULL;
  PyObject* version = NULL;
  PyObject* device = NULL;
  PyObject* copy = NULL;
  int major = 0;
  int minor = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO:__dlpack__", names, &stream,
                                   &version, &device, &copy) ||
      python_tensor_check(tensor) < 0) {
    return NULL;
  }
  if (version != NULL && version != Py_None &&
      !PyArg_ParseTuple(version, "ii;max_version", &major, &minor)) {
    return NULL;
  }
  if (!is_own_device(tensor, device)) {
    PyErr_Clear();
    PyErr_SetString(PyExc_BufferError, "the tensor can only be given on its own device");
    return NULL;
  }
  const bool is_copied = copy == Py_True;
  if (!is_copied) {
    return make_capsule(tensor, major >= 1, false);
  }
  if (tensor->device_type != DEVICE_CPU) {
    PyErr_SetString(PyExc_BufferError, "memory of a device is not copied: use the tensor as it is");
    return NULL;
  }
  PyObject* own = python_tensor_copy(tensor->state, &tensor->view);
  PyObject* capsule = own == NULL ? NULL : make_capsule((python_tensor_t*)own, major >= 1, true);
  Py_XDECREF(own);
  return capsule;
}
