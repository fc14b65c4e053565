/* See compare.h. */
#include "check/compare.h"

#include <math.h>
#include <string.h>

static double unit_roundoff(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT64:
    case TENON_DTYPE_COMPLEX128:
      return 0x1p-53;
    case TENON_DTYPE_FLOAT32:
    case TENON_DTYPE_COMPLEX64:
      return 0x1p-24;
    case TENON_DTYPE_FLOAT16:
      return 0x1p-11;
    case TENON_DTYPE_BFLOAT16:
      return 0x1p-8;
    default:
      return 0x1p-2; /* floats of 8 and 4 bits */
  }
}

static double terms_of(const check_case_t* c, const tool_value_t* output) {
  double largest = 1;
  double second = 1;
  for (uint32_t i = 0; i < c->input_count; ++i) {
    if (c->inputs[i].value.kind != TENON_ARGUMENT_ABSENT) {
      const double count = (double)c->inputs[i].value.count;
      second = count > largest ? largest : count > second ? count : second;
      largest = count > largest ? count : largest;
    }
  }
  const double own = output->count == 0 ? 1 : (double)output->count;
  const double product = sqrt(largest * second / own);
  const double reduced = largest / own;
  return fmax(1, fmax(product, reduced));
}

static double magnitude_of(const tool_value_t* value) {
  double most = 0;
  for (uint64_t i = 0; i < value->count; ++i) {
    const double number = fabs(tool_element_get(value->dtype, value->data, i, 0));
    most = isfinite(number) && number > most ? number : most;
  }
  return most;
}

static bool reads_floats(const check_case_t* c) {
  for (uint32_t i = 0; i < c->input_count; ++i) {
    if (c->inputs[i].value.kind != TENON_ARGUMENT_ABSENT &&
        tool_dtype_class(c->inputs[i].value.dtype) == 'f') {
      return true;
    }
  }
  return false;
}

/* The coarsest of the types that a result passes through. */
static double coarsest(const check_case_t* c, const tool_value_t* output) {
  double u = unit_roundoff(output->dtype);
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const tool_value_t* v = &c->inputs[i].value;
    if (v->kind != TENON_ARGUMENT_ABSENT && tool_dtype_class(v->dtype) == 'f') {
      u = fmax(u, fmin(unit_roundoff(v->dtype), 0x1p-8));
    }
  }
  return u;
}

static bool same_extents(const tool_value_t* a, const tool_value_t* b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) == 0);
}

static void print_extents(const tool_value_t* v, check_text_t* text) {
  check_text_add(text, "%s[", tool_dtype_name(v->dtype));
  for (uint32_t k = 0; k < v->rank; ++k) {
    check_text_add(text, "%s%lld", k > 0 ? "," : "", (long long)v->dims[k]);
  }
  check_text_add(text, "]");
}

static void print_index(const tool_value_t* v, uint64_t index, check_text_t* text) {
  int64_t at[TENON_RANK_LIMIT];
  for (uint32_t k = v->rank; k > 0; --k) {
    at[k - 1] = (int64_t)(index % (uint64_t)v->dims[k - 1]);
    index /= (uint64_t)v->dims[k - 1];
  }
  for (uint32_t k = 0; k < v->rank; ++k) {
    check_text_add(text, "%s%lld", k > 0 ? ", " : "", (long long)at[k]);
  }
}

typedef struct tolerance_t {
  double relative;
  double absolute;
} tolerance_t;

static bool agrees(double a, double b, const tolerance_t* t) {
  if (isnan(a) || isnan(b)) {
    return isnan(a) && isnan(b);
  }
  return a == b || fabs(a - b) <= t->relative * fmax(fabs(a), fabs(b)) + t->absolute;
}

bool check_compare(const check_case_t* c, const char* name, const tool_value_t* value,
                   const tool_value_t* reference, check_text_t* text) {
  if (!same_extents(value, reference)) {
    check_text_add(text, "output '%s' is ", name);
    print_extents(value, text);
    check_text_add(text, ", the reference's ");
    print_extents(reference, text);
    return false;
  }
  const char kind = tool_dtype_class(value->dtype);
  const bool is_float = kind == 'f' || kind == 'c';
  const double v = unit_roundoff(value->dtype) == 0x1p-53 ? 0x1p-53 : 0x1p-24;
  const double u = is_float ? coarsest(c, reference) : 0;
  const tolerance_t tolerance = {
      is_float ? 4 * u + 64 * v : 0,
      is_float ? magnitude_of(reference) * (16 * u + 32 * v * (2 + sqrt(terms_of(c, reference))))
               : 0};
  const uint64_t parts = kind == 'c' ? 2 : 1;
  uint64_t wrong = 0;
  uint64_t first = 0;
  const uint64_t numbers = kind == 's' ? 0 : value->count * parts;
  for (uint64_t i = 0; i < numbers; ++i) {
    const uint32_t part = (uint32_t)(i % parts);
    const double a = tool_element_get(value->dtype, value->data, i / parts, part);
    const double b = tool_element_get(reference->dtype, reference->data, i / parts, part);
    if (!agrees(a, b, &tolerance)) {
      first = wrong++ == 0 ? i : first;
    }
  }
  if (wrong == 0 || (!is_float && reads_floats(c) && wrong <= value->count / 100)) {
    return true;
  }
  check_text_add(text, "element [");
  print_index(value, first / parts, text);
  check_text_add(
      text,
      "] of output '%s' is %.9g, the reference's %.9g (%llu of %llu elements differ, tolerance "
      "%.3g)",
      name, tool_element_get(value->dtype, value->data, first / parts, (uint32_t)(first % parts)),
      tool_element_get(reference->dtype, reference->data, first / parts, (uint32_t)(first % parts)),
      (unsigned long long)wrong, (unsigned long long)value->count, tolerance.absolute);
  return false;
}
