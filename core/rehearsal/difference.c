/* Comparison of outputs, element by element, along the lines of the first one. tenon__tolerance_of
 * explains the tolerance. */
#include "core/rehearsal/difference.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/tensor/dtype.h"

/* ---- How much may right answers differ? ---- */

/* Half the distance from 1 to the next number of so many bits. */
static double roundoff_of_bits(uint32_t mantissa_bits) {
  return ldexp(1, -1 - (int)mantissa_bits);
}

/* 0 for integers, which are exact. */
static double unit_roundoff(tenon_dtype_t dtype) {
  const tenon__float_form_t form = tenon__dtype_float_form(dtype);
  return form.is_float ? roundoff_of_bits(form.mantissa_bits) : 0;
}

/* Of the arithmetic that the tactic says it does: of its accumulator, and of its products, where
 * parts of an operand add up to more bits. Where it says nothing: f32, or wider where the tensors
 * are. */
static double roundoff_of(const tenon_numerics_t* numerics, tenon_dtype_t widest) {
  const double own = unit_roundoff(widest) == 0x1p-53 ? 0x1p-53 : 0x1p-24;
  const double sum = unit_roundoff(numerics->accumulator_dtype);
  const uint32_t bits = numerics->product_mantissa_bits;
  const double product = bits == 0 ? 0 : roundoff_of_bits(bits);
  double roundoff = sum > own ? sum : own;
  if (product > 0) {
    const double parts = pow(product, numerics->parts < 1 ? 1 : numerics->parts);
    roundoff = parts > roundoff ? parts : roundoff;
  }
  return numerics->error_bound > 1 ? roundoff * numerics->error_bound : roundoff;
}

/* Of the coarsest type in which one of two stored it. */
static double stored_roundoff(tenon_dtype_t own, tenon_dtype_t first, tenon_dtype_t second) {
  const double one = unit_roundoff(first == TENON_DTYPE_UNDEFINED ? own : first);
  const double other = unit_roundoff(second == TENON_DTYPE_UNDEFINED ? own : second);
  return one > other ? one : other;
}

static double elements_of(const tenon_value_info_t* value) {
  double count = 1;
  for (uint32_t k = 0; k < value->rank; ++k) {
    count *= (double)(value->dims_opt[k] < 1 ? 1 : value->dims_opt[k]);
  }
  return count;
}

/* How many terms an element of the output adds up: nobody says so, but the tensors' sizes do. What
 * is reduced has as many elements more than the result; a product of two tensors reads each of them
 * again and again: [m, k] by [k, n] gives sqrt(mk kn / mn) = k, a sum over a window about the
 * window. */
static double terms_of(const struct tenon_region_t* region, const tenon_value_info_t* output) {
  double largest = 1;
  double second = 1;
  for (uint32_t k = 0; k < region->input_count; ++k) {
    if (region->input_values[k] != TENON_NONE) {
      const double count = elements_of(&region->values[region->input_values[k]]);
      second = count > largest ? largest : count > second ? count : second;
      largest = count > largest ? count : largest;
    }
  }
  const double own = elements_of(output);
  const double product = sqrt(largest * second / own);
  const double reduced = largest / own;
  return product > reduced ? (product > 1 ? product : 1) : (reduced > 1 ? reduced : 1);
}

static bool breaks_off(const tenon_program_t* program) {
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    const tenon_instruction_t* i = &program->instructions[k];
    const bool to_integer = i->opcode == TENON_OPCODE_CAST && tenon__dtype_class(i->dtype) != 'f';
    const bool steps = i->opcode == TENON_OPCODE_FLOOR_DIV || i->opcode == TENON_OPCODE_MOD ||
                       i->opcode == TENON_OPCODE_FMOD ||
                       (i->opcode >= TENON_OPCODE_SIGN && i->opcode <= TENON_OPCODE_TRUNC) ||
                       (i->opcode >= TENON_OPCODE_EQ && i->opcode <= TENON_OPCODE_GE);
    if (to_integer || steps) {
      return true;
    }
  }
  return false;
}

/* Can a rounding make a large difference: floats that become whole numbers, or are compared? */
static bool has_steps(const struct tenon_region_t* region, char output_class) {
  bool reads_floats = false;
  bool has = region->expression != NULL && breaks_off(&region->expression->program);
  for (uint32_t k = 0; k < region->input_count; ++k) {
    reads_floats =
        reads_floats || (region->input_values[k] != TENON_NONE &&
                         tenon__dtype_class(region->values[region->input_values[k]].dtype) == 'f');
  }
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    has = has || breaks_off(&region->slots[k].expression.program);
  }
  return reads_floats && (has || output_class != 'f');
}

/*
 * Rounding each result to its type: half a place on either side. Functions are within 4 ulp of the
 * arithmetic type, and some stand one behind the other: 64 roundings. A sum of n terms in another
 * order differs by about sqrt(n) roundings of partial sums that are about as large as the largest
 * result; 32 of them leave room for algorithms that lose a digit. Wrong answers are wrong by a
 * share of the result itself, some thousand times as much.
 */
