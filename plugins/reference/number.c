/* Elements of every data type: load, store, convert, compare. */
#include "number.h"

#include <math.h>
#include <string.h>

#define DTYPE_BITS(name, mnemonic, bits, kind) bits,
#define DTYPE_CLASS(name, mnemonic, bits, kind) kind,
static const uint8_t dtype_bits[] = {TENON_DTYPES(DTYPE_BITS)};
static const uint8_t dtype_classes[] = {TENON_DTYPES(DTYPE_CLASS)};
#undef DTYPE_BITS
#undef DTYPE_CLASS

int tenon__number_class(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? dtype_classes[dtype] : 'x';
}

uint32_t tenon__number_bits(tenon_dtype_t dtype) {
  return dtype < TENON_DTYPE_COUNT ? dtype_bits[dtype] : 0;
}

/* The low `bits` bits, extended by the sign or by zeros. */
static int64_t wrap_bits(int64_t value, uint32_t bits, bool is_signed) {
  if (bits >= 64) {
    return value;
  }
  uint64_t mask = ((uint64_t)1 << bits) - 1;
  uint64_t low = (uint64_t)value & mask;
  bool negative = is_signed && (low >> (bits - 1)) != 0;
  return (int64_t)(negative ? low | ~mask : low);
}

/* The raw bits of one element of up to 64 bits. */
static uint64_t load_bits(const void* data, uint32_t bit_offset, uint32_t bits, int64_t index) {
  const uint8_t* bytes = data;
  if (bits < 8) {
    int64_t place = index * bits + bit_offset;
    return (uint64_t)(bytes[place / 8] >> (place % 8)) & ((1u << bits) - 1);
  }
  uint64_t raw = 0;
  memcpy(&raw, bytes + index * (int64_t)(bits / 8), bits / 8); /* little endian */
  return raw;
}

static void store_bits(void* data, uint32_t bit_offset, uint32_t bits, int64_t index,
                       uint64_t raw) {
  uint8_t* bytes = data;
  if (bits < 8) {
    int64_t place = index * bits + bit_offset;
    uint32_t mask = ((1u << bits) - 1) << (place % 8);
    uint32_t rest = bytes[place / 8] & ~mask;
    bytes[place / 8] = (uint8_t)(rest | ((uint32_t)(raw << (place % 8)) & mask));
    return;
  }
  memcpy(bytes + index * (int64_t)(bits / 8), &raw, bits / 8);
}

tenon__number_t tenon__number_load(const void* data, uint32_t bit_offset, tenon_dtype_t dtype,
                                   int64_t index) {
  tenon__number_t number = {.i = 0};
  uint32_t bits = tenon__number_bits(dtype);
  switch (tenon__number_class(dtype)) {
    case 'f':
      if (dtype == TENON_DTYPE_FLOAT32) {
        float value = 0;
        memcpy(&value, (const uint8_t*)data + index * 4, sizeof(value));
        number.f = (double)value;
      } else if (dtype == TENON_DTYPE_FLOAT64) {
        memcpy(&number.f, (const uint8_t*)data + index * 8, sizeof(number.f));
      } else {
        number.f = tenon__narrow_decode(dtype, (uint32_t)load_bits(data, bit_offset, bits, index));
      }
      break;
    case 'i':
    case 'u':
      number.i = wrap_bits((int64_t)load_bits(data, bit_offset, bits, index), bits,
                           tenon__number_class(dtype) == 'i');
      break;
    case 'b':
      number.i = load_bits(data, 0, 8, index) != 0;
      break;
    case 's':
      number.s = (const tenon_string_view_t*)data + index;
      break;
    default:
      break;
  }
  return number;
}

void tenon__number_store(void* data, uint32_t bit_offset, tenon_dtype_t dtype, int64_t index,
                         tenon__number_t number) {
  switch (tenon__number_class(dtype)) {
    case 'f':
      if (dtype == TENON_DTYPE_FLOAT32) {
        float value = (float)number.f;
        memcpy((uint8_t*)data + index * 4, &value, sizeof(value));
      } else if (dtype == TENON_DTYPE_FLOAT64) {
        memcpy((uint8_t*)data + index * 8, &number.f, sizeof(number.f));
      } else {
        store_bits(data, bit_offset, tenon__number_bits(dtype), index,
                   tenon__narrow_encode(dtype, number.f, true));
      }
      break;
    case 'i':
    case 'u':
      store_bits(data, bit_offset, tenon__number_bits(dtype), index, (uint64_t)number.i);
      break;
    case 'b':
      store_bits(data, 0, 8, index, number.i != 0);
      break;
    case 's':
      ((tenon_string_view_t*)data)[index] = *number.s;
      break;
    default:
      break;
  }
}

tenon__number_t tenon__number_wrap(tenon__number_t number, tenon_dtype_t dtype) {
  int kind = tenon__number_class(dtype);
  if (kind == 'f' && tenon__number_bits(dtype) <= 32) {
    number.f = (double)(float)number.f;
  } else if (kind == 'i' || kind == 'u') {
    number.i = wrap_bits(number.i, tenon__number_bits(dtype), kind == 'i');
  }
  return number;
}

