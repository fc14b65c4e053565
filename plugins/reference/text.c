/* Strings. A string's number is the address of its view. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "letters.h"

static const tenon_string_view_t* text_at(const tenon__array_t* array, int64_t place) {
  return array->at[place].s;
}

static tenon__number_t number_of_text(const tenon_string_view_t* text) {
  tenon__number_t number = {.s = text};
  return number;
}

/* The place in an operand that broadcasts to the output's point. */
static int64_t broadcast_place(const tenon__array_t* operand, const tenon__array_t* y,
                               int64_t place) {
  int64_t result = 0;
  int64_t step = 1;
  for (uint32_t axis = y->rank; axis-- > 0;) {
    int64_t coordinate = place % y->dims[axis];
    place /= y->dims[axis];
    if (axis + operand->rank >= y->rank) {
      int64_t extent = operand->dims[axis + operand->rank - y->rank];
      result += extent == 1 ? 0 : coordinate * step;
      step *= extent;
    }
  }
  return result;
}

/* Both halves are copied into the host's memory as one string: room first, then the characters. */
static tenon_status_t join(const tenon__work_t* work, const tenon_string_view_t* a,
                           const tenon_string_view_t* b, tenon_string_view_t* out_view) {
  char small[256];
  size_t size = a->size + b->size;
  char* joined = size <= sizeof(small) ? small : malloc(size);
  if (joined == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (a->size > 0) {
    memcpy(joined, a->data, a->size);
  }
  if (b->size > 0) {
    memcpy(joined + a->size, b->data, b->size);
  }
  tenon_status_t status =
      work->host->copy_string(work->run, 0, (tenon_string_view_t){joined, size}, out_view);
  if (joined != small) {
    free(joined);
  }
  return status;
}

/* Scratch: the views of the results. */
int64_t tenon__scratch_strings(const tenon__work_t* work) {
  return work->outputs[0].count * (int64_t)(sizeof(tenon_string_view_t) / sizeof(tenon__number_t));
}

tenon_status_t tenon__compute_string_concat(tenon__work_t* work) {
  const tenon__array_t* a = tenon__work_input(work, 0);
  const tenon__array_t* b = tenon__work_input(work, 1);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon_string_view_t* views = (tenon_string_view_t*)work->scratch;
  for (int64_t place = 0; place < y->count; ++place) {
    tenon_status_t status = join(work, text_at(a, broadcast_place(a, y, place)),
                                 text_at(b, broadcast_place(b, y, place)), &views[place]);
    if (status != TENON_OK) {
      return status;
    }
    y->at[place] = number_of_text(&views[place]);
  }
  return TENON_OK;
}

static bool is_space(char character) {
  return isspace((unsigned char)character) != 0;
}

/* The next piece of *inout_rest, which shrinks; false when there is none. */
static bool next_piece(tenon_string_view_t* inout_rest, const tenon_string_view_t* delimiter,
                       bool is_last, tenon_string_view_t* out_piece) {
  tenon_string_view_t rest = *inout_rest;
  if (delimiter->size == 0) { /* runs of white space */
    while (rest.size > 0 && is_space(rest.data[0])) {
      ++rest.data;
      --rest.size;
    }
    if (rest.size == 0) {
      return false;
    }
  } else if (rest.data == NULL) {
    return false;
  }
  size_t width = delimiter->size == 0 ? 1 : delimiter->size;
  size_t end = 0;
  while (!is_last && end + width <= rest.size &&
         !(delimiter->size == 0 ? is_space(rest.data[end])
                                : memcmp(rest.data + end, delimiter->data, width) == 0)) {
    ++end;
  }
  bool found = !is_last && end + width <= rest.size;
  end = found ? end : rest.size;
  if (is_last && delimiter->size == 0) { /* what remains has no white space at its end */
    while (end > 0 && is_space(rest.data[end - 1])) {
      --end;
    }
  }
  *out_piece = (tenon_string_view_t){rest.data, end};
  *inout_rest = (tenon_string_view_t){found ? rest.data + end + width : NULL,
                                      found ? rest.size - end - width : 0};
  return true;
}

/* Calls for each piece: puts it at row + its number (when `row` >= 0); returns how many. */
static int64_t split_text(tenon__work_t* work, const tenon_string_view_t* text,
                          const tenon_string_view_t* delimiter, int64_t row) {
  int64_t limit = tenon__work_int(work, "max_split");
  tenon_string_view_t rest = *text;
  tenon_string_view_t piece;
  int64_t count = 0;
  while (next_piece(&rest, delimiter, limit >= 0 && count == limit, &piece)) {
    if (row >= 0) {
      (void)tenon__work_put(work, 0, row + count, number_of_text(&piece));
    }
    ++count;
  }
  return count;
}

/* Scratch: extents of the result. */
int64_t tenon__scratch_string_split(const tenon__work_t* work) {
  return tenon__work_input(work, 0)->rank + 1;
}

tenon_status_t tenon__compute_string_split(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* counts = tenon__work_output(work, 1);
  const char* given = tenon__work_attribute(work, "delimiter")->string;
  tenon_string_view_t delimiter = {given, strlen(given)};
  static const tenon_string_view_t nothing = {"", 0};
  int64_t* dims = &work->scratch[0].i;
  int64_t longest = 0;
  for (int64_t place = 0; place < x->count; ++place) {
    int64_t count = split_text(work, text_at(x, place), &delimiter, -1);
    longest = count > longest ? count : longest;
    if (counts != NULL) {
      counts->at[place].i = count;
    }
  }
  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    dims[axis] = x->dims[axis];
  }
  dims[x->rank] = longest;
  if (tenon__work_output(work, 0) == NULL) {
    return TENON_OK;
  }
  tenon_status_t status = tenon__work_allocate(work, 0, x->rank + 1, dims);
  for (int64_t place = 0; status == TENON_OK && place < x->count; ++place) {
    int64_t count = split_text(work, text_at(x, place), &delimiter, place * longest);
    for (; status == TENON_OK && count < longest; ++count) {
      status = tenon__work_put(work, 0, place * longest + count, number_of_text(&nothing));
    }
  }
  return status;
}

