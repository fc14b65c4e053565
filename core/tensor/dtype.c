/* The list of types is TENON_DTYPES; everything else follows from size and class. */
#include "core/tensor/dtype.h"

#include <math.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/tensor/line_convert.h"
#include "core/tensor/small_float.h"

typedef struct dtype_row_t {
  const char* name;
  uint32_t bits;
  char kind;
} dtype_row_t;

#define DTYPE_ROW(name, mnemonic, bits, kind) {mnemonic, bits, kind},
static const dtype_row_t dtype_rows[] = {TENON_DTYPES(DTYPE_ROW)};
#undef DTYPE_ROW

static const dtype_row_t* find_row(tenon_dtype_t dtype) {
  return &dtype_rows[dtype < TENON_DTYPE_COUNT ? dtype : TENON_DTYPE_UNDEFINED];
}

uint32_t tenon__dtype_bits(tenon_dtype_t dtype) {
  return find_row(dtype)->bits;
}

const char* tenon__dtype_name(tenon_dtype_t dtype) {
  return find_row(dtype)->name;
}

char tenon__dtype_class(tenon_dtype_t dtype) {
  return find_row(dtype)->kind;
}

tenon_dtype_t tenon__dtype_from_name(const char* name) {
  if (name == NULL) {
    return TENON_DTYPE_UNDEFINED;
  }
  for (tenon_dtype_t dtype = 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
    if (strcmp(dtype_rows[dtype].name, name) == 0) {
      return dtype;
    }
  }
  return TENON_DTYPE_UNDEFINED;
}

tenon_dtype_t tenon__dtype_arithmetic(tenon_dtype_t dtype) {
  const dtype_row_t* row = find_row(dtype);
  if (row->kind == 'f' && row->bits < 32) {
    return TENON_DTYPE_FLOAT32;
  }
  if (row->bits > 0 && row->bits < 8) {
    return row->kind == 'i' ? TENON_DTYPE_INT8 : TENON_DTYPE_UINT8;
  }
  return dtype;
}

/* -1 for an unknown word. */
static int word_allows(const char* word, size_t length, tenon_dtype_t dtype) {
  static const struct {
    const char* name;
    const char* kinds;
  } classes[] = {{"float", "f"},  {"int", "iu"},      {"uint", "u"},
                 {"signed", "i"}, {"numeric", "iuf"}, {"any", "biufcs"}};
  for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); ++i) {
    if (strlen(classes[i].name) == length && memcmp(classes[i].name, word, length) == 0) {
      return strchr(classes[i].kinds, tenon__dtype_class(dtype)) != NULL ? 1 : 0;
    }
  }
  for (tenon_dtype_t other = 1; other < TENON_DTYPE_COUNT; ++other) {
    const char* name = dtype_rows[other].name;
    if (strlen(name) == length && memcmp(name, word, length) == 0) {
      return other == dtype ? 1 : 0;
    }
  }
  return -1;
}

tenon__float_form_t tenon__dtype_float_form(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT64:
    case TENON_DTYPE_COMPLEX128:
      return (tenon__float_form_t){52, 11, true};
    case TENON_DTYPE_FLOAT32:
    case TENON_DTYPE_COMPLEX64:
      return (tenon__float_form_t){23, 8, true};
    case TENON_DTYPE_FLOAT16:
      return (tenon__float_form_t){10, 5, true};
    case TENON_DTYPE_BFLOAT16:
      return (tenon__float_form_t){7, 8, true};
    case TENON_DTYPE_FLOAT8E4M3FN:
    case TENON_DTYPE_FLOAT8E4M3FNUZ:
      return (tenon__float_form_t){3, 4, true};
    case TENON_DTYPE_FLOAT8E5M2:
    case TENON_DTYPE_FLOAT8E5M2FNUZ:
      return (tenon__float_form_t){2, 5, true};
    case TENON_DTYPE_FLOAT8E8M0:
      return (tenon__float_form_t){0, 8, true};
    case TENON_DTYPE_FLOAT4E2M1:
      return (tenon__float_form_t){1, 2, true};
    default:
      return (tenon__float_form_t){0};
  }
}

