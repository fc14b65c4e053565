/* See operator_checks.h. */
#include "check/operator_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "check/try_cases.h"
#include "text/console.h"

static void list(const check_t* check, bool with_traits, check_text_t* text) {
  for (size_t i = 0; i < check->plugin->operator_count; ++i) {
    const check_operator_t* o = &check->plugin->operators[i];
    const char* traits = o->op.traits == NULL ? "" : o->op.traits;
    const bool has = strstr(traits, "linear(") != NULL || strstr(traits, "concatenable(") != NULL;
    if (strcmp(o->plugin, check->plugin->info.name) == 0 && (has || !with_traits)) {
      check_text_add(text, "%s\n", o->op.name);
    }
  }
}

void check_operator_list(const check_t* check, check_text_t* text) {
  list(check, false, text);
}

void check_trait_list(const check_t* check, check_text_t* text) {
  list(check, true, text);
}

/* ---- definition ---- */

static tenon_status_t run_with(check_study_t* s, const check_kernels_t* kernels,
                               check_results_t* out_results) {
  check_engine_t engine;
  tenon_status_t status = check_engine_make(s->plugin, s->network, &s->c, kernels, NULL, &engine);
  if (status == TENON_OK) {
    status = check_engine_run(&engine, &s->c, 2, false, out_results);
  }
  check_engine_free(&engine);
  return status;
}

static bool try_definition(check_study_t* s, uint32_t index, check_text_t* text) {
  const check_kernels_t ways[] = {{.by_expression = true, .threads = 2},
                                  {.any = true, .threads = 2}};
  static const char* const names[] = {"by its expression or decomposition",
                                      "by the fastest kernels"};
  bool good = true;
  (void)index;
  for (size_t i = 0; i < 2 && good; ++i) {
    check_results_t results = {0};
    if (run_with(s, &ways[i], &results) == TENON_OK) {
      good = check_study_compare(s, &results, &s->expected, text);
    } else if (ways[i].any) {
      good = check_study_fail(s, "a run fails that the reference can do", text);
    }
    if (!good) {
      check_text_add(text, "; computed %s", names[i]);
    }
    check_results_free(&results);
  }
  return good;
}

const check_plan_t check_definition = {6, {0}, {0}, try_definition, NULL};

/* ---- traits ---- */

/* "linear(input=1, axis=0, output_axis=1, bias=2)". Negative axes count from the end. */
typedef struct trait_t {
  int64_t input;
  int64_t axis;
  int64_t output_axis;
  int64_t bias; /* -1: none */
  char single[64];
} trait_t;

static int64_t argument(const char* text, const char* name, int64_t otherwise) {
  const char* at = strstr(text, name);
  return at == NULL || at > strchr(text, ')') ? otherwise : strtoll(at + strlen(name), NULL, 10);
}

static bool read_trait(const tenon_operator_t* op, const char* name, trait_t* out_trait) {
  const char* at = op->traits == NULL ? NULL : strstr(op->traits, name);
  if (at == NULL || strchr(at, ')') == NULL) {
    return false;
  }
  const char* single = strstr(at, "single=");
  *out_trait =
      (trait_t){argument(at, "input=", 1), argument(at, "(axis=", argument(at, " axis=", 0)),
                argument(at, "output_axis=", 0), argument(at, "bias=", -1), ""};
  if (single != NULL && single < strchr(at, ')')) {
    (void)snprintf(out_trait->single, sizeof(out_trait->single), "%.*s",
                   (int)strcspn(single + 7, ",) "), single + 7);
  }
  return true;
}

/* Elements of the axes from this one on. */
static uint64_t elements_from(const tool_value_t* v, int64_t axis) {
  uint64_t count = 1;
  for (uint32_t d = (uint32_t)axis; d < v->rank; ++d) {
    count *= (uint64_t)v->dims[d];
  }
  return count;
}

/* Number k of the tensor, along the axis. */
static int64_t place_on(const tool_value_t* v, int64_t axis, uint64_t k) {
  const uint64_t inner = elements_from(v, axis + 1);
  return v->rank == 0 ? 0 : (int64_t)(k / inner % (uint64_t)v->dims[axis]);
}

/* Powers of 2, so that scaling rounds nothing. */
static void scale(tool_value_t* v, int64_t axis) {
  static const double factors[] = {2, 0.5, 4, 1, -1};
  for (uint64_t k = 0; k < v->count; ++k) {
    const double number = tool_element_get(v->dtype, v->data, k, 0);
    tool_element_set(v->dtype, v->data, k, number * factors[place_on(v, axis, k) % 5]);
  }
}

/* The axis from 0 to below the rank; -1: there is none such. */
static int64_t axis_of(const tool_value_t* v, int64_t axis) {
  const int64_t rank = (int64_t)v->rank;
  return axis < -rank || axis >= rank ? -1 : axis < 0 ? axis + rank : axis;
}

/* As axis_of, for an input that may be absent. */
static int64_t axis_of_input(const check_case_t* c, int64_t input, int64_t axis) {
  return input < 0 || input >= c->input_count || !check_input_is_there(&c->inputs[input])
             ? -1
             : axis_of(&c->inputs[input].value, axis);
}