static bool is_stopword(const tenon__work_t* work, void* letters, const tenon_string_view_t* text) {
  const tenon__attribute_t* stopwords = tenon__work_attribute(work, "stopwords");
  const bool any_case = tenon__work_int(work, "case_sensitive") == 0;
  bool is_one = false;
  for (size_t index = 0; index < stopwords->count && !is_one; ++index) {
    const char* word = stopwords->strings[index];
    const size_t size = strlen(word);
    is_one = any_case ? tenon__letters_same(letters, text->data, text->size, word, size)
                      : text->size == size && (size == 0 || memcmp(text->data, word, size) == 0);
  }
  return is_one;
}

/* direction -1 lower, 1 upper, 0 as it is. */
static tenon_status_t put_in_case(tenon__work_t* work, int64_t place,
                                  const tenon_string_view_t* text, void* letters, int direction) {
  char small[256];
  if (direction == 0) {
    return tenon__work_put(work, 0, place, number_of_text(text));
  }
  char* changed = text->size <= sizeof(small) / 2 ? small : malloc(2 * text->size);
  if (changed == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_string_view_t view = {
      changed, tenon__letters_change(letters, text->data, text->size, direction, changed)};
  const tenon_status_t status = tenon__work_put(work, 0, place, number_of_text(&view));
  if (changed != small) {
    free(changed);
  }
  return status;
}

static tenon_status_t normalise(tenon__work_t* work, void* letters) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  static const tenon_string_view_t nothing = {"", 0};
  const int direction = tenon__work_is(work, "case_change", "lower")   ? -1
                        : tenon__work_is(work, "case_change", "upper") ? 1
                                                                       : 0;
  int64_t kept = 0;
  for (int64_t place = 0; place < x->count; ++place) {
    kept += is_stopword(work, letters, text_at(x, place)) ? 0 : 1;
  }
  int64_t dims[2] = {1, 1};
  dims[x->rank - 1] = kept > 0 ? kept : 1; /* never empty: one empty string */
  tenon_status_t status = tenon__work_allocate(work, 0, x->rank, dims);
  if (status == TENON_OK && kept == 0) {
    return tenon__work_put(work, 0, 0, number_of_text(&nothing));
  }
  int64_t target = 0;
  for (int64_t place = 0; status == TENON_OK && place < x->count; ++place) {
    if (!is_stopword(work, letters, text_at(x, place))) {
      status = put_in_case(work, target++, text_at(x, place), letters, direction);
    }
  }
  return status;
}

tenon_status_t tenon__compute_string_normalizer(tenon__work_t* work) {
  void* letters = tenon__letters_begin();
  const tenon_status_t status = normalise(work, letters);
  tenon__letters_end(letters);
  return status;
}

