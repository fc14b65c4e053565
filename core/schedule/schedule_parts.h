/* Places of in-place concatenations: of the whole, and of its parts. */
#ifndef TENON_CORE_SCHEDULE_SCHEDULE_PARTS_H_
#define TENON_CORE_SCHEDULE_SCHEDULE_PARTS_H_

#include "core/schedule/scheduling.h"

/* Form of an output, in addition to its rule, which may be NULL. */
typedef struct output_form_t {
  const tenon_argument_rule_t* rule;
  const uint32_t* order; /* NULL: rows */
  tenon_dtype_t dtype;   /* UNDEFINED: the value's own */
  uint32_t space;
} output_form_t;

/* Makes an own place for an output in that form: the network's output if possible. The
 * application's memory may have any alignment. */
tenon_status_t tenon__scheduling_place_output(scheduling_t* s, uint32_t value,
                                              const output_form_t* form, uint32_t* out_place);
/* Makes the value's place in its concatenation, whose place is made with the first part.
 * *out_is_part is false if it is no part, or has another order than the whole, which then copies
 * it. */
tenon_status_t tenon__scheduling_place_part(scheduling_t* s, uint32_t value, const uint32_t* order,
                                            uint32_t* out_place, bool* out_is_part);
/* Returns true if the unit is an in-place concatenation. */
bool tenon__scheduling_joins(const scheduling_t* s, uint32_t unit);
/* Adds copies for inputs that are not in the whole yet. */
tenon_status_t tenon__scheduling_join(scheduling_t* s, uint32_t unit);

#endif
