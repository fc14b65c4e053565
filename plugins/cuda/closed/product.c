/* Products: how batches lie, what an equation's labels are. See product.cuh. */
#include <ctype.h>
#include <string.h>

#include "families.h"

enum { BATCHES = 4, A_STEPS = 12, B_STEPS = 20, BATCH_RANK = 28 };

/* ---- Matrices ---- */

/* How far a step along each batch axis is in an operand that broadcasts. */
static void set_steps(const tenon__closed_shape_t* shape, uint32_t batch_rank, int64_t* out_steps) {
  const uint32_t own = shape->rank < 2 ? 0 : shape->rank - 2;
  int64_t step = shape->rank < 2 ? 0 : shape->dims[own] * shape->dims[own + 1];
  for (uint32_t k = batch_rank; k-- > 0;) {
    const bool is_there = k + own >= batch_rank;
    const int64_t extent = is_there ? shape->dims[k + own - batch_rank] : 1;
    out_steps[k] = extent == 1 ? 0 : step;
    step *= extent;
  }
}

static void set_matrices(tenon__closed_work_t* work, int64_t tile) {
  const tenon__closed_shape_t* a = &work->in[0];
  const tenon__closed_shape_t* b = &work->in[1];
  const uint32_t a_batches = a->rank < 2 ? 0 : a->rank - 2;
  const uint32_t b_batches = b->rank < 2 ? 0 : b->rank - 2;
  const uint32_t batch_rank = a_batches > b_batches ? a_batches : b_batches;
  work->number[0] = tenon__closed_product(&work->out[0], 0, batch_rank);
  work->number[1] = a->rank < 2 ? 1 : a->dims[a->rank - 2];
  work->number[2] = a->dims[a->rank - 1];
  work->number[3] = b->rank < 2 ? 1 : b->dims[b->rank - 1];
  work->number[BATCH_RANK] = batch_rank;
  for (uint32_t k = 0; k < batch_rank; k++) {
    work->number[BATCHES + k] = work->out[0].dims[k];
  }
  set_steps(a, batch_rank, work->number + A_STEPS);
  set_steps(b, batch_rank, work->number + B_STEPS);
  tenon__closed_launch_blocks(work, 0,
                              work->number[0] * ((work->number[1] + tile - 1) / tile) *
                                  ((work->number[3] + tile - 1) / tile));
}

void tenon__closed_bind_mat_mul(tenon__closed_work_t* work) {
  enum { TILE = 16 };
  set_matrices(work, TILE);
}

/* See integer.cuh. */
void tenon__closed_bind_mat_mul_integer(tenon__closed_work_t* work) {
  enum { TILE = 64 };
  set_matrices(work, TILE);
}

const char* tenon__closed_refuse_mat_mul(const tenon__closed_work_t* work) {
  return work->in[0].rank == 0 || work->in[1].rank == 0 ? "no axis" : NULL;
}

uint64_t tenon__closed_scratch_det(const tenon__closed_work_t* work) {
  return (uint64_t)work->in[0].count * sizeof(double);
}

/* ---- Einsum ---- */

enum {
  LABELS = 12,
  OPERANDS = 6,
  ELLIPSIS = 128, /* its axes have labels of their own, counted from the last one */
  LABEL_LIMIT = ELLIPSIS + TENON_CLOSED_AXES
};

typedef struct term_t {
  uint32_t labels[TENON_CLOSED_AXES + 1];
  uint32_t count;
} term_t;

typedef struct equation_t {
  term_t terms[OPERANDS];
  int64_t extents[LABEL_LIMIT];
  uint32_t uses[LABEL_LIMIT];
  uint32_t order[LABELS]; /* the result's, then those that are summed */
  uint32_t kept;
  uint32_t count;
} equation_t;

static bool is_end(char c) {
  return c == '\0' || c == ',' || c == '-';
}

static uint32_t count_letters(const char* text) {
  uint32_t count = 0;
  for (; !is_end(*text); text++) {
    count += isalpha((unsigned char)*text) != 0 ? 1 : 0;
  }
  return count;
}

static bool add_to_term(term_t* term, uint32_t label) {
  if (term->count == TENON_CLOSED_AXES) {
    return false;
  }
  term->labels[term->count++] = label;
  return true;
}