int tenon__dtype_allowed(const char* list, tenon_dtype_t dtype) {
  int allowed = 0;
  const char* cursor = list;
  while (*cursor != '\0') {
    const size_t length = strcspn(cursor, " ");
    if (length > 0) {
      const int word = word_allows(cursor, length, dtype);
      if (word < 0) {
        return -1;
      }
      allowed |= word;
    }
    cursor += length;
    cursor += strspn(cursor, " ");
  }
  return allowed;
}

bool tenon__dtype_bytes(tenon_dtype_t dtype, uint64_t count, size_t* out_bytes) {
  const uint64_t bits = tenon__dtype_bits(dtype);
  if (bits == 0) {
    return false;
  }
  size_t result = 0;
  if (bits < 8) {
    const uint64_t per_byte = 8 / bits;
    result = (size_t)(count / per_byte + (count % per_byte != 0 ? 1u : 0u));
  } else if (!tenon__multiply_size((size_t)count, (size_t)(bits / 8), &result)) {
    return false;
  }
  *out_bytes = result;
  return true;
}

/* The low `bits` of a word, the sign extended if the type has one. */
static int64_t wrap_integer(int64_t value, uint32_t bits, bool is_signed) {
  if (bits >= 64) {
    return value;
  }
  const uint64_t mask = (UINT64_C(1) << bits) - 1u;
  const uint64_t low = (uint64_t)value & mask;
  const bool negative = is_signed && (low >> (bits - 1u)) != 0;
  return (int64_t)(negative ? low | ~mask : low);
}

/* Truncates and saturates; NaN is 0. */
static int64_t integer_from_float(double value, uint32_t bits, bool is_signed) {
  if (isnan(value)) {
    return 0;
  }
  const double limit = ldexp(1.0, (int)(is_signed ? bits - 1u : bits));
  const double truncated = trunc(value);
  if (is_signed) {
    if (truncated >= limit) {
      return (int64_t)((UINT64_C(1) << (bits - 1u)) - 1u);
    }
    return truncated < -limit ? -(int64_t)((UINT64_C(1) << (bits - 1u)) - 1u) - 1
                              : (int64_t)truncated;
  }
  if (truncated >= limit) {
    return wrap_integer(-1, bits, false);
  }
  return truncated <= 0.0 ? 0 : (int64_t)(uint64_t)truncated;
}

static tenon__scalar_t load_float(const void* data, tenon_dtype_t dtype, uint64_t index) {
  tenon__scalar_t result = {.f = 0.0};
  if (dtype == TENON_DTYPE_FLOAT32) {
    float value = 0.0f;
    memcpy(&value, (const uint8_t*)data + index * 4, sizeof(value));
    result.f = (double)value;
  } else if (dtype == TENON_DTYPE_FLOAT64) {
    memcpy(&result.f, (const uint8_t*)data + index * 8, sizeof(result.f));
  } else if (tenon__dtype_bits(dtype) == 16) {
    uint16_t bits = 0;
    memcpy(&bits, (const uint8_t*)data + index * 2, sizeof(bits));
    result.f = tenon__small_float_decode(dtype, bits);
  } else if (tenon__dtype_bits(dtype) == 8) {
    result.f = tenon__small_float_decode(dtype, ((const uint8_t*)data)[index]);
  } else {
    const uint8_t byte = ((const uint8_t*)data)[index / 2];
    result.f = tenon__small_float_decode(dtype, (byte >> (4u * (index % 2u))) & 0xFu);
  }
  return result;
}

tenon__scalar_t tenon__element_load(const void* data, tenon_dtype_t dtype, uint64_t index) {
  const dtype_row_t* row = find_row(dtype);
  if (row->kind == 'f') {
    return load_float(data, dtype, index);
  }
  tenon__scalar_t result = {.i = 0};
  if (row->kind != 'b' && row->kind != 'i' && row->kind != 'u') {
    return result;
  }
  if (row->bits < 8) {
    const uint32_t per_byte = 8 / row->bits;
    const uint8_t byte = ((const uint8_t*)data)[index / per_byte];
    result.i = byte >> (row->bits * (uint32_t)(index % per_byte));
  } else {
    memcpy(&result.i, (const uint8_t*)data + index * (row->bits / 8), row->bits / 8);
  }
  result.i = row->kind == 'b' ? (result.i & 0xFF) != 0
                              : wrap_integer(result.i, row->bits, row->kind == 'i');
  return result;
}

