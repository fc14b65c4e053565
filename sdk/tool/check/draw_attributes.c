/* See draw_attributes.h. */
#include "check/draw_attributes.h"

#include <stdlib.h>
#include <string.h>

#include "check/draw_types.h"

/* The begin of one of the alternatives of "a|b|c". */
static const char* pick_choice(check_random_t* random, const char* choices) {
  uint32_t count = 1;
  for (const char* at = choices; *at != '\0'; ++at) {
    count += *at == '|' ? 1 : 0;
  }
  for (uint32_t skip = check_random_pick(random, count); skip > 0; --skip) {
    choices = strchr(choices, '|') + 1;
  }
  return choices;
}

static const char* one_of(check_drawing_t* d, const char* choices) {
  const char* choice = pick_choice(d->random, choices);
  const size_t length = strcspn(choice, "|");
  return check_drawing_take(d, choice, length, length + 1);
}

/* A number of one of the ranges of `choices`, as in attribute.c: "0..8", "1..", "..8", "3". */
static int64_t integer_of(check_random_t* random, const char* choices) {
  enum { SPAN = 4 };
  const char* at = pick_choice(random, choices);
  char* end = NULL;
  int64_t low = strtoll(at, &end, 10);
  const bool has_low = end != at;
  int64_t high = low;
  if (strncmp(end, "..", 2) == 0) {
    at = end + 2;
    high = strtoll(at, &end, 10);
    high = end == at ? low + SPAN : high;
    low = has_low ? low : high - SPAN;
  }
  const int64_t span = high - low < SPAN ? high - low : SPAN;
  return low + (int64_t)check_random_pick(random, span < 0 ? 1 : (uint32_t)span + 1);
}

int64_t check_draw_integer(check_drawing_t* d, const char* choices) {
  static const int64_t integers[] = {0, 1, 1, 2, 3, -1, -2};
  if (choices != NULL) {
    return integer_of(d->random, choices);
  }
  return check_random_chance(d->random, 20) ? check_drawing_extent(d)
                                            : integers[check_random_pick(d->random, 7)];
}

bool check_draw_integers(check_drawing_t* d, tenon_attribute_t* out_attribute) {
  tenon_attribute_t* a = out_attribute;
  const uint32_t lengths[] = {d->rank, d->rank > 2 ? d->rank - 2 : 1,
                              d->rank > 2 ? 2 * (d->rank - 2) : 2, 1, 2};
  const uint32_t style = check_random_pick(d->random, 4);
  a->count = lengths[check_random_pick(d->random, 5)];
  int64_t* numbers = check_drawing_take(d, NULL, 0, a->count * sizeof(*numbers));
  if (numbers == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < a->count; ++i) {
    numbers[i] = style == 0   ? (int64_t)i
                 : style == 1 ? 1
                 : style == 2 ? (int64_t)check_random_pick(d->random, 3)
                              : check_drawing_extent(d);
  }
  for (uint32_t i = style == 0 ? (uint32_t)a->count : 0; i > 1; --i) {
    const uint32_t other = check_random_pick(d->random, i);
    const int64_t moved = numbers[i - 1];
    numbers[i - 1] = numbers[other];
    numbers[other] = moved;
  }
  a->integers = numbers;
  return true;
}

static bool draw_value(check_drawing_t* d, const tenon_attribute_descriptor_t* from,
                       tenon_attribute_t* a) {
  static const double numbers[] = {0.5, 0.1, 1, 2, 0.75};
  switch (from->kind) {
    case TENON_ATTRIBUTE_INT:
      a->integer = check_draw_integer(d, from->choices);
      return true;
    case TENON_ATTRIBUTE_FLOAT:
      a->number = numbers[check_random_pick(d->random, 5)];
      return true;
    case TENON_ATTRIBUTE_STRING:
      a->string = from->choices != NULL ? one_of(d, from->choices) : "a";
      return a->string != NULL;
    case TENON_ATTRIBUTE_INTS:
      return check_draw_integers(d, a);
    case TENON_ATTRIBUTE_FLOATS:
      a->numbers = numbers;
      a->count = 1 + check_random_pick(d->random, 4);
      return true;
    case TENON_ATTRIBUTE_DTYPE:
      a->integer = check_draw_type(d->random, "numeric bool");
      return true;
    default:
      return false;
  }
}

/* The value that the hint gives. *out_failed: it has no memory. False: the hint does not name it. */
static bool draw_hinted(check_drawing_t* d, const tenon_attribute_descriptor_t* from,
                        tenon_attribute_t* a, bool* out_failed) {
  int64_t hinted[CHECK_MOST_RANK];
  uint32_t count = 0;
  if (check_hint_numbers(&d->hint, from->name, d->random, hinted, &count)) {
    a->integer = hinted[0];
    a->count = count == TENON_NONE ? 1 : count;
    a->integers =
        check_drawing_take(d, hinted, a->count * sizeof(*hinted), a->count * sizeof(*hinted));
    *out_failed = a->integers == NULL;
    return true;
  }
  const char* text = check_hint_text(&d->hint, from->name);
  if (text != NULL && from->kind == TENON_ATTRIBUTE_STRING) {
    const size_t length = strcspn(text, " ");
    a->string = check_drawing_take(d, text, length, length + 1);
    *out_failed = a->string == NULL;
    return true;
  }
  return false;
}

/* The hint's, or by chance; two in three of those with a default keep it. False: none is needed. */
static bool draw_attribute(check_drawing_t* d, const tenon_attribute_descriptor_t* from,
                           tenon_attribute_t* a, bool* out_failed) {
  const bool is_required = (from->flags & TENON_ATTRIBUTE_REQUIRED) != 0;
  *a = (tenon_attribute_t){.name = from->name, .kind = from->kind};
  *out_failed = false;
  if (draw_hinted(d, from, a, out_failed)) {
    return !*out_failed;
  }
  /* Texts restrict types in ways that declarations do not show: their defaults stay. */
  if (!is_required && (from->kind == TENON_ATTRIBUTE_DTYPE || check_random_chance(d->random, 66))) {
    return false;
  }
  const bool good = draw_value(d, from, a);
  *out_failed = !good && is_required;
  return good;
}

bool check_draw_attributes(check_drawing_t* d) {
  const tenon_list_t* list = &d->c->op->attributes;
  for (uint32_t i = 0; i < list->count; ++i) {
    bool failed = false;
    if (d->c->attribute_count == CHECK_MOST_ATTRIBUTES) {
      return false;
    }
    d->c->attribute_count += draw_attribute(d, check_list_item(list, i),
                                            &d->c->attributes[d->c->attribute_count], &failed)
                                 ? 1
                                 : 0;
    if (failed) {
      return false;
    }
  }
  return true;
}