/* A term up to its end; an ellipsis has `hidden` axes. NULL: too many axes. */
static const char* read_term(const char* text, uint32_t hidden, term_t* out_term) {
  bool fits = true;
  out_term->count = 0;
  for (; !is_end(*text) && fits; text++) {
    if (*text == '.') {
      text += strspn(text, ".") - 1;
      for (uint32_t axis = hidden; axis > 0; axis--) {
        fits = fits && add_to_term(out_term, ELLIPSIS + axis - 1);
      }
    } else if (isalpha((unsigned char)*text) != 0) {
      fits = add_to_term(out_term, (uint32_t)*text);
    }
  }
  return fits ? text : NULL;
}

static bool add_label(equation_t* equation, uint32_t label) {
  for (uint32_t k = 0; k < equation->count; k++) {
    if (equation->order[k] == label) {
      return true;
    }
  }
  if (equation->count == LABELS) {
    return false;
  }
  equation->order[equation->count++] = label;
  return true;
}

/* The result's labels where the equation does not name them. */
static bool imply_result(const equation_t* equation, uint32_t hidden, term_t* out_term) {
  bool fits = true;
  out_term->count = 0;
  for (uint32_t axis = hidden; axis-- > 0;) {
    fits = fits && add_to_term(out_term, ELLIPSIS + axis);
  }
  for (uint32_t letter = 'A'; letter <= 'z'; letter++) {
    fits = fits && (equation->uses[letter] != 1 || add_to_term(out_term, letter));
  }
  return fits;
}

static const char* read_operands(const tenon__closed_work_t* work, const char* text,
                                 equation_t* equation, uint32_t* out_hidden) {
  *out_hidden = 0;
  for (uint32_t k = 0; k < work->in_count; k++) {
    const tenon__closed_shape_t* shape = &work->in[k];
    const uint32_t letters = count_letters(text);
    const uint32_t hidden = letters <= shape->rank ? shape->rank - letters : 0;
    text = read_term(text, hidden, &equation->terms[k]);
    if (text == NULL || equation->terms[k].count != shape->rank) {
      return NULL;
    }
    text += *text == ',' ? 1 : 0;
    *out_hidden = hidden > *out_hidden ? hidden : *out_hidden;
    for (uint32_t axis = 0; axis < shape->rank; axis++) {
      const uint32_t label = equation->terms[k].labels[axis];
      int64_t* extent = &equation->extents[label];
      *extent = equation->uses[label]++ == 0 || *extent == 1 ? shape->dims[axis] : *extent;
    }
  }
  return text;
}

static bool read_equation(const tenon__closed_work_t* work, equation_t* out) {
  const char* text = NULL;
  uint32_t hidden = 0;
  term_t result = {.count = 0};
  memset(out, 0, sizeof(*out));
  if (work->in_count > OPERANDS ||
      work->table->attribute_string(work->region, 0, "equation", &text) != TENON_OK) {
    return false;
  }
  text = read_operands(work, text, out, &hidden);
  bool fits = text != NULL;
  if (fits && *text == '-') {
    fits = read_term(text + 2, hidden, &result) != NULL;
  } else if (fits) {
    fits = imply_result(out, hidden, &result);
  }
  for (uint32_t k = 0; k < result.count; k++) {
    fits = fits && add_label(out, result.labels[k]);
  }
  out->kept = out->count;
  for (uint32_t label = 0; label < LABEL_LIMIT; label++) {
    fits = fits && (out->uses[label] == 0 || add_label(out, label));
  }
  return fits;
}

const char* tenon__closed_refuse_einsum(const tenon__closed_work_t* work) {
  equation_t equation;
  return read_equation(work, &equation) ? NULL : "more than 6 operands, 12 labels, or 8 axes";
}

void tenon__closed_bind_einsum(tenon__closed_work_t* work) {
  enum { EXTENTS = 3, STEPS = 15 };
  equation_t equation;
  if (!read_equation(work, &equation)) {
    return; /* match has seen to it */
  }
  work->number[0] = equation.count;
  work->number[1] = equation.kept;
  work->number[2] = work->in_count;
  for (uint32_t k = 0; k < equation.count; k++) {
    work->number[EXTENTS + k] = equation.extents[equation.order[k]];
  }
  for (uint32_t o = 0; o < work->in_count; o++) {
    int64_t step = 1;
    for (uint32_t axis = work->in[o].rank; axis-- > 0;) {
      for (uint32_t k = 0; k < equation.count; k++) {
        const bool is_it = equation.order[k] == equation.terms[o].labels[axis];
        work->number[STEPS + o * LABELS + k] += is_it && work->in[o].dims[axis] != 1 ? step : 0;
      }
      step *= work->in[o].dims[axis];
    }
  }
  tenon__closed_launch(work, 0, work->out[0].count);
}
