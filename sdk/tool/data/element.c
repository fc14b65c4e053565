/* See element.h. Small floats by their fields: sign, exponent, mantissa. */
#include "data/element.h"

#include <math.h>
#include <string.h>

static const struct {
  const char* name;
  uint32_t bits;
  char kind;
} dtypes[] = {
#define TOOL_DTYPE_ROW(name, mnemonic, bits, kind) {mnemonic, bits, kind},
    TENON_DTYPES(TOOL_DTYPE_ROW)};

const char* tool_dtype_name(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? dtypes[dtype].name : "unknown";
}

uint32_t tool_dtype_bits(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? dtypes[dtype].bits : 0;
}

char tool_dtype_class(tenon_dtype_t dtype) {
  return (char)(dtype < TENON_DTYPE_COUNT ? dtypes[dtype].kind : 'x');
}

bool tool_element_count(uint32_t rank, const int64_t* dims, tenon_dtype_t dtype,
                        uint64_t* out_count, uint64_t* out_bytes) {
  const int64_t limit = INT64_MAX / 2;
  int64_t count = 1;
  bool empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    empty = empty || dims[i] == 0;
    if (dims[i] < 0) {
      return false;
    }
  }
  if (!empty) {
    for (uint32_t i = 0; i < rank; ++i) {
      if (__builtin_mul_overflow(count, dims[i], &count) || count > limit) {
        return false;
      }
    }
  }
  int64_t bits = 0;
  count = empty ? 0 : count;
  if (__builtin_mul_overflow(count, (int64_t)tool_dtype_bits(dtype), &bits)) {
    return false;
  }
  *out_count = (uint64_t)count;
  *out_bytes = ((uint64_t)bits + 7) / 8;
  return true;
}

/* ---- Small floats ---- */

/* What the topmost exponent means. */
typedef enum special_t {
  SPECIAL_IEEE,          /* infinities and NaN */
  SPECIAL_ALL_ONES,      /* only all ones are NaN, no infinity */
  SPECIAL_UNSIGNED_ZERO, /* only minus zero is NaN, no infinity */
  SPECIAL_NONE
} special_t;

typedef struct small_float_t {
  tenon_dtype_t dtype;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  special_t special;
  bool is_signed;
} small_float_t;

static const small_float_t small_floats[] = {
    {TENON_DTYPE_FLOAT16, 5, 10, 15, SPECIAL_IEEE, true},
    {TENON_DTYPE_BFLOAT16, 8, 7, 127, SPECIAL_IEEE, true},
    {TENON_DTYPE_FLOAT8E4M3FN, 4, 3, 7, SPECIAL_ALL_ONES, true},
    {TENON_DTYPE_FLOAT8E4M3FNUZ, 4, 3, 8, SPECIAL_UNSIGNED_ZERO, true},
    {TENON_DTYPE_FLOAT8E5M2, 5, 2, 15, SPECIAL_IEEE, true},
    {TENON_DTYPE_FLOAT8E5M2FNUZ, 5, 2, 16, SPECIAL_UNSIGNED_ZERO, true},
    {TENON_DTYPE_FLOAT8E8M0, 8, 0, 127, SPECIAL_ALL_ONES, false},
    {TENON_DTYPE_FLOAT4E2M1, 2, 1, 1, SPECIAL_NONE, true},
};

static const small_float_t* find_small_float(tenon_dtype_t dtype) {
  for (size_t i = 0; i < sizeof(small_floats) / sizeof(small_floats[0]); ++i) {
    if (small_floats[i].dtype == dtype) {
      return &small_floats[i];
    }
  }
  return NULL;
}

