/* See numbers.h. */
#include "check/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a domain says, as far as data depend on it. */
typedef struct domain_t {
  bool is_positive;
  bool is_nonzero;
  bool is_sorted;
  bool is_distinct;
  bool has_range;
  double low;
  double high;
  bool is_coordinates;
  const tool_value_t* places; /* of index and coordinates; NULL: neither */
  int64_t axis;
} domain_t;

static const tool_value_t* find_input(const check_case_t* c, const char* name, size_t length) {
  for (uint32_t i = 0; i < CHECK_MOST_INPUTS; ++i) {
    const tenon_port_t* port = c->inputs[i].port;
    if (port != NULL && strlen(port->name) == length && memcmp(port->name, name, length) == 0 &&
        check_input_is_there(&c->inputs[i])) {
      return &c->inputs[i].value;
    }
  }
  return NULL;
}

/* A number, or the attribute of that name. */
static int64_t read_axis(const check_case_t* c, const char* text) {
  char* end = NULL;
  const int64_t axis = strtoll(text, &end, 10);
  if (end != text) {
    return axis;
  }
  const size_t length = strcspn(text, ")");
  for (uint32_t i = 0; i < c->attribute_count; ++i) {
    const char* name = c->attributes[i].name;
    if (strlen(name) == length && memcmp(name, text, length) == 0) {
      return c->attributes[i].integer;
    }
  }
  for (uint32_t i = 0; i < c->op->attributes.count; ++i) {
    const tenon_attribute_descriptor_t* a = check_list_item(&c->op->attributes, i);
    if (strlen(a->name) == length && memcmp(a->name, text, length) == 0) {
      return a->default_text == NULL ? 0 : strtoll(a->default_text, NULL, 10);
    }
  }
  return 0;
}

static bool read_places(const check_case_t* c, const char* text, domain_t* d) {
  const char* name = strchr(text, '(') + 1;
  const char* comma = strchr(name, ',');
  d->is_coordinates = text[0] == 'c';
  d->places = comma != NULL ? find_input(c, name, (size_t)(comma - name)) : NULL;
  if (d->places == NULL) {
    return false;
  }
  d->axis = read_axis(c, comma + 1 + strspn(comma + 1, " "));
  d->axis += d->axis < 0 ? d->places->rank : 0;
  return d->axis >= 0 && d->axis < d->places->rank;
}

static bool read_domain(const check_case_t* c, const char* text, domain_t* out_domain) {
  domain_t d = {0};
  bool good = true;
  if (text != NULL) {
    const char* range = strchr(text, '[');
    const char* places = strstr(text, "index(");
    places = places == NULL ? strstr(text, "coordinates(") : places;
    d.is_positive = strstr(text, "positive") != NULL;
    d.is_nonzero = strstr(text, "nonzero") != NULL;
    d.is_sorted = strstr(text, "sorted") != NULL;
    d.is_distinct = strstr(text, "distinct") != NULL;
    if (range != NULL) {
      char* end = NULL;
      d.has_range = true;
      d.low = strtod(range + 1, &end);
      d.high = strtod(end + 1, NULL);
    }
    good = places == NULL || read_places(c, places, &d);
  }
  *out_domain = d;
  return good;
}

/* Floats are of the order of 1, of either sign, none of them tiny; integers small. */
static double draw_number(const domain_t* d, tenon_dtype_t dtype, check_random_t* random) {
  const char kind = tool_dtype_class(dtype);
  const bool is_float = kind == 'f' || kind == 'c';
  double low = is_float ? 0.0625 : kind == 'i' ? -9 : 0;
  double high = is_float ? 1.5 : kind == 'b' ? 1 : 13;
  if (d->has_range) {
    low = isfinite(d->low) ? d->low : -16;
    high = isfinite(d->high) ? d->high : low + 16;
  } else if (d->is_positive && !is_float) {
    low = 1;
  }
  double value = low + (high - low) * check_random_unit(random);
  if (is_float && !d->has_range && !d->is_positive && (check_random_next(random) & 1) != 0) {
    value = -value;
  }
  if (!is_float) {
    value = low + floor((high - low + 1) * check_random_unit(random));
    value = d->is_nonzero && value == 0 ? 1 : value;
  }
  return value;
}

