/* Tables of element types for UFF and TensorFlow. */
#include "dtype.h"

#include <string.h>

typedef struct type_t {
  int64_t number;
  const char* name;
  tenon_dtype_t dtype;
} type_t;

static const type_t uff_types[] = {
    {0x10008, "DT_INT8", TENON_DTYPE_INT8},       {0x10010, "DT_INT16", TENON_DTYPE_INT16},
    {0x10020, "DT_INT32", TENON_DTYPE_INT32},     {0x10040, "DT_INT64", TENON_DTYPE_INT64},
    {0x20010, "DT_FLOAT16", TENON_DTYPE_FLOAT16}, {0x20020, "DT_FLOAT32", TENON_DTYPE_FLOAT32},
};

static const type_t tensorflow_types[] = {
    {1, "DT_FLOAT", TENON_DTYPE_FLOAT32},
    {2, "DT_DOUBLE", TENON_DTYPE_FLOAT64},
    {3, "DT_INT32", TENON_DTYPE_INT32},
    {4, "DT_UINT8", TENON_DTYPE_UINT8},
    {5, "DT_INT16", TENON_DTYPE_INT16},
    {6, "DT_INT8", TENON_DTYPE_INT8},
    {7, "DT_STRING", TENON_DTYPE_STRING},
    {8, "DT_COMPLEX64", TENON_DTYPE_COMPLEX64},
    {9, "DT_INT64", TENON_DTYPE_INT64},
    {10, "DT_BOOL", TENON_DTYPE_BOOL},
    {14, "DT_BFLOAT16", TENON_DTYPE_BFLOAT16},
    {17, "DT_UINT16", TENON_DTYPE_UINT16},
    {18, "DT_COMPLEX128", TENON_DTYPE_COMPLEX128},
    {19, "DT_HALF", TENON_DTYPE_FLOAT16},
    {22, "DT_UINT32", TENON_DTYPE_UINT32},
    {23, "DT_UINT64", TENON_DTYPE_UINT64},
};

static const type_t* table_of(bool is_tensorflow, size_t* out_count) {
  *out_count = is_tensorflow ? sizeof(tensorflow_types) / sizeof(*tensorflow_types)
                             : sizeof(uff_types) / sizeof(*uff_types);
  return is_tensorflow ? tensorflow_types : uff_types;
}

tenon_dtype_t tenon__uff_dtype(const tenon__uff_field_t* field, bool is_tensorflow) {
  size_t count = 0;
  const type_t* types = table_of(is_tensorflow, &count);
  const int64_t number = field == NULL ? 0 : field->integer;
  const char* name = field == NULL || field->is_packed ? NULL : (const char*)field->bytes;
  for (size_t i = 0; i < count; ++i) {
    if (name != NULL ? strcmp(types[i].name, name) == 0 : types[i].number == number) {
      return types[i].dtype;
    }
  }
  return TENON_DTYPE_UNDEFINED;
}

#define DTYPE_NAME(name, mnemonic, bits, kind) mnemonic,
#define DTYPE_BITS(name, mnemonic, bits, kind) bits,

const char* tenon__uff_dtype_name(tenon_dtype_t dtype) {
  static const char* const names[] = {TENON_DTYPES(DTYPE_NAME)};
  return dtype < TENON_DTYPE_COUNT ? names[dtype] : names[0];
}

size_t tenon__uff_dtype_size(tenon_dtype_t dtype) {
  static const uint8_t bits[] = {TENON_DTYPES(DTYPE_BITS)};
  return dtype >= TENON_DTYPE_COUNT || dtype == TENON_DTYPE_STRING ? 0 : bits[dtype] / 8u;
}
