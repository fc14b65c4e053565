/*
 * An equation of two operands becomes a transposed view of each operand, a matrix product (or an
 * elementwise one if nothing is summed), and a transposed view of the result. Every device has
 * fast kernels for these. Each letter belongs to one of four groups:
 *
 *   batch  in both operands and in the result    rows     in the left operand and in the result
 *   sums   in both operands alone                columns  in the right operand and in the result
 *
 * Other equations stay nodes of the operator. These have an ellipsis, a letter that repeats within
 * an operand or is summed over one operand alone, a summed letter whose extents are not known to be
 * equal, or a group of several letters whose extents are not known.
 */
#include <string.h>

#include "families.h"

enum { LETTERS = 128, LONGEST = 16 };

typedef struct term_t {
  char letters[LONGEST];
  uint32_t count;
} term_t;

/* A group's letters in the order in which the result, or the left operand, has them. */
typedef enum group_t { BATCH, ROWS, COLUMNS, SUMS, GROUPS } group_t;

typedef struct equation_t {
  term_t left;
  term_t right;
  term_t result;
  term_t groups[GROUPS];
  int64_t extents[LETTERS]; /* -1: not known */
} equation_t;

/* ---- The text ---- */

static uint32_t find(const term_t* term, char letter) {
  const char* at = term->count == 0 ? NULL : memchr(term->letters, letter, term->count);
  return at == NULL ? TENON_NONE : (uint32_t)(at - term->letters);
}

static bool has(const term_t* term, char letter) {
  return find(term, letter) != TENON_NONE;
}

static void append(term_t* term, char letter) {
  term->letters[term->count++] = letter;
}

/* Independent of the locale. */
static bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Reads letters up to `end` or the end of the text. NULL if there is an ellipsis, if a letter
 * repeats, or if there are too many. */
static const char* read_term(const char* text, char end, term_t* out_term) {
  for (; *text != '\0' && *text != end; ++text) {
    if (*text == ' ') {
      continue;
    }
    if (!is_letter(*text) || has(out_term, *text) || out_term->count == LONGEST) {
      return NULL;
    }
    append(out_term, *text);
  }
  return text;
}

/* Letters of one operand alone, in the order of the alphabet. */
static void imply_result(equation_t* equation) {
  for (int letter = 'A'; letter <= 'z'; ++letter) {
    if (has(&equation->left, (char)letter) != has(&equation->right, (char)letter) &&
        equation->result.count < LONGEST) {
      append(&equation->result, (char)letter);
    }
  }
}

static bool read_equation(const char* text, equation_t* out) {
  text = read_term(text, ',', &out->left);
  if (text == NULL || *text != ',') {
    return false;
  }
  text = read_term(text + 1, '-', &out->right);
  if (text != NULL && text[0] == '-' && text[1] == '>') {
    return read_term(text + 2, '\0', &out->result) != NULL;
  }
  if (text != NULL) {
    imply_result(out);
  }
  return text != NULL && *text == '\0';
}

/* ---- Groups ---- */

/* False if a letter is summed over one operand alone, or if one of the result is in neither. */
static bool group_letters(equation_t* equation) {
  bool fits = true;
  for (uint32_t k = 0; k < equation->result.count; ++k) {
    const char letter = equation->result.letters[k];
    const bool is_left = has(&equation->left, letter);
    const bool is_right = has(&equation->right, letter);
    fits = fits && (is_left || is_right);
    append(&equation->groups[is_left && is_right ? BATCH : is_left ? ROWS : COLUMNS], letter);
  }
  for (uint32_t k = 0; k < equation->left.count; ++k) {
    const char letter = equation->left.letters[k];
    if (!has(&equation->result, letter)) {
      fits = fits && has(&equation->right, letter);
      append(&equation->groups[SUMS], letter);
    }
  }
  for (uint32_t k = 0; k < equation->right.count; ++k) {
    const char letter = equation->right.letters[k];
    fits = fits && (has(&equation->result, letter) || has(&equation->left, letter));
  }
  return fits;
}