static int compare_numbers(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return x < y ? -1 : x > y ? 1 : 0;
}

static void sort_lines(tool_value_t* v) {
  const uint64_t length = v->rank == 0 ? 1 : (uint64_t)v->dims[v->rank - 1];
  double* line = tool_allocate(length + 1, sizeof(*line));
  const uint64_t count = length > 0 ? v->count : 0;
  for (uint64_t at = 0; at < count; at += length) {
    for (uint64_t k = 0; k < length; ++k) {
      line[k] = tool_element_get(v->dtype, v->data, at + k, 0);
    }
    qsort(line, length, sizeof(*line), compare_numbers);
    for (uint64_t k = 0; k < length; ++k) {
      tool_element_set(v->dtype, v->data, at + k, line[k]);
    }
  }
  tool_free(line);
}

/* Elements of one line along the axis, or the tuples, count up from a random place: distinct as
 * long as there are places enough. */
static bool draw_places(const domain_t* d, tool_value_t* v, check_random_t* random) {
  const uint64_t tuple = d->is_coordinates && v->rank > 0 ? (uint64_t)v->dims[v->rank - 1] : 1;
  uint64_t inner = 1;
  if (!d->is_coordinates) {
    for (uint32_t k = (uint32_t)d->axis + 1; k < v->rank; ++k) {
      inner *= (uint64_t)v->dims[k];
    }
  }
  if (d->is_coordinates && (uint64_t)d->axis + tuple > d->places->rank) {
    return false;
  }
  const uint64_t start = check_random_next(random) >> 1;
  for (uint64_t i = 0; i < v->count; ++i) {
    const uint64_t within = d->is_coordinates ? i % tuple : 0;
    const uint64_t extent = (uint64_t)d->places->dims[(uint64_t)d->axis + within];
    if (extent == 0) {
      return false;
    }
    uint64_t number = check_random_next(random) >> 1;
    if (d->is_distinct && d->is_coordinates) {
      number = start + i / tuple;
      for (uint64_t k = tuple - 1; k > within; --k) {
        const uint64_t dim = (uint64_t)d->places->dims[(uint64_t)d->axis + k];
        number /= dim == 0 ? 1 : dim;
      }
    } else if (d->is_distinct) {
      number = start + i / (inner == 0 ? 1 : inner);
    }
    tool_element_set(v->dtype, v->data, i, (double)(number % extent));
  }
  return true;
}

/* Weights have the magnitude of those of networks, so that repeated products neither grow nor
 * oscillate: the inverse root of the number of terms that an output adds up. */
static double scale_of(const check_case_t* c, const check_input_t* input) {
  const tool_value_t* v = &input->value;
  double terms = 1;
  for (uint32_t k = 1; k < v->rank; ++k) {
    terms *= (double)v->dims[k];
  }
  const bool is_weight = input != &c->inputs[0] && v->rank > 1 && input->port->domain == NULL &&
                         tool_dtype_class(v->dtype) == 'f';
  return input->scale != 1 ? input->scale : is_weight && terms > 0 ? 1 / sqrt(terms) : 1;
}

bool check_numbers_draw(const check_case_t* c, check_input_t* input, check_random_t* random) {
  tool_value_t* v = &input->value;
  domain_t d;
  if (!read_domain(c, input->port->domain, &d)) {
    return false;
  }
  if (d.places != NULL) {
    return draw_places(&d, v, random);
  }
  const uint64_t parts = tool_dtype_class(v->dtype) == 'c' ? 2 : 1;
  const tenon_dtype_t part = v->dtype == TENON_DTYPE_COMPLEX64    ? TENON_DTYPE_FLOAT32
                             : v->dtype == TENON_DTYPE_COMPLEX128 ? TENON_DTYPE_FLOAT64
                                                                  : v->dtype;
  const double scale = scale_of(c, input);
  for (uint64_t i = 0; i < v->count * parts; ++i) {
    tool_element_set(part, v->data, i, scale * draw_number(&d, v->dtype, random));
  }
  if (d.is_sorted) {
    sort_lines(v);
  }
  return true;
}
