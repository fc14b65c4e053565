/*
 * Einsum: y[result axes] = sum over all other labels of the product of the operands. Labels are
 * letters; the axes of an ellipsis get labels of their own, counted from the last axis, so that
 * they broadcast.
 */
#include <ctype.h>
#include <string.h>

#include "kernels.h"

enum { ELLIPSIS = 128, LABEL_COUNT = 128 + 64 };

/* The labels of one term's axes. */
typedef struct term_t {
  uint32_t labels[TENON_RANK_LIMIT];
  uint32_t count;
} term_t;

/* Reads a term up to ',' or '-' or the end; an ellipsis has `hidden` axes. */
static const char* read_term(const char* text, uint32_t hidden, term_t* out_term) {
  out_term->count = 0;
  for (; *text != '\0' && *text != ',' && *text != '-'; ++text) {
    if (*text == '.') {
      text += strspn(text, ".") - 1;
      for (uint32_t axis = hidden; axis > 0 && out_term->count < TENON_RANK_LIMIT; --axis) {
        out_term->labels[out_term->count++] = ELLIPSIS + axis - 1;
      }
    } else if (isalpha((unsigned char)*text) && out_term->count < TENON_RANK_LIMIT) {
      out_term->labels[out_term->count++] = (uint32_t)*text;
    }
  }
  return text;
}

static uint32_t letters_of(const char* text) {
  uint32_t count = 0;
  for (; *text != '\0' && *text != ',' && *text != '-'; ++text) {
    count += isalpha((unsigned char)*text) ? 1u : 0u;
  }
  return count;
}

/* All labels with their extents, result labels first, then those that are summed. */
typedef struct labels_t {
  uint32_t order[LABEL_COUNT];
  int64_t dims[LABEL_COUNT]; /* in that order */
  uint32_t result_count;
  uint32_t count;
} labels_t;

static void add_label(labels_t* labels, const int64_t* extents, uint32_t label) {
  for (uint32_t place = 0; place < labels->count; ++place) {
    if (labels->order[place] == label) {
      return;
    }
  }
  labels->dims[labels->count] = extents[label];
  labels->order[labels->count++] = label;
}

/* The result's labels where the equation does not name them. */
static void imply_result(const uint32_t* uses, uint32_t hidden, term_t* out_term) {
  out_term->count = 0;
  for (uint32_t axis = hidden; axis-- > 0;) {
    out_term->labels[out_term->count++] = ELLIPSIS + axis;
  }
  for (uint32_t letter = 'A'; letter <= 'z'; ++letter) {
    if (uses[letter] == 1 && out_term->count < TENON_RANK_LIMIT) {
      out_term->labels[out_term->count++] = letter;
    }
  }
}

/* Where operand `array` with the labels of `term` is at a point over `labels`. */
static int64_t operand_place(const tenon__array_t* array, const term_t* term,
                             const labels_t* labels, const int64_t* point) {
  int64_t place = 0;
  for (uint32_t axis = 0; axis < array->rank; ++axis) {
    int64_t coordinate = 0;
    for (uint32_t index = 0; index < labels->count; ++index) {
      coordinate = labels->order[index] == term->labels[axis] ? point[index] : coordinate;
    }
    place = place * array->dims[axis] + (array->dims[axis] == 1 ? 0 : coordinate);
  }
  return place;
}

enum { MAX_OPERANDS = 32 };

static tenon_status_t read_equation(const tenon__work_t* work, term_t* terms,
                                    labels_t* out_labels) {
  const char* text = tenon__work_attribute(work, "equation")->string;
  int64_t extents[LABEL_COUNT] = {0};
  uint32_t uses[LABEL_COUNT] = {0};
  uint32_t hidden = 0;
  term_t result = {{0}, 0};
  for (uint32_t input = 0; input < work->input_count; ++input) {
    const tenon__array_t* array = &work->inputs[input];
    uint32_t letters = letters_of(text);
    uint32_t own = letters <= array->rank ? array->rank - letters : 0;
    text = read_term(text, own, &terms[input]);
    if (terms[input].count != array->rank) {
      return tenon__work_fail(work, "operand %u has %u axes, the equation names %u", input,
                              array->rank, terms[input].count);
    }
    text += *text == ',' ? 1 : 0;
    hidden = own > hidden ? own : hidden;
    for (uint32_t axis = 0; axis < array->rank; ++axis) {
      uint32_t label = terms[input].labels[axis];
      int64_t extent = array->dims[axis];
      extents[label] = uses[label]++ == 0 || extents[label] == 1 ? extent : extents[label];
    }
  }
  if (*text == '-') {
    (void)read_term(text + 2, hidden, &result);
  } else {
    imply_result(uses, hidden, &result);
  }
  out_labels->count = 0;
  for (uint32_t axis = 0; axis < result.count; ++axis) {
    add_label(out_labels, extents, result.labels[axis]);
  }
  out_labels->result_count = out_labels->count;
  for (uint32_t label = 0; label < LABEL_COUNT; ++label) {
    if (uses[label] > 0) {
      add_label(out_labels, extents, label);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_einsum(tenon__work_t* work) {
  term_t terms[MAX_OPERANDS];
  labels_t labels = {.count = 0};
  tenon__array_t* y = tenon__work_output(work, 0);
  if (work->input_count > MAX_OPERANDS) {
    return tenon__work_fail(work, "%u operands are too many", work->input_count);
  }
  tenon_status_t status = read_equation(work, terms, &labels);
  if (status != TENON_OK) {
    return status;
  }
  for (int64_t place = 0; place < y->count; ++place) {
    y->at[place].i = 0; /* 0.0 too */
  }
  int64_t point[LABEL_COUNT] = {0};
  uint64_t steps = 0;
  if (tenon__dims_product(labels.dims, 0, labels.count) == 0) {
    return TENON_OK;
  }
  do {
    tenon__number_t product =
        work->inputs[0].at[operand_place(&work->inputs[0], &terms[0], &labels, point)];
    for (uint32_t input = 1; input < work->input_count; ++input) {
      const tenon__array_t* array = &work->inputs[input];
      product = tenon__number_multiply(
          y->dtype, product, array->at[operand_place(array, &terms[input], &labels, point)]);
    }
    int64_t place = tenon__point_place(point, labels.dims, labels.result_count);
    y->at[place] = tenon__number_add(y->dtype, y->at[place], product);
    steps += 1;
  } while (tenon__point_next(point, labels.dims, labels.count) &&
           (steps % 1024 != 0 || !tenon__work_is_cancelled(work)));
  return TENON_OK;
}
