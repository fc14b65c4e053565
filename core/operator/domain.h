/*
 * The typical values of a port in the syntax of plugin.h: "[0,1] sorted", "index(x, axis)". Data
 * for trials of kernels are made of such values (made_data.h), because trials on data that no model
 * has would compare meaningless results. It is no requirement on a model's data: kernels must
 * handle all values.
 */
#ifndef TENON_CORE_OPERATOR_DOMAIN_H_
#define TENON_CORE_OPERATOR_DOMAIN_H_

#include <stdbool.h>

#include "core/operator/operator.h"

typedef enum tenon__domain_places_t {
  TENON_DOMAIN_NO_PLACES,
  TENON_DOMAIN_INDEX,      /* indices along one axis of an input */
  TENON_DOMAIN_COORDINATES /* tuples along the last axis: one index for each axis from `axis` on */
} tenon__domain_places_t;

/* All zeros: any value. `min` and `max` are used only with has_range, `input` and the next members
 * only with places. */
typedef struct tenon__domain_t {
  bool is_positive;
  bool is_nonzero;
  bool is_sorted;
  bool is_distinct;
  bool has_range;
  double min;
  double max;
  tenon__domain_places_t places;
  uint32_t input;             /* of the operator: its extents are the limits of the places */
  int64_t axis;               /* negative from the end */
  const char* axis_attribute; /* its name, if an attribute of the node is the axis; else NULL */
} tenon__domain_t;

/* Parses a domain with names of the operator. `text` NULL: any value. Returns false if it is
 * invalid; *out_fault then points to the invalid word in `text`. */
bool tenon__domain_parse(const tenon__descriptor_t* op, const char* text,
                         tenon__domain_t* out_domain, const char** out_fault);

#endif
