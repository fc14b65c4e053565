/* Places of concatenations in place: of the whole, and of its parts. */
#ifndef TENON_CORE_SCHEDULE_SCHEDULE_PARTS_H_
#define TENON_CORE_SCHEDULE_SCHEDULE_PARTS_H_

#include "core/schedule/scheduling.h"

/* How an output lies: whatever its rule says besides, which may be NULL. */
typedef struct output_form_t {
  const tenon_argument_rule_t* rule;
  const uint32_t* order; /* NULL: rows */
  tenon_dtype_t dtype;   /* UNDEFINED: the value's own */
  uint32_t space;
} output_form_t;

/* A place of its own for what a step makes in that form: the network's output if it may lie there.
 * The application's memory begins anywhere. */
tenon_status_t tenon__scheduling_place_output(scheduling_t* s, uint32_t value,
                                              const output_form_t* form, uint32_t* out_place);
/* The value's place in the whole that it is a part of, which is made with its first part. No part
 * where it is none, or would lie in another order than the whole: then the whole copies it. */
tenon_status_t tenon__scheduling_place_part(scheduling_t* s, uint32_t value, const uint32_t* order,
                                            uint32_t* out_place, bool* out_is_part);
/* Is the unit a concatenation in place? */
bool tenon__scheduling_joins(const scheduling_t* s, uint32_t unit);
/* Copies for what is not in the whole yet. */
tenon_status_t tenon__scheduling_join(scheduling_t* s, uint32_t unit);

#endif
