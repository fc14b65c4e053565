/*
 * Attributes as values. A literal is a syntax tree of one number, string or name, or a list of
 * them; a unary minus may precede a number.
 */
#include "core/operator/attribute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/tensor/dtype.h"

const char* tenon__attribute_kind_name(uint32_t kind) {
  static const char* const names[] = {"?",      "int",     "float", "string", "ints",
                                      "floats", "strings", "dtype", "tensor", "body"};
  return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : names[0];
}

static bool literal_int(const tenon__syntax_t* syntax, int64_t* out_value) {
  if (syntax->kind == TENON_SYNTAX_INTEGER) {
    *out_value = syntax->integer;
    return true;
  }
  if (syntax->kind == TENON_SYNTAX_UNARY && syntax->op == '-' &&
      syntax->children[0]->kind == TENON_SYNTAX_INTEGER) {
    *out_value = -syntax->children[0]->integer;
    return true;
  }
  if (syntax->kind == TENON_SYNTAX_NAME) {
    *out_value = strcmp(syntax->text, "true") == 0;
    return *out_value != 0 || strcmp(syntax->text, "false") == 0;
  }
  return false;
}

static bool literal_float(const tenon__syntax_t* syntax, double* out_value) {
  if (syntax->kind == TENON_SYNTAX_UNARY && syntax->op == '-') {
    if (!literal_float(syntax->children[0], out_value)) {
      return false;
    }
    *out_value = -*out_value;
    return true;
  }
  if (syntax->kind == TENON_SYNTAX_INTEGER) {
    *out_value = (double)syntax->integer;
  } else if (syntax->kind == TENON_SYNTAX_FLOAT) {
    *out_value = syntax->number;
  } else if (syntax->kind == TENON_SYNTAX_NAME && strcmp(syntax->text, "inf") == 0) {
    *out_value = INFINITY;
  } else if (syntax->kind == TENON_SYNTAX_NAME && strcmp(syntax->text, "nan") == 0) {
    *out_value = NAN;
  } else {
    return false;
  }
  return true;
}