/* False if ranks differ, or if a summed axis may have extent 1 in one operand alone. Equations
 * repeat it, products do not. Products do repeat axes of the result, so there one extent may be
 * unknown. */
static bool take_extents(tenon_make_t* make, tenon_value_t value, const term_t* term,
                         equation_t* equation) {
  bool fits = tenon_make_type(make, value).rank == term->count;
  for (uint32_t k = 0; k < term->count && fits; ++k) {
    const char letter = term->letters[k];
    int64_t* extent = &equation->extents[(unsigned char)letter];
    const int64_t own = tenon_make_dim(make, value, k);
    const bool is_second = term == &equation->right && has(&equation->left, letter);
    const bool is_known = own >= 0 && *extent >= 0;
    fits = !is_second || (is_known ? *extent == own : has(&equation->result, letter));
    *extent = own < 0 ? *extent : own;
  }
  return fits;
}

static int64_t extent_of(const equation_t* equation, char letter) {
  return equation->extents[(unsigned char)letter];
}

/* -1: an extent is not known, or the product is too large. */
static int64_t product_of(const equation_t* equation, const term_t* term) {
  int64_t product = 1;
  for (uint32_t k = 0; k < term->count; ++k) {
    const int64_t extent = extent_of(equation, term->letters[k]);
    if (extent < 0 || (extent > 0 && product > INT64_MAX / extent)) {
      return -1;
    }
    product *= extent;
  }
  return product;
}

/* A group of several letters becomes one axis, so its extents must be known. A reshape finds one
 * extent at most, and none if another one is 0. */
static bool groups_fit(const equation_t* equation) {
  uint32_t open = 0;
  bool is_empty = false;
  bool reshapes = false;
  if (equation->groups[SUMS].count == 0) {
    return true;
  }
  for (group_t group = ROWS; group < GROUPS; ++group) {
    const term_t* term = &equation->groups[group];
    const int64_t product = product_of(equation, term);
    if (term->count > 1 && product < 0) {
      return false;
    }
    reshapes = reshapes || term->count != 1;
    open += product < 0 ? 1 : 0;
    is_empty = is_empty || product == 0;
  }
  return !reshapes || (open <= 1 && !is_empty);
}

/* ---- Making ---- */

static tenon_value_t arrange(tenon_make_t* make, tenon_value_t value, const term_t* from,
                             const term_t* to) {
  int64_t perm[LONGEST];
  bool stays = true;
  for (uint32_t k = 0; k < to->count; ++k) {
    perm[k] = find(from, to->letters[k]);
    stays = stays && perm[k] == (int64_t)k;
  }
  return stays ? value : tenon_make_permute(make, value, perm, to->count);
}

static void add_group(const equation_t* equation, group_t group, term_t* inout_term) {
  for (uint32_t k = 0; k < equation->groups[group].count; ++k) {
    append(inout_term, equation->groups[group].letters[k]);
  }
}

/* Extents of a reshape; 0: as the value has it at this place. */
typedef struct extents_t {
  int64_t dims[2 * LONGEST];
  size_t count;
} extents_t;

static void add_extent(extents_t* extents, int64_t extent) {
  extents->dims[extents->count++] = extent;
}

/* One axis for a group; -1, which the reshape finds, for at most one of them. */
static void add_merged(const equation_t* equation, group_t group, extents_t* extents) {
  add_extent(extents, product_of(equation, &equation->groups[group]));
}

static tenon_value_t reshape(tenon_make_t* make, tenon_value_t value, const extents_t* extents) {
  return tenon_make_reshape(make, value, extents->dims, extents->count);
}