tenon__tolerance_t tenon__tolerance_of(const struct tenon_region_t* region, uint32_t index,
                                       double magnitude, tenon__making_t first,
                                       tenon__making_t second) {
  const tenon_value_info_t* output = &region->values[region->output_values[index]];
  const char class = tenon__dtype_class(output->dtype);
  tenon__tolerance_t tolerance = {.share = has_steps(region, class) ? 0.01 : 0};
  if (class == 'f' || class == 'c') {
    const double stored = stored_roundoff(output->dtype, first.stored, second.stored);
    const double one = roundoff_of(first.numerics, output->dtype);
    const double other = roundoff_of(second.numerics, output->dtype);
    const double roundoff = one > other ? one : other;
    tolerance.relative = 4 * stored + 64 * roundoff;
    tolerance.absolute =
        magnitude * (16 * stored + 32 * roundoff * (2 + sqrt(terms_of(region, output))));
  }
  return tolerance;
}

/* ---- Walking two tensors at once ---- */

typedef struct walk_t {
  const tenon_tensor_view_t* first;
  const tenon_tensor_view_t* second; /* NULL: one alone */
  const tenon__tolerance_t* tolerance;
  tenon__difference_t* found;
  double largest; /* |difference|, or magnitude */
  uint32_t rank;  /* axes of more than one element, the first tensor's steps falling */
  uint32_t axes[TENON_RANK_LIMIT];
  int64_t at[TENON_RANK_LIMIT];
} walk_t;

static void arrange(walk_t* w) {
  for (uint32_t k = 0; k < w->first->rank; ++k) {
    uint32_t place = w->rank;
    if (w->first->dims[k] == 1) {
      continue;
    }
    while (place > 0 && w->first->strides[w->axes[place - 1]] < w->first->strides[k]) {
      w->axes[place] = w->axes[place - 1];
      --place;
    }
    w->axes[place] = k;
    w->rank += 1;
  }
}

/* Counted in rows, of element `k` of the line at hand. */
static uint64_t number_of(const walk_t* w, int64_t k) {
  int64_t index[TENON_RANK_LIMIT] = {0};
  uint64_t number = 0;
  for (uint32_t d = 0; d < w->rank; ++d) {
    index[w->axes[d]] = d + 1 == w->rank ? k : w->at[d];
  }
  for (uint32_t d = 0; d < w->first->rank; ++d) {
    number = number * (uint64_t)w->first->dims[d] + (uint64_t)index[d];
  }
  return number;
}

static void note(walk_t* w, int64_t k, double a, double b) {
  const double distance = isnan(a) || isnan(b) ? INFINITY : fabs(a - b);
  const uint64_t number = number_of(w, k);
  w->found->from = w->found->count == 0 || number < w->found->from ? number : w->found->from;
  w->found->to = number > w->found->to ? number : w->found->to;
  if (w->found->count == 0 || distance > w->largest) {
    w->largest = distance;
    w->found->at = number;
    w->found->first = a;
    w->found->second = b;
  }
  w->found->count += 1;
}

static bool agree(const walk_t* w, double a, double b) {
  const double size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
  if (!isfinite(a) || !isfinite(b)) {
    return a == b || (isnan(a) && isnan(b)); /* no tolerance makes an infinity a number */
  }
  return fabs(a - b) <= w->tolerance->relative * size + w->tolerance->absolute;
}

/* One line of floats; the usual case. A difference that is finite is one of numbers. */
static void compare_floats(walk_t* w, int64_t count, const float* a, int64_t a_step, const float* b,
                           int64_t b_step) {
  const float relative = (float)w->tolerance->relative;
  const float absolute = (float)w->tolerance->absolute;
  for (int64_t k = 0; k < count; ++k) {
    const float x = a[k * a_step];
    const float y = b[k * b_step];
    const float size = fabsf(x) > fabsf(y) ? fabsf(x) : fabsf(y);
    const float distance = fabsf(x - y);
    if (!(distance <= relative * size + absolute && distance <= FLT_MAX) &&
        !agree(w, (double)x, (double)y)) {
      note(w, k, (double)x, (double)y);
    }
  }
}

