/*
 * What values a port takes, as plugin.h spells it: "[0,1] sorted", "index(x, axis)". Data for
 * trials of kernels is made of such values (made_data.h). It demands nothing of a model's data: a
 * kernel must do something sensible with any. But trials on data that no model has would compare
 * nonsense with nonsense.
 */
#ifndef TENON_CORE_OPERATOR_DOMAIN_H_
#define TENON_CORE_OPERATOR_DOMAIN_H_

#include <stdbool.h>

#include "core/operator/operator.h"

typedef enum tenon__domain_places_t {
  TENON_DOMAIN_NO_PLACES,
  TENON_DOMAIN_INDEX,      /* along one axis of an input */
  TENON_DOMAIN_COORDINATES /* tuples along the last axis: one index for each axis from `axis` on */
} tenon__domain_places_t;

/* All zeros: anything. `min` and `max` count only with has_range, `input` and what follows only
 * with places. */
typedef struct tenon__domain_t {
  bool is_positive;
  bool is_nonzero;
  bool is_sorted;
  bool is_distinct;
  bool has_range;
  double min;
  double max;
  tenon__domain_places_t places;
  uint32_t input;             /* of the operator: whose extents the places are within */
  int64_t axis;               /* negative from the end */
  const char* axis_attribute; /* its name, if the node says the axis; else NULL */
} tenon__domain_t;

/* `text` NULL: anything. False: *out_fault points at the word in `text` that is none. The names are
 * the operator's. */
bool tenon__domain_parse(const tenon__descriptor_t* op, const char* text,
                         tenon__domain_t* out_domain, const char** out_fault);

#endif
