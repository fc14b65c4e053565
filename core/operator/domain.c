/* The parser of domains: a range or places, then properties. */
#include "core/operator/domain.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/operator/operator.h"

enum { MOST_NAME = 64 };

typedef struct parser_t {
  const tenon__descriptor_t* op;
  const char* at;
  tenon__domain_t domain;
} parser_t;

static void skip_blanks(parser_t* p) {
  while (*p->at == ' ') {
    ++p->at;
  }
}

static bool take(parser_t* p, char sign) {
  skip_blanks(p);
  const bool is_there = *p->at == sign;
  p->at += is_there ? 1 : 0;
  return is_there;
}

static bool take_number(parser_t* p, double* out_number) {
  char* end = NULL;
  skip_blanks(p);
  *out_number = strtod(p->at, &end);
  const bool good = end != p->at && !isnan(*out_number);
  p->at = good ? end : p->at;
  return good;
}

static bool take_name(parser_t* p, char out_name[MOST_NAME]) {
  skip_blanks(p);
  size_t length = 0;
  while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_') {
    ++length;
  }
  if (length == 0 || length >= MOST_NAME) {
    return false;
  }
  memcpy(out_name, p->at, length);
  out_name[length] = '\0';
  p->at += length;
  return true;
}

/* "[a,b]", behind the bracket; an end may be infinite. */
static bool take_range(parser_t* p) {
  tenon__domain_t* d = &p->domain;
  const bool good = !d->has_range && take_number(p, &d->min) && take(p, ',') &&
                    take_number(p, &d->max) && take(p, ']') && d->min <= d->max &&
                    d->min < HUGE_VAL && d->max > -HUGE_VAL;
  d->has_range = true;
  return good;
}

/* A number, or the name of an INT attribute, which lives as long as the operator. */
static bool take_axis(parser_t* p) {
  char name[MOST_NAME];
  char* end = NULL;
  skip_blanks(p);
  const long number = strtol(p->at, &end, 10);
  if (end != p->at) {
    p->at = end;
    p->domain.axis = number;
    return number >= -64 && number < 64;
  }
  if (!take_name(p, name)) {
    return false;
  }
  for (uint32_t k = 0; k < p->op->attribute_count; ++k) {
    const tenon_attribute_descriptor_t* attribute = &p->op->attributes[k];
    if (attribute->kind == TENON_ATTRIBUTE_INT && strcmp(attribute->name, name) == 0) {
      p->domain.axis_attribute = attribute->name;
      return true;
    }
  }
  return false;
}

/* "(input, axis)" */
static bool take_places(parser_t* p, tenon__domain_places_t places) {
  char name[MOST_NAME];
  const bool is_first = p->domain.places == TENON_DOMAIN_NO_PLACES;
  p->domain.places = places;
  if (!is_first || !take(p, '(') || !take_name(p, name)) {
    return false;
  }
  p->domain.input = tenon__operator_input(p->op, name);
  return p->domain.input != TENON_NONE && take(p, ',') && take_axis(p) && take(p, ')');
}

/* Each at most once. */
static bool take_property(tenon__domain_t* d, const char* word) {
#define PROPERTIES(X) X(positive) X(nonzero) X(sorted) X(distinct)
#define PROPERTY(name) {#name, &d->is_##name},
  const struct {
    const char* name;
    bool* flag;
  } properties[] = {PROPERTIES(PROPERTY)};
#undef PROPERTY
#undef PROPERTIES
  for (size_t k = 0; k < sizeof properties / sizeof *properties; ++k) {
    if (strcmp(properties[k].name, word) == 0) {
      const bool was_set = *properties[k].flag;
      *properties[k].flag = true;
      return !was_set;
    }
  }
  return strcmp(word, "any") == 0 || strcmp(word, "finite") == 0;
}

static bool take_word(parser_t* p) {
  char word[MOST_NAME];
  if (take(p, '[')) {
    return take_range(p);
  }
  if (!take_name(p, word)) {
    return false;
  }
  if (strcmp(word, "index") == 0 || strcmp(word, "coordinates") == 0) {
    return take_places(p, word[0] == 'i' ? TENON_DOMAIN_INDEX : TENON_DOMAIN_COORDINATES);
  }
  return take_property(&p->domain, word);
}

bool tenon__domain_parse(const tenon__descriptor_t* op, const char* text,
                         tenon__domain_t* out_domain, const char** out_fault) {
  parser_t p = {.op = op, .at = text == NULL ? "" : text};
  for (skip_blanks(&p); *p.at != '\0'; skip_blanks(&p)) {
    const char* word = p.at;
    if (!take_word(&p) || (*p.at != '\0' && *p.at != ' ')) {
      *out_fault = word;
      return false;
    }
  }
  if (p.domain.is_distinct && p.domain.places == TENON_DOMAIN_NO_PLACES) {
    *out_fault = strstr(text, "distinct");
    return false;
  }
  *out_domain = p.domain;
  return true;
}