tenon_status_t tenon__compute_text_to_number(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  for (int64_t place = 0; place < x->count; ++place) {
    const tenon_string_view_t* text = text_at(x, place);
    char copy[128];
    size_t size = text->size < sizeof(copy) ? text->size : sizeof(copy) - 1;
    if (size > 0) {
      memcpy(copy, text->data, size);
    }
    copy[size] = '\0';
    char* end = copy;
    if (tenon__number_is_float(y->dtype)) {
      y->at[place].f = strtod(copy, &end);
    } else if (tenon__number_class(y->dtype) == 'u') {
      y->at[place].i = (int64_t)strtoull(copy, &end, 10);
    } else {
      y->at[place].i = (int64_t)strtoll(copy, &end, 10);
    }
    if (*end == '.' && !tenon__number_is_float(y->dtype)) {
      y->at[place] = tenon__number_of(y->dtype, strtod(copy, &end)); /* "100.5" is 100 */
    }
    if (end == copy || *end != '\0') {
      return tenon__work_fail(work, "'%s' is no number", copy);
    }
  }
  return TENON_OK;
}

/* The shortest decimal that reads back as the same number of the type. */
static void print_number(tenon_dtype_t dtype, tenon__number_t number, char* text, size_t size) {
  int kind = tenon__number_class(dtype);
  if (kind == 'b') {
    (void)snprintf(text, size, "%s", number.i != 0 ? "True" : "False");
  } else if (kind == 'u') {
    (void)snprintf(text, size, "%llu", (unsigned long long)number.i);
  } else if (kind == 'i') {
    (void)snprintf(text, size, "%lld", (long long)number.i);
  } else if (isnan(number.f) || isinf(number.f)) {
    (void)snprintf(text, size, "%s", isnan(number.f) ? "NaN" : number.f > 0.0 ? "INF" : "-INF");
  } else {
    for (int digits = 1; digits <= 17; ++digits) {
      (void)snprintf(text, size, "%.*g", digits, number.f);
      double back = strtod(text, NULL);
      uint32_t bits = tenon__number_bits(dtype);
      if (bits == 64 ? back == number.f : (float)back == (float)number.f) {
        break;
      }
    }
  }
}

tenon_status_t tenon__compute_number_to_text(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  tenon_string_view_t* views = (tenon_string_view_t*)work->scratch;
  for (int64_t place = 0; place < x->count; ++place) {
    char text[64];
    print_number(x->dtype, x->at[place], text, sizeof(text));
    tenon_status_t status = work->host->copy_string(
        work->run, 0, (tenon_string_view_t){text, strlen(text)}, &views[place]);
    if (status != TENON_OK) {
      return status;
    }
    y->at[place] = number_of_text(&views[place]);
  }
  return TENON_OK;
}

/* The place in a view that broadcasts to a point of y. */
static int64_t broadcast_view(const tenon_tensor_view_t* view, const tenon_tensor_view_t* y,
                              int64_t place) {
  int64_t offset = 0;
  for (uint32_t axis = y->rank; axis-- > 0;) {
    int64_t coordinate = place % y->dims[axis];
    place /= y->dims[axis];
    if (axis + view->rank >= y->rank) {
      uint32_t own = axis + view->rank - y->rank;
      offset += view->dims[own] == 1 ? 0 : coordinate * view->strides[own];
    }
  }
  return offset;
}

static tenon__number_t read_broadcast(const tenon__work_t* work, uint32_t input, int64_t place) {
  const tenon_tensor_view_t* view = &work->input_arguments[input].tensor;
  int64_t offset = broadcast_view(view, &work->output_arguments[0].tensor, place);
  return tenon__number_load(view->data, view->bit_offset, view->dtype, offset);
}

/* For strings: numbers have expressions for these two. */
tenon_status_t tenon__compute_equal(tenon__work_t* work) {
  const tenon_tensor_view_t* y = &work->output_arguments[0].tensor;
  tenon_dtype_t dtype = work->input_arguments[0].tensor.dtype;
  for (int64_t place = 0; place < tenon__dims_product(y->dims, 0, y->rank); ++place) {
    tenon__number_t same = {.i = tenon__number_compare(dtype, read_broadcast(work, 0, place),
                                                       read_broadcast(work, 1, place)) == 0};
    tenon__number_store(y->data, 0, y->dtype, tenon__view_place(y, place), same);
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_where(tenon__work_t* work) {
  const tenon_tensor_view_t* y = &work->output_arguments[0].tensor;
  for (int64_t place = 0; place < tenon__dims_product(y->dims, 0, y->rank); ++place) {
    uint32_t chosen = read_broadcast(work, 0, place).i != 0 ? 1 : 2;
    tenon__number_t number = read_broadcast(work, chosen, place);
    tenon_string_view_t copy;
    if (y->dtype == TENON_DTYPE_STRING) {
      tenon_status_t status = work->host->copy_string(work->run, 0, *number.s, &copy);
      if (status != TENON_OK) {
        return status;
      }
      number.s = &copy;
    }
    tenon__number_store(y->data, y->bit_offset, y->dtype, tenon__view_place(y, place), number);
  }
  return TENON_OK;
}
