/* See case.h. A case has a palette of a few extents, from which all tensors draw, so that extents
 * that must agree often do. */
#include "check/case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/hints.h"
#include "check/numbers.h"

enum { PALETTE = 4, MOST_TYPES = 16 };

typedef struct drawing_t {
  check_case_t* c;
  const check_wish_t* wish;
  check_random_t* random;
  check_hint_t hint;
  int64_t palette[PALETTE];
  uint32_t rank; /* that most inputs share */
  const char* type_names[MOST_TYPES];
  tenon_dtype_t types[MOST_TYPES];
  uint32_t type_count;
} drawing_t;

const tenon_port_t* check_port(const tenon_list_t* ports, uint32_t index) {
  return ports->count == 0
             ? NULL
             : check_list_item(ports, index < ports->count ? index : ports->count - 1);
}

static void* take(check_case_t* c, size_t size_bytes) {
  const size_t size = (size_bytes + 7) / 8 * 8;
  if (size > sizeof(c->pool) - c->pool_used) {
    return NULL;
  }
  void* memory = c->pool + c->pool_used;
  c->pool_used += size;
  memset(memory, 0, size);
  return memory;
}

const char* check_case_obstacle(const tenon_operator_t* op) {
  const uint32_t containers = TENON_PORT_SEQUENCE | TENON_PORT_OPTIONAL_TYPE;
  if (op->control != NULL) {
    return "it is a control form";
  }
  for (uint32_t i = 0; i < op->inputs.count; ++i) {
    const tenon_port_t* port = check_list_item(&op->inputs, i);
    if ((port->flags & containers) != 0) {
      return "it takes sequences or optionals";
    }
    if (strcmp(port->type, "str") == 0) {
      return "it takes strings";
    }
  }
  for (uint32_t i = 0; i < op->outputs.count; ++i) {
    const tenon_port_t* port = check_list_item(&op->outputs, i);
    if ((port->flags & containers) != 0) {
      return "it makes sequences or optionals";
    }
  }
  if (op->inputs.count == 0) {
    return "it has no inputs";
  }
  if (op->outputs.count == 0) {
    return "it has no outputs";
  }
  return strstr(op->traits == NULL ? "" : op->traits, "impure") != NULL ? "it is impure" : NULL;
}

/* ---- Extents ---- */

static int64_t some_extent(drawing_t* d) {
  const int64_t extent = d->palette[check_random_pick(d->random, PALETTE)];
  return check_random_chance(d->random, 12) ? extent * (2 + check_random_pick(d->random, 3))
                                            : extent;
}

static void draw_palette(drawing_t* d) {
  static const int64_t small[] = {1, 2, 3, 4, 5, 6};
  static const int64_t medium[] = {7, 8, 9, 11, 15, 16, 17, 23, 31, 32, 33};
  static const int64_t large[] = {48, 63, 64, 65, 96, 100, 127, 129, 200, 257};
  const uint32_t flavour = d->wish->is_wide ? 3 : check_random_pick(d->random, 4);
  for (uint32_t i = 0; i < PALETTE; ++i) {
    d->palette[i] = small[check_random_pick(d->random, 6)];
    if (flavour >= 1 && i < 2) {
      d->palette[i] = medium[check_random_pick(d->random, 11)];
    }
  }
  if (flavour >= 2) {
    d->palette[0] = large[check_random_pick(d->random, 10)];
  }
  if (d->wish->is_wide) {
    d->palette[0] *= 8;
    d->palette[2] = large[check_random_pick(d->random, 10)];
  }
  d->palette[1] = d->wish->is_empty ? 0 : d->palette[1];
  d->rank = check_random_chance(d->random, 20) ? 4 : 1 + check_random_pick(d->random, 4);
}

/* ---- Types ---- */

