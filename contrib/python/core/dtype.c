/* Element types: Tenon's mnemonics, NumPy's names, formats of buffers. */
#include <string.h>

#include "state.h"

typedef struct dtype_names_t {
  const char* format; /* of the buffer protocol, NULL: none */
  const char* name;   /* NumPy's or ml_dtypes', NULL: none */
  const char* bits;   /* NumPy's name for the elements' bits, where `name` is ml_dtypes' */
  size_t bytes;       /* of one element in an array of Python's */
} dtype_names_t;

static const dtype_names_t names[TENON_DTYPE_COUNT] = {
    [TENON_DTYPE_BOOL] = {"?", "bool", NULL, 1},
    [TENON_DTYPE_INT8] = {"b", "int8", NULL, 1},
    [TENON_DTYPE_INT16] = {"h", "int16", NULL, 2},
    [TENON_DTYPE_INT32] = {"i", "int32", NULL, 4},
    [TENON_DTYPE_INT64] = {"q", "int64", NULL, 8},
    [TENON_DTYPE_UINT8] = {"B", "uint8", NULL, 1},
    [TENON_DTYPE_UINT16] = {"H", "uint16", NULL, 2},
    [TENON_DTYPE_UINT32] = {"I", "uint32", NULL, 4},
    [TENON_DTYPE_UINT64] = {"Q", "uint64", NULL, 8},
    [TENON_DTYPE_FLOAT16] = {"e", "float16", NULL, 2},
    [TENON_DTYPE_BFLOAT16] = {NULL, "bfloat16", "uint16", 2},
    [TENON_DTYPE_FLOAT32] = {"f", "float32", NULL, 4},
    [TENON_DTYPE_FLOAT64] = {"d", "float64", NULL, 8},
    [TENON_DTYPE_STRING] = {NULL, "object", NULL, sizeof(tenon_string_view_t)},
    [TENON_DTYPE_INT4] = {NULL, "int4", "int8", 1},
    [TENON_DTYPE_UINT4] = {NULL, "uint4", "uint8", 1},
    [TENON_DTYPE_INT2] = {NULL, "int2", "int8", 1},
    [TENON_DTYPE_UINT2] = {NULL, "uint2", "uint8", 1},
    [TENON_DTYPE_FLOAT8E4M3FN] = {NULL, "float8_e4m3fn", "uint8", 1},
    [TENON_DTYPE_FLOAT8E4M3FNUZ] = {NULL, "float8_e4m3fnuz", "uint8", 1},
    [TENON_DTYPE_FLOAT8E5M2] = {NULL, "float8_e5m2", "uint8", 1},
    [TENON_DTYPE_FLOAT8E5M2FNUZ] = {NULL, "float8_e5m2fnuz", "uint8", 1},
    [TENON_DTYPE_FLOAT8E8M0] = {NULL, "float8_e8m0fnu", "uint8", 1},
    [TENON_DTYPE_FLOAT4E2M1] = {NULL, "float4_e2m1fn", "uint8", 1},
    [TENON_DTYPE_COMPLEX64] = {"Zf", "complex64", NULL, 8},
    [TENON_DTYPE_COMPLEX128] = {"Zd", "complex128", NULL, 16},
};

tenon_dtype_t python_dtype_of_name(const char* name) {
  for (tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED + 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
    if (strcmp(name, tenon_dtype_name(dtype)) == 0 ||
        (names[dtype].name != NULL && strcmp(name, names[dtype].name) == 0)) {
      return dtype;
    }
  }
  /* The types of Python itself, as NumPy reads them, and NumPy's texts. */
  if (strcmp(name, "float") == 0) {
    return TENON_DTYPE_FLOAT64;
  }
  if (strcmp(name, "int") == 0) {
    return TENON_DTYPE_INT64;
  }
  return strncmp(name, "str", 3) == 0 ? TENON_DTYPE_STRING : TENON_DTYPE_UNDEFINED;
}

/* The attribute `name` of an object as a dtype; UNDEFINED, without an exception, if it is none. */
static tenon_dtype_t dtype_of_attribute(PyObject* object, const char* attribute) {
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  PyObject* name = PyObject_GetAttrString(object, attribute);
  const char* text =
      name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  if (text != NULL) {
    dtype = python_dtype_of_name(text);
  }
  Py_XDECREF(name);
  PyErr_Clear();
  return dtype;
}

int python_dtype_from(PyObject* object, tenon_dtype_t* out_dtype) {
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  if (PyUnicode_Check(object)) {
    const char* text = PyUnicode_AsUTF8AndSize(object, NULL);
    if (text == NULL) {
      return -1;
    }
    dtype = python_dtype_of_name(text);
  } else {
    dtype = dtype_of_attribute(object, "name");
    if (dtype == TENON_DTYPE_UNDEFINED) {
      dtype = dtype_of_attribute(object, "__name__");
    }
  }
  if (dtype == TENON_DTYPE_UNDEFINED) {
    PyErr_Format(PyExc_TypeError,
                 "%R is no element type: use a name such as 'f32', or a type of NumPy", object);
    return -1;
  }
  *out_dtype = dtype;
  return 0;
}

static tenon_dtype_t integer_of(bool is_signed, Py_ssize_t size) {
  switch (size) {
    case 1:
      return is_signed ? TENON_DTYPE_INT8 : TENON_DTYPE_UINT8;
    case 2:
      return is_signed ? TENON_DTYPE_INT16 : TENON_DTYPE_UINT16;
    case 4:
      return is_signed ? TENON_DTYPE_INT32 : TENON_DTYPE_UINT32;
    case 8:
      return is_signed ? TENON_DTYPE_INT64 : TENON_DTYPE_UINT64;
    default:
      return TENON_DTYPE_UNDEFINED;
  }
}

tenon_dtype_t python_dtype_of_format(const char* format, Py_ssize_t item_size) {
  if (format == NULL) {
    return TENON_DTYPE_UINT8;
  }
  if (*format == '@' || *format == '=' || *format == '<') {
    ++format;
  }
  if (format[0] != '\0' && format[1] == '\0' && strchr("bhilqn", format[0]) != NULL) {
    return integer_of(true, item_size);
  }
  if (format[0] != '\0' && format[1] == '\0' && strchr("BHILQN", format[0]) != NULL) {
    return integer_of(false, item_size);
  }
  for (tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED + 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
    if (names[dtype].format != NULL && strcmp(names[dtype].format, format) == 0) {
      return dtype;
    }
  }
  return TENON_DTYPE_UNDEFINED;
}

const char* python_dtype_format(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? names[dtype].format : NULL;
}

const char* python_dtype_numpy(tenon_dtype_t dtype, bool native) {
  if (dtype >= TENON_DTYPE_COUNT) {
    return NULL;
  }
  return native || names[dtype].bits == NULL ? names[dtype].name : names[dtype].bits;
}

size_t python_dtype_bytes(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? names[dtype].bytes : 0;
}
