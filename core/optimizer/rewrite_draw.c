/* Random samples. Half of the numbers are drawn from those in the texts of the rewrite. */
#include "core/optimizer/rewrite_draw.h"

#include <string.h>

#include "core/operator/attribute.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

enum { MOST_EXTENT = 8 };

/* ---- Chance ---- */

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(tenon__sampler_t* sampler) {
  uint64_t z = sampler->random += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

uint32_t tenon__draw_pick(tenon__draw_t* draw, uint32_t count) {
  return (uint32_t)(next(draw->sampler) % count);
}

/* ---- The guard ---- */

static void collect_texts(const tenon__syntax_t* syntax, tenon__literals_t* literals) {
  if (syntax->kind == TENON_SYNTAX_STRING && literals->text_count < TENON_DRAW_MOST_LITERALS) {
    literals->texts[literals->text_count++] = syntax->text;
  }
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    collect_texts(syntax->children[i], literals);
  }
}

static void collect_numbers(const tenon__syntax_t* syntax, tenon__literals_t* literals) {
  if (syntax->kind == TENON_SYNTAX_INTEGER || syntax->kind == TENON_SYNTAX_FLOAT) {
    const double number =
        syntax->kind == TENON_SYNTAX_INTEGER ? (double)syntax->integer : syntax->number;
    const double both[] = {number, -number};
    for (int i = 0; i < 2 && literals->number_count < TENON_DRAW_MOST_LITERALS; ++i) {
      literals->numbers[literals->number_count++] = both[i];
    }
  }
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    collect_numbers(syntax->children[i], literals);
  }
}

static void collect_cases(const tenon__operator_case_t* cases, uint32_t count,
                          tenon__literals_t* literals) {
  for (uint32_t i = 0; i < count; ++i) {
    if (cases[i].when != NULL) {
      collect_texts(cases[i].when, literals);
    }
  }
}

void tenon__draw_read(tenon__draw_t* draw, const tenon__operator_t* op) {
  const tenon__descriptor_t* d = &op->descriptor;
  collect_cases(op->cases, d->case_count, &draw->literals);
  collect_cases(op->moves, d->move_count, &draw->literals);
  collect_cases(op->decompositions, d->decomposition_count, &draw->literals);
  for (uint32_t i = 0; i < d->check_count; ++i) {
    collect_texts(op->checks[i], &draw->literals);
  }
}

/* Does it ask for the contents of `name`, or how many there are? */
static bool asks_contents(const tenon__syntax_t* syntax, const char* name) {
  if (syntax == NULL) {
    return false;
  }
  const bool is_question = syntax->kind == TENON_SYNTAX_CALL &&
                           (strcmp(syntax->text, "value") == 0 || strcmp(syntax->text, "at") == 0 ||
                            strcmp(syntax->text, "elements") == 0);
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    const tenon__syntax_t* child = syntax->children[i];
    if ((is_question && child->kind == TENON_SYNTAX_NAME && strcmp(child->text, name) == 0) ||
        asks_contents(child, name)) {
      return true;
    }
  }
  return false;
}

/* ---- Attributes ---- */

static int64_t some_integer(tenon__draw_t* draw) {
  static const int64_t integers[] = {0, 1, -1, 2, 3};
  const tenon__literals_t* l = &draw->literals;
  return l->number_count > 0 && tenon__draw_pick(draw, 2) == 0
             ? (int64_t)l->numbers[tenon__draw_pick(draw, l->number_count)]
             : integers[tenon__draw_pick(draw, sizeof(integers) / sizeof(integers[0]))];
}

static double some_number(tenon__draw_t* draw) {
  static const double numbers[] = {0.5, 2, -1, 1.25, 0.01};
  const tenon__literals_t* l = &draw->literals;
  return l->number_count > 0 && tenon__draw_pick(draw, 2) == 0
             ? l->numbers[tenon__draw_pick(draw, l->number_count)]
             : numbers[tenon__draw_pick(draw, sizeof(numbers) / sizeof(numbers[0]))];
}

/* One of the choices, "none|fast", or of the guard's texts. */
static const char* some_text(tenon__draw_t* draw, const char* choices) {
  const tenon__literals_t* l = &draw->literals;
  if (choices == NULL || choices[0] == '\0') {
    return l->text_count > 0 ? l->texts[tenon__draw_pick(draw, l->text_count)] : "a";
  }
  uint32_t count = 1;
  for (const char* c = choices; *c != '\0'; ++c) {
    count += *c == '|' ? 1 : 0;
  }
  const char* begin = choices;
  for (uint32_t skip = tenon__draw_pick(draw, count); skip > 0; --skip) {
    begin = strchr(begin, '|') + 1;
  }
  const char* text = tenon__arena_copy_text(draw->arena, begin, strcspn(begin, "|"));
  return text == NULL ? "" : text;
}

static void some_list(tenon__draw_t* draw, tenon__scope_attribute_t* attribute) {
  static const int64_t lists[][4] = {{0},       {1},       {-1},         {0, 1},
                                     {1, 0},    {1, 1},    {2, 2},       {1, 0, 2},
                                     {0, 2, 1}, {2, 1, 0}, {1, 1, 1, 1}, {0, 2, 3, 1}};
  static const size_t counts[] = {1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4};
  static const double numbers[] = {0.5, 2, 1, -1};
  const uint32_t index = tenon__draw_pick(draw, sizeof(counts) / sizeof(counts[0]));
  attribute->count = counts[index];
  attribute->integers = lists[index];
  attribute->numbers = numbers;
}