/* As [batch, first, second]: a matrix for each entry of the batch. */
static tenon_value_t matrices(tenon_make_t* make, tenon_value_t value, const term_t* from,
                              const equation_t* equation, group_t first, group_t second) {
  term_t order = {.count = 0};
  add_group(equation, BATCH, &order);
  add_group(equation, first, &order);
  add_group(equation, second, &order);
  const uint32_t batch = equation->groups[BATCH].count;
  const tenon_value_t arranged = arrange(make, value, from, &order);
  if (order.count == batch + 2 && equation->groups[first].count == 1) {
    return arranged;
  }
  extents_t extents = {.count = 0};
  for (uint32_t k = 0; k < batch; ++k) {
    add_extent(&extents, 0);
  }
  add_merged(equation, first, &extents);
  add_merged(equation, second, &extents);
  return reshape(make, arranged, &extents);
}

/* Operands as [batch, rows, 1] and [batch, 1, columns], with an axis for each letter. */
static tenon_value_t spread(tenon_make_t* make, tenon_value_t value, const term_t* from,
                            const equation_t* equation, group_t own) {
  term_t order = {.count = 0};
  int64_t axes[LONGEST];
  add_group(equation, BATCH, &order);
  add_group(equation, own, &order);
  const uint32_t others = equation->groups[own == ROWS ? COLUMNS : ROWS].count;
  const uint32_t begin = own == ROWS ? order.count : equation->groups[BATCH].count;
  for (uint32_t k = 0; k < others; ++k) {
    axes[k] = begin + k;
  }
  const tenon_value_t arranged = arrange(make, value, from, &order);
  return others == 0 ? arranged : tenon_make_unsqueeze(make, arranged, axes, others);
}

static tenon_value_t multiply(tenon_make_t* make, const equation_t* equation, tenon_value_t left,
                              tenon_value_t right) {
  if (equation->groups[SUMS].count == 0) {
    return tenon_make_2(make, "mul", spread(make, left, &equation->left, equation, ROWS),
                        spread(make, right, &equation->right, equation, COLUMNS));
  }
  const tenon_value_t product =
      tenon_make_2(make, "mat_mul", matrices(make, left, &equation->left, equation, ROWS, SUMS),
                   matrices(make, right, &equation->right, equation, SUMS, COLUMNS));
  if (equation->groups[ROWS].count == 1 && equation->groups[COLUMNS].count == 1) {
    return product;
  }
  extents_t extents = {.count = 0};
  for (uint32_t k = 0; k < equation->groups[BATCH].count; ++k) {
    add_extent(&extents, 0);
  }
  for (group_t group = ROWS; group <= COLUMNS; ++group) {
    for (uint32_t k = 0; k < equation->groups[group].count; ++k) {
      add_extent(&extents, extent_of(equation, equation->groups[group].letters[k]));
    }
  }
  return reshape(make, product, &extents);
}

static bool convert(tenon_make_t* make, const char* text) {
  equation_t equation;
  memset(&equation, 0, sizeof(equation));
  memset(equation.extents, -1, sizeof(equation.extents));
  tenon_value_t left = tenon_make_input(make, 0);
  tenon_value_t right = tenon_make_input(make, 1);
  if (!tenon_make_present(right) || tenon_make_has_input(make, 2) ||
      !read_equation(text, &equation)) {
    return false;
  }
  /* The left operand has the result's earlier letters, so that the result is made in its order. */
  const uint32_t last = equation.result.count;
  if (last > 0 && !has(&equation.right, equation.result.letters[last - 1])) {
    const term_t term = equation.left;
    const tenon_value_t value = left;
    equation.left = equation.right;
    equation.right = term;
    left = right;
    right = value;
  }
  if (!take_extents(make, left, &equation.left, &equation) ||
      !take_extents(make, right, &equation.right, &equation) || !group_letters(&equation) ||
      !groups_fit(&equation)) {
    return false;
  }
  term_t made = {.count = 0};
  add_group(&equation, BATCH, &made);
  add_group(&equation, ROWS, &made);
  add_group(&equation, COLUMNS, &made);
  const tenon_value_t product = multiply(make, &equation, left, right);
  tenon_make_output(make, 0, arrange(make, product, &made, &equation.result));
  return true;
}

void tenon__onnx_einsum(tenon_make_t* make) {
  const char* text = tenon_make_get_string(make, "equation", "");
  if (!convert(make, text)) {
    tenon_make_same(make);
  }
}