tenon__scalar_t tenon__scalar_cast(tenon__scalar_t value, tenon_dtype_t from, tenon_dtype_t to) {
  const dtype_row_t* target = find_row(to);
  const bool from_float = tenon__dtype_class(from) == 'f';
  tenon__scalar_t result = value;
  if (target->kind == 'f') {
    if (!from_float) {
      const bool wide = from == TENON_DTYPE_UINT64;
      /* One rounding: straight to f32, not by way of f64. */
      if (target->bits <= 32) {
        result.f = (double)(wide ? (float)(uint64_t)value.i : (float)value.i);
      } else {
        result.f = wide ? (double)(uint64_t)value.i : (double)value.i;
      }
    } else if (target->bits <= 32) {
      result.f = (double)(float)value.f;
    }
  } else if (target->kind == 'b') {
    result.i = from_float ? value.f != 0.0 : value.i != 0;
  } else if (target->kind == 'i' || target->kind == 'u') {
    result.i = from_float ? integer_from_float(value.f, target->bits, target->kind == 'i')
                          : wrap_integer(value.i, target->bits, target->kind == 'i');
  }
  return result;
}

static void store_bits(void* data, uint32_t bits, uint64_t index, uint64_t value) {
  if (bits >= 8) {
    memcpy((uint8_t*)data + index * (bits / 8), &value, bits / 8);
    return;
  }
  const uint32_t per_byte = 8 / bits;
  const uint32_t shift = bits * (uint32_t)(index % per_byte);
  const uint32_t mask = ((1u << bits) - 1u) << shift;
  uint8_t* byte = (uint8_t*)data + index / per_byte;
  *byte = (uint8_t)((*byte & ~mask) | (((uint32_t)value << shift) & mask));
}

void tenon__element_store(void* data, tenon_dtype_t dtype, uint64_t index, tenon__scalar_t value,
                          tenon_dtype_t from) {
  const dtype_row_t* row = find_row(dtype);
  if (row->kind != 'f') {
    if (row->kind == 'b' || row->kind == 'i' || row->kind == 'u') {
      store_bits(data, row->bits, index, (uint64_t)tenon__scalar_cast(value, from, dtype).i);
    }
    return;
  }
  if (dtype == TENON_DTYPE_FLOAT32) {
    const float narrow = (float)tenon__scalar_cast(value, from, dtype).f;
    memcpy((uint8_t*)data + index * 4, &narrow, sizeof(narrow));
  } else if (dtype == TENON_DTYPE_FLOAT64) {
    const double wide = tenon__scalar_cast(value, from, dtype).f;
    memcpy((uint8_t*)data + index * 8, &wide, sizeof(wide));
  } else {
    /* From f64 or an integer directly: rounding twice is not rounding once. */
    const double wide = tenon__scalar_cast(value, from, TENON_DTYPE_FLOAT64).f;
    store_bits(data, row->bits, index, tenon__small_float_encode(dtype, wide));
  }
}

void tenon__elements_round(void* data, tenon_dtype_t dtype, tenon_dtype_t through, uint64_t count) {
  const tenon_dtype_t arithmetic = tenon__dtype_arithmetic(dtype);
  uint64_t rounded = 0; /* as large as any element */
  if (dtype == TENON_DTYPE_FLOAT32 && tenon__line_round(data, through, count)) {
    return;
  }
  for (uint64_t k = 0; k < count; ++k) {
    tenon__element_store(&rounded, through, 0, tenon__element_load(data, dtype, k), arithmetic);
    tenon__element_store(data, dtype, k, tenon__element_load(&rounded, through, 0),
                         tenon__dtype_arithmetic(through));
  }
}
