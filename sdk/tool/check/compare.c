/* See compare.h. */
#include "check/compare.h"

#include <math.h>

#include "data/difference.h"

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
    if (check_input_is_there(&c->inputs[i])) {
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
    if (check_input_is_there(&c->inputs[i]) && tool_dtype_class(c->inputs[i].value.dtype) == 'f') {
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

bool check_compare(const check_case_t* c, const char* name, const tool_value_t* value,
                   const tool_value_t* reference, check_text_t* text) {
  const char kind = tool_dtype_class(reference->dtype);
  const bool is_float = kind == 'f' || kind == 'c';
  const double v = unit_roundoff(reference->dtype) == 0x1p-53 ? 0x1p-53 : 0x1p-24;
  const double u = is_float ? coarsest(c, reference) : 0;
  const tool_tolerance_t tolerance = {
      is_float ? 4 * u + 64 * v : 0,
      is_float ? magnitude_of(reference) * (16 * u + 32 * v * (2 + sqrt(terms_of(c, reference))))
               : 0};
  tool_difference_t difference;
  tool_difference_find(value, reference, &tolerance, &difference);
  const uint64_t rounded = !is_float && reads_floats(c) ? value->count / 100 : 0;
  if (difference.equal || (difference.wrong_count > 0 && difference.wrong_count <= rounded)) {
    return true;
  }
  check_text_add(text, "output '%s', compared with the reference: %s, tolerance %.3g", name,
                 difference.reason, tolerance.atol);
  return false;
}