/* The items of a list, into an array that `attribute` then points to. */
static tenon_status_t literal_list(tenon__arena_t* arena, const tenon__syntax_t* syntax,
                                   tenon__scope_attribute_t* attribute) {
  if (syntax->kind != TENON_SYNTAX_LIST) {
    return TENON_ERROR_INVALID_DATA;
  }
  const size_t count = syntax->child_count;
  int64_t* integers = tenon__arena_allocate(arena, count + 1, sizeof(*integers));
  double* numbers = tenon__arena_allocate(arena, count + 1, sizeof(*numbers));
  const char** strings = tenon__arena_allocate(arena, count + 1, sizeof(*strings));
  TENON_TRY_MEMORY(integers != NULL && numbers != NULL && strings != NULL);
  for (size_t i = 0; i < count; ++i) {
    const tenon__syntax_t* item = syntax->children[i];
    bool good = false;
    if (attribute->kind == TENON_ATTRIBUTE_INTS) {
      good = literal_int(item, &integers[i]);
    } else if (attribute->kind == TENON_ATTRIBUTE_FLOATS) {
      good = literal_float(item, &numbers[i]);
    } else {
      good = item->kind == TENON_SYNTAX_STRING;
      strings[i] = good ? tenon__arena_copy_string(arena, item->text) : "";
      TENON_TRY_MEMORY(strings[i] != NULL);
    }
    if (!good) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  attribute->count = count;
  attribute->integers = attribute->kind == TENON_ATTRIBUTE_INTS ? integers : NULL;
  attribute->numbers = attribute->kind == TENON_ATTRIBUTE_FLOATS ? numbers : NULL;
  attribute->strings = attribute->kind == TENON_ATTRIBUTE_STRINGS ? strings : NULL;
  return TENON_OK;
}

tenon_status_t tenon__attribute_from_syntax(tenon__arena_t* arena, const tenon__syntax_t* syntax,
                                            uint32_t kind,
                                            tenon__scope_attribute_t* out_attribute) {
  tenon__scope_attribute_t result = {.name = out_attribute->name, .kind = kind};
  bool good = false;
  switch (kind) {
    case TENON_ATTRIBUTE_INT:
      good = literal_int(syntax, &result.integer);
      break;
    case TENON_ATTRIBUTE_FLOAT:
      good = literal_float(syntax, &result.number);
      break;
    case TENON_ATTRIBUTE_STRING:
      good = syntax->kind == TENON_SYNTAX_STRING;
      result.string = good ? tenon__arena_copy_string(arena, syntax->text) : "";
      TENON_TRY_MEMORY(result.string != NULL);
      break;
    case TENON_ATTRIBUTE_DTYPE:
      if (syntax->kind == TENON_SYNTAX_NAME || syntax->kind == TENON_SYNTAX_STRING) {
        result.integer = (int64_t)tenon__dtype_from_name(syntax->text);
        good = result.integer != TENON_DTYPE_UNDEFINED || strcmp(syntax->text, "undefined") == 0;
      }
      break;
    case TENON_ATTRIBUTE_INTS:
    case TENON_ATTRIBUTE_FLOATS:
    case TENON_ATTRIBUTE_STRINGS:
      TENON_TRY(literal_list(arena, syntax, &result));
      good = true;
      break;
    default:
      break;
  }
  if (!good) {
    return TENON_ERROR_INVALID_DATA;
  }
  *out_attribute = result;
  return TENON_OK;
}

tenon_status_t tenon__attribute_copy(tenon__arena_t* arena,
                                     const tenon__scope_attribute_t* attribute,
                                     tenon__scope_attribute_t* out_attribute) {
  tenon__scope_attribute_t result = *attribute;
  const size_t bytes = attribute->count * sizeof(int64_t); /* of integers or floats */
  if (attribute->string != NULL) {
    result.string = tenon__arena_copy_string(arena, attribute->string);
  }
  if (attribute->integers != NULL) {
    result.integers = tenon__arena_copy(arena, attribute->integers, bytes);
  }
  if (attribute->numbers != NULL) {
    result.numbers = tenon__arena_copy(arena, attribute->numbers, bytes);
  }
  bool good = (result.string != NULL) == (attribute->string != NULL) &&
              (result.integers != NULL) == (attribute->integers != NULL) &&
              (result.numbers != NULL) == (attribute->numbers != NULL);
  if (good && attribute->strings != NULL) {
    const char** strings =
        tenon__arena_allocate(arena, attribute->count + 1, sizeof(*attribute->strings));
    good = strings != NULL;
    for (size_t i = 0; good && i < attribute->count; ++i) {
      strings[i] = tenon__arena_copy_string(arena, attribute->strings[i]);
      good = strings[i] != NULL;
    }
    result.strings = strings;
  }
  TENON_TRY_MEMORY(good);
  *out_attribute = result;
  return TENON_OK;
}

static bool is_list(uint32_t kind) {
  return kind == TENON_ATTRIBUTE_INTS || kind == TENON_ATTRIBUTE_FLOATS ||
         kind == TENON_ATTRIBUTE_STRINGS;
}

static tenon_status_t ints_to_floats(tenon__arena_t* arena,
                                     const tenon__scope_attribute_t* attribute,
                                     tenon__scope_attribute_t* out_attribute) {
  double* numbers = tenon__arena_allocate(arena, attribute->count + 1, sizeof(*numbers));
  TENON_TRY_MEMORY(numbers != NULL);
  for (size_t i = 0; i < attribute->count; ++i) {
    numbers[i] = (double)attribute->integers[i];
  }
  *out_attribute = (tenon__scope_attribute_t){.name = attribute->name,
                                              .kind = TENON_ATTRIBUTE_FLOATS,
                                              .defined = attribute->defined,
                                              .numbers = numbers,
                                              .count = attribute->count};
  return TENON_OK;
}

tenon_status_t tenon__attribute_convert(tenon__arena_t* arena,
                                        const tenon__scope_attribute_t* attribute, uint32_t kind,
                                        tenon__scope_attribute_t* out_attribute) {
  if (attribute->kind == kind) {
    return tenon__attribute_copy(arena, attribute, out_attribute);
  }
  tenon__scope_attribute_t result = {
      .name = attribute->name, .kind = kind, .defined = attribute->defined};
  if (attribute->kind == TENON_ATTRIBUTE_INT && kind == TENON_ATTRIBUTE_FLOAT) {
    result.number = (double)attribute->integer;
  } else if (attribute->kind == TENON_ATTRIBUTE_INTS && kind == TENON_ATTRIBUTE_FLOATS) {
    return ints_to_floats(arena, attribute, out_attribute);
  } else if (attribute->kind == TENON_ATTRIBUTE_STRING && kind == TENON_ATTRIBUTE_DTYPE) {
    result.integer = (int64_t)tenon__dtype_from_name(attribute->string);
    if (result.integer == TENON_DTYPE_UNDEFINED) {
      return TENON_ERROR_INVALID_DATA;
    }
  } else if (!is_list(attribute->kind) || !is_list(kind) || attribute->count != 0) {
    return TENON_ERROR_INVALID_DATA;
  }
  *out_attribute = result;
  return TENON_OK;
}

/* Is `value` an item of "none|fast|exact"? */
static bool choice_has(const char* choices, const char* value) {
  const size_t size = strlen(value);
  for (const char* at = choices;; ++at) {
    const size_t length = strcspn(at, "|");
    if (length == size && memcmp(at, value, size) == 0) {
      return true;
    }
    at += length;
    if (*at == '\0') {
      return false;
    }
  }
}

/* "0..8", "1..", "..8", "3", several of them separated by '|'. */
static int range_has(const char* choices, double value) {
  int found = 0;
  const char* at = choices;
  for (;;) {
    char* end = NULL;
    const double low = strtod(at, &end);
    const bool has_low = end != at;
    const bool dots = strncmp(end, "..", 2) == 0 || (end > at && strncmp(end - 1, "..", 2) == 0);
    double high = low;
    bool has_high = has_low;
    if (dots) {
      at = strstr(end > at ? end - 1 : end, "..") + 2;
      high = strtod(at, &end);
      has_high = end != at;
    }
    if ((!has_low && !has_high) || (*end != '\0' && *end != '|')) {
      return -1;
    }
    if ((!has_low || value >= low) && (!has_high || value <= high)) {
      found = 1;
    }
    if (*end == '\0') {
      return found;
    }
    at = end + 1;
  }
}

int tenon__attribute_allowed(const char* choices, const tenon__scope_attribute_t* attribute) {
  if (choices == NULL) {
    return 1;
  }
  int all = 1;
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      return range_has(choices, (double)attribute->integer);
    case TENON_ATTRIBUTE_FLOAT:
      return range_has(choices, attribute->number);
    case TENON_ATTRIBUTE_STRING:
      return attribute->string != NULL && choice_has(choices, attribute->string);
    case TENON_ATTRIBUTE_DTYPE:
      return tenon__dtype_allowed(choices, (tenon_dtype_t)attribute->integer);
    case TENON_ATTRIBUTE_INTS:
    case TENON_ATTRIBUTE_FLOATS:
      all = range_has(choices, 0) < 0 ? -1 : 1;
      for (size_t i = 0; all > 0 && i < attribute->count; ++i) {
        all = range_has(choices, attribute->kind == TENON_ATTRIBUTE_INTS
                                     ? (double)attribute->integers[i]
                                     : attribute->numbers[i]);
      }
      return all;
    case TENON_ATTRIBUTE_STRINGS:
      for (size_t i = 0; all > 0 && i < attribute->count; ++i) {
        all = choice_has(choices, attribute->strings[i]);
      }
      return all;
    default:
      return 1;
  }
}