static void compare_element(walk_t* w, int64_t k, int64_t a_place, int64_t b_place) {
  const tenon_dtype_t dtype = w->first->dtype;
  const char class = tenon__dtype_class(dtype);
  if (class == 's') {
    const tenon_string_view_t* a = (const tenon_string_view_t*)w->first->data + a_place;
    const tenon_string_view_t* b = (const tenon_string_view_t*)w->second->data + b_place;
    if (a->size != b->size || (a->size > 0 && memcmp(a->data, b->data, a->size) != 0)) {
      note(w, k, (double)a->size, (double)b->size);
    }
    return;
  }
  if (class == 'c') {
    const tenon_dtype_t part =
        dtype == TENON_DTYPE_COMPLEX64 ? TENON_DTYPE_FLOAT32 : TENON_DTYPE_FLOAT64;
    for (int64_t p = 0; p < 2; ++p) {
      const double a = tenon__element_load(w->first->data, part, (uint64_t)(2 * a_place + p)).f;
      const double b = tenon__element_load(w->second->data, part, (uint64_t)(2 * b_place + p)).f;
      if (!agree(w, a, b)) {
        note(w, k, a, b);
        return;
      }
    }
    return;
  }
  const tenon__scalar_t a = tenon__element_load(w->first->data, dtype, (uint64_t)a_place);
  const tenon__scalar_t b = tenon__element_load(w->second->data, dtype, (uint64_t)b_place);
  if (class == 'f' ? !agree(w, a.f, b.f) : a.i != b.i) {
    note(w, k, class == 'f' ? a.f : (double)a.i, class == 'f' ? b.f : (double)b.i);
  }
}

static void measure(walk_t* w, double number) {
  number = fabs(number);
  w->largest = isfinite(number) && number > w->largest ? number : w->largest;
}

static void measure_element(walk_t* w, int64_t place) {
  const tenon_dtype_t dtype = w->first->dtype;
  const void* data = w->first->data;
  const char class = tenon__dtype_class(dtype);
  if (dtype == TENON_DTYPE_FLOAT32) {
    measure(w, (double)((const float*)data)[place]);
  } else if (class == 'c') {
    const bool narrow = dtype == TENON_DTYPE_COMPLEX64;
    for (int64_t p = 2 * place; p < 2 * place + 2; ++p) {
      measure(w, narrow ? (double)((const float*)data)[p] : ((const double*)data)[p]);
    }
  } else {
    const tenon__scalar_t scalar = tenon__element_load(data, dtype, (uint64_t)place);
    measure(w, class == 'f' ? scalar.f : (double)scalar.i);
  }
}

static void visit_line(walk_t* w, int64_t a_place, int64_t b_place) {
  const uint32_t last = w->rank == 0 ? 0 : w->axes[w->rank - 1];
  const int64_t count = w->rank == 0 ? 1 : w->first->dims[last];
  const int64_t a_step = w->rank == 0 ? 0 : w->first->strides[last];
  const int64_t b_step = w->rank == 0 || w->second == NULL ? 0 : w->second->strides[last];
  if (w->second != NULL && w->first->dtype == TENON_DTYPE_FLOAT32) {
    compare_floats(w, count, (const float*)w->first->data + a_place, a_step,
                   (const float*)w->second->data + b_place, b_step);
    return;
  }
  for (int64_t k = 0; k < count; ++k) {
    if (w->second == NULL) {
      measure_element(w, a_place + k * a_step);
    } else {
      compare_element(w, k, a_place + k * a_step, b_place + k * b_step);
    }
  }
}

static void walk(walk_t* w) {
  int64_t a_place = 0;
  int64_t b_place = 0;
  for (uint32_t d = 0; d < w->first->rank; ++d) {
    if (w->first->dims[d] == 0) {
      return;
    }
  }
  arrange(w);
  for (bool more = true; more;) {
    visit_line(w, a_place, b_place);
    more = false;
    for (uint32_t d = w->rank < 2 ? 0 : w->rank - 1; d > 0 && !more; --d) {
      const uint32_t axis = w->axes[d - 1];
      const int64_t a_step = w->first->strides[axis];
      const int64_t b_step = w->second == NULL ? 0 : w->second->strides[axis];
      more = ++w->at[d - 1] < w->first->dims[axis];
      a_place += more ? a_step : -(w->first->dims[axis] - 1) * a_step;
      b_place += more ? b_step : -(w->first->dims[axis] - 1) * b_step;
      w->at[d - 1] = more ? w->at[d - 1] : 0;
    }
  }
}

double tenon__tensor_magnitude(const tenon_tensor_view_t* view) {
  const char class = tenon__dtype_class(view->dtype);
  walk_t w = {.first = view};
  if (class == 's' || class == 'x') {
    return 0;
  }
  walk(&w);
  return w.largest;
}

bool tenon__tensors_differ(const tenon_tensor_view_t* first, const tenon_tensor_view_t* second,
                           const tenon__tolerance_t* tolerance,
                           tenon__difference_t* out_difference) {
  *out_difference = (tenon__difference_t){.total = 1};
  out_difference->is_shape = first->rank != second->rank || first->dtype != second->dtype;
  for (uint32_t k = 0; k < first->rank && !out_difference->is_shape; ++k) {
    out_difference->is_shape = first->dims[k] != second->dims[k];
    out_difference->total *= (uint64_t)first->dims[k];
  }
  if (out_difference->is_shape) {
    return true;
  }
  walk_t w = {.first = first, .second = second, .tolerance = tolerance, .found = out_difference};
  walk(&w);
  return (double)out_difference->count > tolerance->share * (double)out_difference->total;
}