static bool word_allows(const char* word, size_t length, tenon_dtype_t dtype) {
  static const char* const classes[][2] = {{"float", "f"},  {"int", "iu"},      {"uint", "u"},
                                           {"signed", "i"}, {"numeric", "iuf"}, {"any", "biuf"}};
  for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); ++i) {
    if (strlen(classes[i][0]) == length && memcmp(classes[i][0], word, length) == 0) {
      return strchr(classes[i][1], tool_dtype_class(dtype)) != NULL;
    }
  }
  const char* name = tool_dtype_name(dtype);
  return strlen(name) == length && memcmp(name, word, length) == 0;
}

static bool is_allowed(const char* list, tenon_dtype_t dtype) {
  while (*list != '\0') {
    const size_t length = strcspn(list, " ");
    if (length > 0 && word_allows(list, length, dtype)) {
      return true;
    }
    list += length + strspn(list + length, " ");
  }
  return false;
}

static tenon_dtype_t draw_type(check_random_t* random, const char* allowed) {
  static const tenon_dtype_t types[] = {
      TENON_DTYPE_FLOAT32,  TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT16,
      TENON_DTYPE_BFLOAT16, TENON_DTYPE_FLOAT64, TENON_DTYPE_INT64,   TENON_DTYPE_INT32,
      TENON_DTYPE_INT8,     TENON_DTYPE_UINT8,   TENON_DTYPE_BOOL,    TENON_DTYPE_INT16,
      TENON_DTYPE_UINT16,   TENON_DTYPE_UINT32,  TENON_DTYPE_UINT64};
  enum { COUNT = sizeof(types) / sizeof(types[0]) };
  const uint32_t first = check_random_pick(random, COUNT);
  for (uint32_t i = 0; i < COUNT; ++i) {
    const tenon_dtype_t dtype = types[(first + i) % COUNT];
    if (is_allowed(allowed, dtype)) {
      return dtype;
    }
  }
  for (tenon_dtype_t dtype = 1; dtype < TENON_DTYPE_COUNT; ++dtype) {
    if (dtype != TENON_DTYPE_STRING && is_allowed(allowed, dtype)) {
      return dtype;
    }
  }
  return TENON_DTYPE_UNDEFINED;
}

static tenon_dtype_t type_of_port(drawing_t* d, const tenon_port_t* port) {
  if (port->type[0] == '$') {
    for (uint32_t i = 0; i < d->c->attribute_count; ++i) {
      if (strcmp(d->c->attributes[i].name, port->type + 1) == 0) {
        return (tenon_dtype_t)d->c->attributes[i].integer;
      }
    }
    return TENON_DTYPE_UNDEFINED;
  }
  for (uint32_t i = 0; i < d->type_count; ++i) {
    if (strcmp(d->type_names[i], port->type) == 0) {
      return d->types[i];
    }
  }
  const char* allowed = port->type; /* a mnemonic */
  for (uint32_t i = 0; i < d->c->op->types.count; ++i) {
    const tenon_type_variable_t* variable = check_list_item(&d->c->op->types, i);
    allowed = strcmp(variable->name, port->type) == 0 ? variable->allowed : allowed;
  }
  const tenon_dtype_t dtype = draw_type(d->random, allowed);
  if (d->type_count < MOST_TYPES && (port->flags & TENON_PORT_HETEROGENEOUS) == 0) {
    d->type_names[d->type_count] = port->type;
    d->types[d->type_count++] = dtype;
  }
  return dtype;
}

/* ---- Attributes ---- */

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