static double decode_small(const small_float_t* form, uint32_t code) {
  const uint32_t mantissa_mask = (1u << form->mantissa_bits) - 1;
  const uint32_t exponent_mask = (1u << form->exponent_bits) - 1;
  const uint32_t mantissa = code & mantissa_mask;
  const uint32_t exponent = code >> form->mantissa_bits & exponent_mask;
  const bool negative =
      form->is_signed && (code >> (form->mantissa_bits + form->exponent_bits) & 1u) != 0;
  const bool top = exponent == exponent_mask;
  if ((form->special == SPECIAL_ALL_ONES && top && mantissa == mantissa_mask) ||
      (form->special == SPECIAL_UNSIGNED_ZERO && negative && exponent == 0 && mantissa == 0) ||
      (form->special == SPECIAL_IEEE && top && mantissa != 0)) {
    return NAN;
  }
  if (form->special == SPECIAL_IEEE && top) {
    return negative ? -INFINITY : INFINITY;
  }
  /* A type without sign has no zero and no subnormal numbers either. */
  const bool normal = exponent != 0 || !form->is_signed;
  const double fraction = (double)(mantissa + (normal ? 1u << form->mantissa_bits : 0u));
  const double value =
      ldexp(fraction, (normal ? (int)exponent : 1) - form->bias - form->mantissa_bits);
  return negative ? -value : value;
}

/* Codes of one sign are in the order of their values: binary search, then the nearer neighbour,
 * halves to even. */
static uint32_t encode_small(const small_float_t* form, double value) {
  const uint32_t sign = 1u << (form->mantissa_bits + form->exponent_bits);
  uint32_t top = (1u << (form->exponent_bits + form->mantissa_bits)) - 1;
  const uint32_t nan = form->special == SPECIAL_UNSIGNED_ZERO ? sign : top;
  if (isnan(value)) {
    return form->special == SPECIAL_NONE ? 0 : nan;
  }
  const uint32_t infinity = top - ((1u << form->mantissa_bits) - 1);
  top = form->special == SPECIAL_IEEE ? infinity - 1 : top - (form->special == SPECIAL_ALL_ONES);
  const double size = fabs(value);
  uint32_t low = 0;
  for (uint32_t step = sign >> 1; step != 0; step >>= 1) {
    if (low + step <= top && decode_small(form, low + step) <= size) {
      low += step;
    }
  }
  const double below = decode_small(form, low);
  const double above =
      low < top ? decode_small(form, low + 1) : 2 * below - decode_small(form, low - 1);
  const bool up = size - below > above - size || (size - below == above - size && (low & 1) != 0);
  uint32_t code = up ? low + 1 : low;
  if (code > top) {
    code = form->special == SPECIAL_IEEE ? infinity : top;
  }
  const bool zero_without_sign = code == 0 && form->special == SPECIAL_UNSIGNED_ZERO;
  return form->is_signed && signbit(value) != 0 && !zero_without_sign ? code | sign : code;
}

/* ---- Elements ---- */

static uint32_t read_bits(const void* data, uint64_t index, uint32_t bits) {
  const uint8_t* bytes = data;
  if (bits == 16) {
    uint16_t code = 0;
    memcpy(&code, bytes + index * 2, 2);
    return code;
  }
  const uint64_t position = index * bits;
  return (uint32_t)(bytes[position / 8] >> position % 8) & ((1u << bits) - 1);
}

static void write_bits(void* data, uint64_t index, uint32_t bits, uint32_t code) {
  uint8_t* bytes = data;
  if (bits == 16) {
    const uint16_t word = (uint16_t)code;
    memcpy(bytes + index * 2, &word, 2);
    return;
  }
  const uint64_t position = index * bits;
  const uint32_t mask = ((1u << bits) - 1) << position % 8;
  const uint32_t old = bytes[position / 8];
  bytes[position / 8] = (uint8_t)((old & ~mask) | (code << position % 8 & mask));
}