static bool list_equal(const tenon__scope_attribute_t* a, const tenon__scope_attribute_t* b) {
  if (a->count != b->count) {
    return false;
  }
  if (a->kind != TENON_ATTRIBUTE_STRINGS) { /* floats to the last bit, NaN too */
    const bool are_floats = a->kind == TENON_ATTRIBUTE_FLOATS;
    const void* x = are_floats ? (const void*)a->numbers : a->integers;
    const void* y = are_floats ? (const void*)b->numbers : b->integers;
    return a->count == 0 || memcmp(x, y, a->count * sizeof(int64_t)) == 0;
  }
  for (size_t i = 0; i < a->count; ++i) {
    if (strcmp(a->strings[i], b->strings[i]) != 0) {
      return false;
    }
  }
  return true;
}

/* What is required has no default: NULL. */
static bool same_text(const char* a, const char* b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

const tenon__scope_attribute_t* tenon__attribute_find(const tenon__scope_attribute_t* attributes,
                                                      uint32_t count, const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(attributes[i].name, name) == 0) {
      return &attributes[i];
    }
  }
  return NULL;
}

bool tenon__attribute_equal(const tenon__scope_attribute_t* a, const tenon__scope_attribute_t* b) {
  if (a->kind != b->kind) {
    return false;
  }
  switch (a->kind) {
    case TENON_ATTRIBUTE_FLOAT:
      return tenon__bits_of(a->number) ==
             tenon__bits_of(b->number); /* -0 is not 0, and NaN is itself */
    case TENON_ATTRIBUTE_STRING:
      return same_text(a->string, b->string);
    case TENON_ATTRIBUTE_INTS:
    case TENON_ATTRIBUTE_FLOATS:
    case TENON_ATTRIBUTE_STRINGS:
      return list_equal(a, b);
    default:
      return a->integer == b->integer;
  }
}