static const char* one_of(check_case_t* c, check_random_t* random, const char* choices) {
  const char* choice = pick_choice(random, choices);
  const size_t length = strcspn(choice, "|");
  char* text = take(c, length + 1);
  if (text != NULL) {
    memcpy(text, choice, length);
  }
  return text;
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

static int64_t some_integer(drawing_t* d, const char* choices) {
  static const int64_t integers[] = {0, 1, 1, 2, 3, -1, -2};
  if (choices != NULL) {
    return integer_of(d->random, choices);
  }
  return check_random_chance(d->random, 20) ? some_extent(d)
                                            : integers[check_random_pick(d->random, 7)];
}

/* Axes in some order, small numbers, ones, extents. */
static bool some_integers(drawing_t* d, tenon_attribute_t* a) {
  const uint32_t lengths[] = {d->rank, d->rank > 2 ? d->rank - 2 : 1,
                              d->rank > 2 ? 2 * (d->rank - 2) : 2, 1, 2};
  const uint32_t style = check_random_pick(d->random, 4);
  a->count = lengths[check_random_pick(d->random, 5)];
  int64_t* numbers = take(d->c, a->count * sizeof(*numbers));
  if (numbers == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < a->count; ++i) {
    numbers[i] = style == 0   ? (int64_t)i
                 : style == 1 ? 1
                 : style == 2 ? (int64_t)check_random_pick(d->random, 3)
                              : some_extent(d);
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

static bool draw_value(drawing_t* d, const tenon_attribute_descriptor_t* from,
                       tenon_attribute_t* a) {
  static const double numbers[] = {0.5, 0.1, 1, 2, 0.75};
  switch (from->kind) {
    case TENON_ATTRIBUTE_INT:
      a->integer = some_integer(d, from->choices);
      return true;
    case TENON_ATTRIBUTE_FLOAT:
      a->number = numbers[check_random_pick(d->random, 5)];
      return true;
    case TENON_ATTRIBUTE_STRING:
      a->string = from->choices != NULL ? one_of(d->c, d->random, from->choices) : "a";
      return a->string != NULL;
    case TENON_ATTRIBUTE_INTS:
      return some_integers(d, a);
    case TENON_ATTRIBUTE_FLOATS:
      a->numbers = numbers;
      a->count = 1 + check_random_pick(d->random, 4);
      return true;
    case TENON_ATTRIBUTE_DTYPE:
      a->integer = draw_type(d->random, "numeric bool");
      return true;
    default:
      return false;
  }
}

/* The hint's, or by chance; two in three of those with a default keep it. False: none is needed. */
static bool draw_attribute(drawing_t* d, const tenon_attribute_descriptor_t* from,
                           tenon_attribute_t* a, bool* out_failed) {
  int64_t hinted[CHECK_MOST_RANK];
  uint32_t count = 0;
  const bool is_required = (from->flags & TENON_ATTRIBUTE_REQUIRED) != 0;
  *a = (tenon_attribute_t){.name = from->name, .kind = from->kind};
  *out_failed = false;
  if (check_hint_numbers(&d->hint, from->name, d->random, hinted, &count)) {
    a->integer = hinted[0];
    a->count = count == TENON_NONE ? 1 : count;
    int64_t* copy = take(d->c, a->count * sizeof(*copy));
    *out_failed = copy == NULL;
    if (copy == NULL) {
      return false;
    }
    memcpy(copy, hinted, a->count * sizeof(*copy));
    a->integers = copy;
    return true;
  }
  const char* text = check_hint_text(&d->hint, from->name);
  if (text != NULL && from->kind == TENON_ATTRIBUTE_STRING) {
    const size_t length = strcspn(text, " ");
    char* copy = take(d->c, length + 1);
    *out_failed = copy == NULL;
    if (copy == NULL) {
      return false;
    }
    memcpy(copy, text, length);
    a->string = copy;
    return true;
  }
  /* Texts restrict types in ways that declarations do not show: their defaults stay. */
  if (!is_required && (from->kind == TENON_ATTRIBUTE_DTYPE || check_random_chance(d->random, 66))) {
    return false;
  }
  const bool good = draw_value(d, from, a);
  *out_failed = !good && is_required;
  return good;
}

static bool draw_attributes(drawing_t* d) {
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

/* ---- Inputs ---- */

/* Numbers that shapes are made of. */
static bool draw_operand(drawing_t* d, const char* name, check_input_t* input,
                         tenon_dtype_t dtype) {
  int64_t numbers[CHECK_MOST_RANK];
  tenon_attribute_t drawn = {0};
  uint32_t count = 0;
  if (!check_hint_numbers(&d->hint, name, d->random, numbers, &count)) {
    if (check_random_chance(d->random, 30)) {
      count = TENON_NONE;
      numbers[0] = some_integer(d, NULL);
    } else if (some_integers(d, &drawn)) {
      count = (uint32_t)(drawn.count < CHECK_MOST_RANK ? drawn.count : CHECK_MOST_RANK);
      memcpy(numbers, drawn.integers, count * sizeof(*numbers));
    }
  }
  const bool is_scalar = count == TENON_NONE;
  const int64_t dims[] = {is_scalar ? 1 : (int64_t)count};
  if (tool_value_make(name, dtype, is_scalar ? 0 : 1, dims, &input->value) != TENON_OK) {
    return false;
  }
  for (uint32_t i = 0; i < (is_scalar ? 1 : count); ++i) {
    tool_element_set(dtype, input->value.data, i, (double)numbers[i]);
  }
  input->is_constant = true;
  return true;
}

static bool draw_tensor(drawing_t* d, const tenon_port_t* port, check_input_t* input,
                        tenon_dtype_t dtype) {
  int64_t dims[CHECK_MOST_RANK] = {0};
  uint32_t rank = d->rank;
  check_hint_traits_t traits = {.scale = 1};
  uint64_t count = 0;
  uint64_t bytes = 0;
  if (!check_hint_dims(&d->hint, port->name, d->random, dims, &rank, &traits)) {
    rank = check_random_chance(d->random, 60) ? d->rank : check_random_pick(d->random, 5);
    for (uint32_t k = 0; k < rank; ++k) {
      dims[k] = some_extent(d);
    }
  }
  input->is_constant = input->is_constant || traits.is_constant;
  input->scale = traits.scale;
  if (!tool_element_count(rank, dims, dtype, &count, &bytes) || count > d->wish->most_elements ||
      tool_value_make(port->name, dtype, rank, dims, &input->value) != TENON_OK) {
    return false;
  }
  return check_numbers_draw(d->c, input, d->random);
}

/* An input with a hint is there as the hint says; without one optional inputs are there in one of
 * two cases. */
static bool is_absent(drawing_t* d, const tenon_port_t* port) {
  int64_t numbers[CHECK_MOST_RANK];
  uint32_t count = 0;
  check_hint_traits_t traits = {.may_be_absent = (port->flags & TENON_PORT_OPTIONAL) != 0};
  if (d->hint.text != NULL) {
    check_hint_t copy = d->hint;
    check_random_t chance = *d->random;
    if (check_hint_numbers(&copy, port->name, &chance, numbers, &count)) {
      return false;
    }
    if (!check_hint_dims(&copy, port->name, &chance, numbers, &count, &traits)) {
      return (port->flags & TENON_PORT_OPTIONAL) != 0;
    }
  }
  return traits.may_be_absent && check_random_chance(d->random, 50);
}

static bool draw_input(drawing_t* d, const tenon_port_t* port, check_input_t* input) {
  const bool is_first = d->c->input_count == 0;
  input->port = port;
  if (is_absent(d, port)) {
    return true;
  }
  const tenon_dtype_t dtype = type_of_port(d, port);
  int64_t numbers[CHECK_MOST_RANK];
  uint32_t count = 0;
  check_hint_t copy = d->hint;
  check_random_t chance = *d->random;
  if (dtype == TENON_DTYPE_UNDEFINED || dtype == TENON_DTYPE_STRING) {
    return false;
  }
  if ((port->flags & TENON_PORT_SHAPE_OPERAND) != 0 ||
      check_hint_numbers(&copy, port->name, &chance, numbers, &count)) {
    return draw_operand(d, port->name, input, dtype);
  }
  input->is_constant = !is_first && !d->wish->no_constants &&
                       (d->wish->constants || check_random_chance(d->random, 30));
  return draw_tensor(d, port, input, dtype);
}

static bool draw_inputs(drawing_t* d) {
  const tenon_list_t* list = &d->c->op->inputs;
  for (uint32_t i = 0; i < list->count; ++i) {
    const tenon_port_t* port = check_list_item(list, i);
    const bool is_variadic = (port->flags & TENON_PORT_VARIADIC) != 0;
    const uint32_t times = is_variadic ? 1 + check_random_pick(d->random, 3) : 1;
    for (uint32_t k = 0; k < times; ++k) {
      if (d->c->input_count == CHECK_MOST_INPUTS ||
          !draw_input(d, port, &d->c->inputs[d->c->input_count])) {
        return false;
      }
      ++d->c->input_count;
    }
  }
  bool any = false;
  for (uint32_t i = 0; i < d->c->input_count; ++i) {
    any = any ||
          (d->c->inputs[i].value.kind != TENON_ARGUMENT_ABSENT && !d->c->inputs[i].is_constant);
  }
  return any;
}

bool check_case_draw(const tenon_operator_t* op, const check_wish_t* wish, check_random_t* random,
                     check_case_t* out_case) {
  drawing_t d = {.c = out_case, .wish = wish, .random = random};
  memset(out_case, 0, sizeof(*out_case));
  out_case->op = op;
  out_case->output_count = check_random_chance(random, 50)
                               ? op->outputs.count
                               : 1 + check_random_pick(random, op->outputs.count);
  if (check_random_chance(random, 85)) {
    check_hint_pick(op->name, random, &d.hint);
    d.hint.is_wide = wish->is_wide;
    d.hint.empty = "abcdefghijklmnopqrstuvwxyz"[check_random_pick(random, 26)];
    d.hint.has_empty = wish->is_empty;
  }
  draw_palette(&d);
  const bool good = draw_attributes(&d) && draw_inputs(&d);
  if (!good) {
    check_case_release(out_case);
  }
  return good;
}

void check_case_redraw(check_case_t* c, check_random_t* random) {
  for (uint32_t i = 0; i < c->input_count; ++i) {
    if (c->inputs[i].value.kind != TENON_ARGUMENT_ABSENT && !c->inputs[i].is_constant) {
      (void)check_numbers_draw(c, &c->inputs[i], random);
    }
  }
}

void check_case_release(check_case_t* c) {
  for (uint32_t i = 0; i < CHECK_MOST_INPUTS; ++i) {
    tool_value_free(&c->inputs[i].value);
  }
  c->input_count = 0;
}

/* ---- Words ---- */

static void print_attribute(const tenon_attribute_t* a, check_text_t* text) {
  check_text_add(text, "%s=", a->name);
  switch (a->kind) {
    case TENON_ATTRIBUTE_INT:
      check_text_add(text, "%lld", (long long)a->integer);
      break;
    case TENON_ATTRIBUTE_FLOAT:
      check_text_add(text, "%g", a->number);
      break;
    case TENON_ATTRIBUTE_STRING:
      check_text_add(text, "'%s'", a->string);
      break;
    case TENON_ATTRIBUTE_DTYPE:
      check_text_add(text, "%s", tool_dtype_name((tenon_dtype_t)a->integer));
      break;
    default:
      for (size_t i = 0; i < a->count; ++i) {
        check_text_add(text, "%s%g", i == 0 ? "[" : ",",
                       a->kind == TENON_ATTRIBUTE_FLOATS ? a->numbers[i] : (double)a->integers[i]);
      }
      check_text_add(text, "%s]", a->count == 0 ? "[" : "");
  }
}

void check_case_print(const check_case_t* c, check_text_t* text) {
  bool any = false;
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const tool_value_t* v = &c->inputs[i].value;
    if (v->kind == TENON_ARGUMENT_ABSENT) {
      continue;
    }
    check_text_add(text, "%s%s %s%s[", any ? ", " : "", c->inputs[i].port->name,
                   c->inputs[i].is_constant ? "constant " : "", tool_dtype_name(v->dtype));
    for (uint32_t k = 0; k < v->rank; ++k) {
      check_text_add(text, "%s%lld", k > 0 ? "," : "", (long long)v->dims[k]);
    }
    check_text_add(text, "]");
    any = true;
  }
  for (uint32_t i = 0; i < c->attribute_count; ++i) {
    check_text_add(text, "%s", i == 0 ? "; " : ", ");
    print_attribute(&c->attributes[i], text);
  }
}