static double get_integer(tenon_dtype_t dtype, const void* data, uint64_t index) {
  const uint32_t bits = tool_dtype_bits(dtype);
  const bool is_signed = tool_dtype_class(dtype) == 'i';
  if (bits < 8) {
    const uint32_t code = read_bits(data, index, bits);
    const bool negative = is_signed && (code >> (bits - 1)) != 0;
    return (double)((int32_t)code - (negative ? 1 << bits : 0));
  }
  uint64_t code = 0;
  memcpy(&code, (const uint8_t*)data + index * (bits / 8), bits / 8);
  if (!is_signed) {
    return (double)code;
  }
  const uint64_t sign = UINT64_C(1) << (bits - 1);
  return (double)(int64_t)((code ^ sign) - sign);
}

static void set_integer(tenon_dtype_t dtype, void* data, uint64_t index, double value) {
  const uint32_t bits = tool_dtype_bits(dtype);
  const bool is_signed = tool_dtype_class(dtype) == 'i';
  const double low = is_signed ? -ldexp(1, (int)bits - 1) : 0;
  const double high = ldexp(1, (int)bits - (is_signed ? 1 : 0)); /* the first that is too large */
  const double rounded = isnan(value) ? 0 : rint(value);
  uint64_t code = 0;
  if (rounded >= high) {
    code = is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
  } else if (rounded <= low) {
    code = is_signed ? UINT64_C(1) << (bits - 1) : 0;
  } else {
    code = is_signed ? (uint64_t)(int64_t)rounded : (uint64_t)rounded;
  }
  if (bits < 8) {
    write_bits(data, index, bits, (uint32_t)(code & 0xFF));
  } else {
    memcpy((uint8_t*)data + index * (bits / 8), &code, bits / 8);
  }
}

double tool_element_get(tenon_dtype_t dtype, const void* data, uint64_t index, uint32_t part) {
  const uint8_t* bytes = data;
  float single = 0;
  double wide = 0;
  switch (dtype) {
    case TENON_DTYPE_BOOL:
      return bytes[index] != 0 ? 1 : 0;
    case TENON_DTYPE_FLOAT32:
      memcpy(&single, bytes + index * 4, 4);
      return (double)single;
    case TENON_DTYPE_FLOAT64:
      memcpy(&wide, bytes + index * 8, 8);
      return wide;
    case TENON_DTYPE_COMPLEX64:
      memcpy(&single, bytes + index * 8 + (size_t)part * 4, 4);
      return (double)single;
    case TENON_DTYPE_COMPLEX128:
      memcpy(&wide, bytes + index * 16 + (size_t)part * 8, 8);
      return wide;
    default:
      break;
  }
  const small_float_t* form = find_small_float(dtype);
  if (form != NULL) {
    return decode_small(form, read_bits(data, index, tool_dtype_bits(dtype)));
  }
  const char kind = tool_dtype_class(dtype);
  return kind == 'i' || kind == 'u' ? get_integer(dtype, data, index) : 0;
}

void tool_element_set(tenon_dtype_t dtype, void* data, uint64_t index, double value) {
  uint8_t* bytes = data;
  const float single = (float)value;
  switch (dtype) {
    case TENON_DTYPE_BOOL:
      bytes[index] = value != 0 ? 1 : 0;
      return;
    case TENON_DTYPE_FLOAT32:
      memcpy(bytes + index * 4, &single, 4);
      return;
    case TENON_DTYPE_FLOAT64:
      memcpy(bytes + index * 8, &value, 8);
      return;
    case TENON_DTYPE_COMPLEX64:
      memcpy(bytes + index * 8, (const float[]){single, 0}, 8);
      return;
    case TENON_DTYPE_COMPLEX128:
      memcpy(bytes + index * 16, (const double[]){value, 0}, 16);
      return;
    default:
      break;
  }
  const small_float_t* form = find_small_float(dtype);
  const char kind = tool_dtype_class(dtype);
  if (form != NULL) {
    write_bits(data, index, tool_dtype_bits(dtype), encode_small(form, value));
  } else if (kind == 'i' || kind == 'u') {
    set_integer(dtype, data, index, value);
  }
}