/* The network of the case as it is now, by the reference. */
static tenon_status_t compute_again(check_study_t* s, check_results_t* out_results) {
  const check_form_t form = {0};
  const check_kernels_t reference = {.threads = 1};
  tenon_network_destroy(s->network);
  s->network = NULL;
  TOOL_TRY(check_network_make(s->plugin, &s->c, &form, &s->network));
  return run_with(s, &reference, out_results);
}

static bool try_linear(check_study_t* s, const trait_t* t, check_text_t* text) {
  check_results_t results = {0};
  tool_value_t* y = &s->expected.values[0];
  const int64_t axis = axis_of_input(&s->c, t->input, t->axis);
  const int64_t output_axis = axis_of(y, t->output_axis);
  bool good = true;
  if (axis < 0 || output_axis < 0 ||
      s->c.inputs[t->input].value.dims[axis] != y->dims[output_axis] ||
      tool_dtype_class(y->dtype) != 'f') {
    return true;
  }
  scale(&s->c.inputs[t->input].value, axis);
  if (axis_of_input(&s->c, t->bias, 0) == 0) {
    scale(&s->c.inputs[t->bias].value, 0);
  }
  scale(y, output_axis);
  if (compute_again(s, &results) == TENON_OK) {
    good = check_compare(&s->c, "0", &results.values[0], y, text);
    if (!good) {
      check_text_add(
          text,
          "; the trait linear: input %lld is scaled along axis %lld, so output 0 must be "
          "along axis %lld. Correct or remove the trait",
          (long long)t->input, (long long)t->axis, (long long)t->output_axis);
      check_study_tell(s, text);
    }
  }
  check_results_free(&results);
  return good;
}

/* The tensor twice, along this axis. */
static bool double_along(tool_value_t* v, int64_t axis) {
  tool_value_t twice = {0};
  int64_t dims[CHECK_MOST_RANK];
  if (tool_dtype_bits(v->dtype) < 8 || v->dtype == TENON_DTYPE_STRING) {
    return false;
  }
  memcpy(dims, v->dims, v->rank * sizeof(*dims));
  dims[axis] *= 2;
  if (tool_value_make("input", v->dtype, v->rank, dims, &twice) != TENON_OK) {
    return false;
  }
  const uint64_t line_bytes = tool_dtype_bits(v->dtype) / 8 * elements_from(v, axis);
  for (uint64_t at = 0; line_bytes > 0 && at < v->size_bytes; at += line_bytes) {
    memcpy((char*)twice.data + 2 * at, (const char*)v->data + at, line_bytes);
    memcpy((char*)twice.data + 2 * at + line_bytes, (const char*)v->data + at, line_bytes);
  }
  tool_value_free(v);
  *v = twice;
  return true;
}

/* All inputs but the first, twice along their axis. */
static bool double_inputs(check_case_t* c, int64_t axis) {
  for (uint32_t i = 1; i < c->input_count; ++i) {
    const int64_t own = axis_of_input(c, i, axis);
    if (check_input_is_there(&c->inputs[i]) &&
        (own < 0 || !double_along(&c->inputs[i].value, own))) {
      return false;
    }
  }
  return true;
}

/* Twice the same inputs: twice the same outputs. */
static bool try_concatenable(check_study_t* s, const trait_t* t, check_text_t* text) {
  const tool_value_t* y = &s->expected.values[0];
  check_results_t results = {0};
  bool good = true;
  for (uint32_t i = 0; i < s->c.attribute_count; ++i) {
    if (strcmp(s->c.attributes[i].name, t->single) == 0 && s->c.attributes[i].integer != 1) {
      return true;
    }
  }
  const int64_t output_axis = axis_of(y, t->output_axis);
  if (output_axis < 0 || !double_inputs(&s->c, t->axis) || compute_again(s, &results) != TENON_OK) {
    check_results_free(&results);
    return true;
  }
  const tool_value_t* twice = &results.values[0];
  good = twice->rank == y->rank && twice->dims[output_axis] == 2 * y->dims[output_axis];
  const uint64_t line = elements_from(y, output_axis);
  const uint64_t count = line > 0 ? twice->count : 0;
  for (uint64_t k = 0; k < count && good; ++k) {
    const uint64_t from = k / (2 * line) * line + k % line;
    const double a = tool_element_get(twice->dtype, twice->data, k, 0);
    const double b = tool_element_get(y->dtype, y->data, from, 0);
    good = a == b || (a != a && b != b) || (a - b < 1e-3 && b - a < 1e-3);
  }
  if (!good) {
    check_text_add(
        text,
        "the trait concatenable: with inputs concatenated along axis %lld, output 0 is no "
        "concatenation along axis %lld. Correct or remove the trait",
        (long long)t->axis, (long long)t->output_axis);
    check_study_tell(s, text);
  }
  check_results_free(&results);
  return good;
}

static bool try_traits(check_study_t* s, uint32_t index, check_text_t* text) {
  trait_t trait;
  if (index % 2 == 0 && read_trait(&s->op->op, "linear(", &trait)) {
    return try_linear(s, &trait, text);
  }
  return !read_trait(&s->op->op, "concatenable(", &trait) || try_concatenable(s, &trait, text);
}

#define SMALL \
  { .most_elements = 4096 }
const check_plan_t check_traits = {2, SMALL, SMALL, try_traits, NULL};