/* Truncates, saturates; NaN is 0. */
static int64_t integer_of(double value, tenon_dtype_t dtype) {
  uint32_t bits = tenon__number_bits(dtype);
  bool is_signed = tenon__number_class(dtype) == 'i';
  double limit = ldexp(1.0, (int)(is_signed ? bits - 1 : bits));
  double truncated = trunc(value);
  if (isnan(value)) {
    return 0;
  }
  if (truncated >= limit) {
    return wrap_bits(is_signed ? (int64_t)(((uint64_t)1 << (bits - 1)) - 1) : -1, bits, is_signed);
  }
  if (!is_signed) {
    return truncated <= 0.0 ? 0 : (int64_t)(uint64_t)truncated;
  }
  return truncated < -limit ? -(int64_t)(((uint64_t)1 << (bits - 1)) - 1) - 1 : (int64_t)truncated;
}

tenon__number_t tenon__number_of(tenon_dtype_t dtype, double value) {
  tenon__number_t number;
  switch (tenon__number_class(dtype)) {
    case 'f':
      number.f = value;
      break;
    case 'b':
      number.i = value != 0.0;
      break;
    default:
      number.i = integer_of(value, dtype);
      break;
  }
  return number;
}

double tenon__number_value(tenon_dtype_t dtype, tenon__number_t number) {
  if (tenon__number_is_float(dtype)) {
    return number.f;
  }
  return dtype == TENON_DTYPE_UINT64 ? (double)(uint64_t)number.i : (double)number.i;
}

tenon__number_t tenon__number_cast(tenon__number_t number, tenon_dtype_t from, tenon_dtype_t to) {
  bool from_float = tenon__number_is_float(from);
  tenon__number_t result = number;
  switch (tenon__number_class(to)) {
    case 'f':
      if (from_float) {
        result = tenon__number_wrap(number, to);
      } else if (tenon__number_bits(to) <= 32) { /* one rounding, not two */
        result.f =
            (double)(from == TENON_DTYPE_UINT64 ? (float)(uint64_t)number.i : (float)number.i);
      } else {
        result.f = tenon__number_value(from, number);
      }
      break;
    case 'b':
      result.i = from_float ? number.f != 0.0 : number.i != 0;
      break;
    case 'i':
    case 'u':
      result = from_float ? tenon__number_of(to, number.f) : tenon__number_wrap(number, to);
      break;
    default:
      break;
  }
  return result;
}

tenon__number_t tenon__number_add(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b) {
  if (tenon__number_is_float(dtype)) {
    a.f += b.f;
  } else {
    a.i = (int64_t)((uint64_t)a.i + (uint64_t)b.i);
  }
  return a;
}

tenon__number_t tenon__number_multiply(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b) {
  if (tenon__number_is_float(dtype)) {
    a.f *= b.f;
  } else {
    a.i = (int64_t)((uint64_t)a.i * (uint64_t)b.i);
  }
  return a;
}

static int sign_of(bool is_less, bool is_greater) {
  return is_less ? -1 : is_greater ? 1 : 0;
}

static int compare_strings(const tenon_string_view_t* a, const tenon_string_view_t* b) {
  size_t common = a->size < b->size ? a->size : b->size;
  int order = common == 0 ? 0 : memcmp(a->data, b->data, common);
  return order != 0 ? order : sign_of(a->size<b->size, a->size> b->size);
}

int tenon__number_compare(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b) {
  switch (tenon__number_class(dtype)) {
    case 'f':
      if (isnan(a.f) || isnan(b.f)) {
        return sign_of(!isnan(a.f), !isnan(b.f));
      }
      return sign_of(a.f<b.f, a.f> b.f);
    case 'u':
      return sign_of((uint64_t)a.i<(uint64_t)b.i, (uint64_t)a.i>(uint64_t) b.i);
    case 's':
      return compare_strings(a.s, b.s);
    default:
      return sign_of(a.i<b.i, a.i> b.i);
  }
}

static bool is_nan(tenon_dtype_t dtype, tenon__number_t number) {
  return tenon__number_is_float(dtype) && isnan(number.f);
}

tenon__number_t tenon__number_min(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b) {
  if (is_nan(dtype, a) || is_nan(dtype, b)) {
    return is_nan(dtype, a) ? a : b;
  }
  return tenon__number_compare(dtype, a, b) <= 0 ? a : b;
}

tenon__number_t tenon__number_max(tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b) {
  if (is_nan(dtype, a) || is_nan(dtype, b)) {
    return is_nan(dtype, a) ? a : b;
  }
  return tenon__number_compare(dtype, a, b) >= 0 ? a : b;
}

bool tenon__number_is_zero(tenon_dtype_t dtype, tenon__number_t number) {
  switch (tenon__number_class(dtype)) {
    case 'f':
      return number.f == 0.0;
    case 's':
      return (number.s)->size == 0;
    default:
      return number.i == 0;
  }
}