/* False when nothing was found that the operator takes. */
bool tenon__draw_attribute(tenon__draw_t* draw, const tenon_attribute_descriptor_t* descriptor,
                           tenon__scope_attribute_t* out_attribute) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT64, TENON_DTYPE_FLOAT32, TENON_DTYPE_INT64,
                                        TENON_DTYPE_INT32};
  for (int attempt = 0; attempt < 8; ++attempt) {
    tenon__scope_attribute_t a = {
        .name = descriptor->name, .kind = descriptor->kind, .defined = true};
    switch (descriptor->kind) {
      case TENON_ATTRIBUTE_INT:
        a.integer = some_integer(draw);
        break;
      case TENON_ATTRIBUTE_FLOAT:
        a.number = some_number(draw);
        break;
      case TENON_ATTRIBUTE_STRING:
        a.string = some_text(draw, descriptor->choices);
        break;
      case TENON_ATTRIBUTE_INTS:
      case TENON_ATTRIBUTE_FLOATS:
        some_list(draw, &a);
        break;
      case TENON_ATTRIBUTE_DTYPE:
        a.integer = types[tenon__draw_pick(draw, sizeof(types) / sizeof(types[0]))];
        break;
      default:
        return false;
    }
    if (tenon__attribute_allowed(descriptor->choices, &a) == 1) {
      *out_attribute = a;
      return true;
    }
  }
  return false;
}

/* ---- Inputs ---- */

uint32_t tenon__draw_shape(tenon__draw_t* draw, const char* name,
                           int64_t dims[TENON_DRAW_MOST_RANK]) {
  const uint32_t kind = asks_contents(draw->sampler->when, name) && tenon__draw_pick(draw, 3) != 0
                            ? tenon__draw_pick(draw, 2)
                            : tenon__draw_pick(draw, 9);
  memcpy(dims, draw->dims, sizeof(draw->dims));
  if (kind == 0) {
    return 0;
  }
  if (kind == 1 || (kind == 2 && draw->rank == 0)) {
    dims[0] = 1;
    return 1;
  }
  if (kind == 2) {
    dims[0] = draw->dims[draw->rank - 1];
    return 1;
  }
  if (kind == 3) {
    for (uint32_t i = 0; i < draw->rank; ++i) {
      dims[i] = tenon__draw_pick(draw, 2) == 0 ? 1 : draw->dims[i];
    }
  }
  return draw->rank;
}

/* All the same number of the guard where that asks for contents. */
void tenon__draw_elements(tenon__draw_t* draw, const char* name, tenon__data_wish_t* wish,
                          void* data) {
  const tenon_dtype_t arithmetic = tenon__dtype_arithmetic(wish->dtype);
  const bool is_float = tenon__dtype_class(wish->dtype) == 'f';
  const tenon__literals_t* l = &draw->literals;
  uint64_t count = 0;
  wish->low = is_float ? -2 : -4;
  wish->high = is_float ? 2 : 4;
  wish->seed = next(draw->sampler);
  tenon__data_make(wish, data);
  if (l->number_count == 0 || !asks_contents(draw->sampler->when, name) ||
      tenon__draw_pick(draw, 4) == 0 || !tenon__element_count(wish->rank, wish->dims, &count)) {
    return;
  }
  const double literal = l->numbers[tenon__draw_pick(draw, l->number_count)];
  tenon__scalar_t scalar = {0};
  if (is_float) {
    scalar.f = literal;
  } else {
    scalar.i = (int64_t)literal;
  }
  for (uint64_t i = 0; i < count; ++i) {
    tenon__element_store(data, wish->dtype, i, scalar, arithmetic);
  }
}

void tenon__draw_begin(tenon__sampler_t* sampler, tenon__arena_t* arena, tenon__draw_t* out_draw) {
  tenon__draw_t* draw = out_draw;
  *draw = (tenon__draw_t){.sampler = sampler, .arena = arena};
  if (sampler->when != NULL) {
    collect_numbers(sampler->when, &draw->literals);
    collect_texts(sampler->when, &draw->literals);
  }
  static const uint32_t ranks[] = {2, 1, 2, 3, 2, 4, 0, 3};
  static const tenon_dtype_t bases[] = {
      TENON_DTYPE_FLOAT64, TENON_DTYPE_FLOAT64, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32,
      TENON_DTYPE_INT64,   TENON_DTYPE_INT32,   TENON_DTYPE_BOOL,    TENON_DTYPE_FLOAT64};
  draw->rank = ranks[tenon__draw_pick(draw, 8)];
  draw->base = bases[tenon__draw_pick(draw, 8)];
  const bool is_square = tenon__draw_pick(draw, 2) == 0; /* products of matrices fit together */
  const int64_t side = 2 + (int64_t)tenon__draw_pick(draw, 2);
  for (uint32_t i = 0; i < TENON_DRAW_MOST_RANK; ++i) {
    draw->dims[i] = is_square ? side : 1 + (int64_t)tenon__draw_pick(draw, 4);
    const double literal =
        draw->literals.number_count == 0
            ? 0
            : draw->literals.numbers[tenon__draw_pick(draw, draw->literals.number_count)];
    if (literal >= 1 && literal <= MOST_EXTENT && tenon__draw_pick(draw, 3) == 0) {
      draw->dims[i] = (int64_t)literal;
    }
  }
}