static const char* list_text(const tenon__scope_attribute_t* attribute, tenon__arena_t* arena) {
  const char* text = "[";
  for (size_t i = 0; text != NULL && i < attribute->count; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    if (i == 8 && attribute->count > 10) {
      text = tenon__arena_format(arena, "%s, ... %zu items", text, attribute->count);
      break;
    }
    if (attribute->kind == TENON_ATTRIBUTE_INTS) {
      text = tenon__arena_format(arena, "%s%s%lld", text, comma, (long long)attribute->integers[i]);
    } else if (attribute->kind == TENON_ATTRIBUTE_FLOATS) {
      text = tenon__arena_format(arena, "%s%s%.9g", text, comma, attribute->numbers[i]);
    } else {
      text = tenon__arena_format(arena, "%s%s'%s'", text, comma, attribute->strings[i]);
    }
  }
  return text == NULL ? NULL : tenon__arena_format(arena, "%s]", text);
}

const char* tenon__attribute_text(const tenon__scope_attribute_t* attribute,
                                  tenon__arena_t* arena) {
  const char* text = "?";
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      text = tenon__arena_format(arena, "%lld", (long long)attribute->integer);
      break;
    case TENON_ATTRIBUTE_FLOAT:
      text = tenon__arena_format(arena, "%.9g", attribute->number);
      break;
    case TENON_ATTRIBUTE_STRING:
      text = tenon__arena_format(arena, "'%s'", attribute->string);
      break;
    case TENON_ATTRIBUTE_DTYPE:
      text = tenon__dtype_name((tenon_dtype_t)attribute->integer);
      break;
    case TENON_ATTRIBUTE_INTS:
    case TENON_ATTRIBUTE_FLOATS:
    case TENON_ATTRIBUTE_STRINGS:
      text = list_text(attribute, arena);
      break;
    default:
      break;
  }
  return text == NULL ? "?" : text;
}
