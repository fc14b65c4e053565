/* The traits of an operator: what passes may believe of it. */
#ifndef TENON_CORE_OPERATOR_OPERATOR_TRAITS_H_
#define TENON_CORE_OPERATOR_OPERATOR_TRAITS_H_

#include "core/operator/operator.h"

/* "pure; linear(input=1, axis=0)". Words that this core does not know are reported as a warning and
 * skipped. So a plugin may name traits of a newer contract. INVALID_DATA for a text that is
 * malformed. */
tenon_status_t tenon__operator_traits_parse(const tenon_operator_t* op, const tenon_sink_t* sink,
                                            tenon__operator_traits_t* out_traits);

#endif
