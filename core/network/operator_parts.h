/* The steps of admission; used by operator.c alone. All report faults through the sink, which names
 * the operator. */
#ifndef TENON_CORE_NETWORK_OPERATOR_PARTS_H_
#define TENON_CORE_NETWORK_OPERATOR_PARTS_H_

#include "core/network/operator.h"

/* A full-size copy, honouring sizes and strides; what is missing at an old plugin's tails is zero.
 */
tenon_status_t tenon__operator_copy(tenon__arena_t* arena, const tenon_operator_t* source,
                                    const tenon_sink_t* sink, tenon_operator_t* out_copy);
/* "pure; linear(input=1, axis=0)". Words that this core does not know are reported as a warning and
 * skipped. */
tenon_status_t tenon__operator_traits_parse(const tenon_operator_t* op, const tenon_sink_t* sink,
                                            tenon__operator_traits_t* out_traits);
/* Do names in the texts stand for something, and do statements define outputs that exist? */
tenon_status_t tenon__operator_check_names(const tenon__operator_t* op, const tenon_sink_t* sink);
/* The digest over the canonical form. */
tenon_status_t tenon__operator_contract(tenon_allocator_t allocator, const tenon__operator_t* op,
                                        tenon__digest_t* out_digest);

/* Index of a port or attribute by name; TENON_NONE when there is none. */
uint32_t tenon__operator_input(const tenon_operator_t* op, const char* name);
uint32_t tenon__operator_output(const tenon_operator_t* op, const char* name);
uint32_t tenon__operator_attribute(const tenon_operator_t* op, const char* name);

#endif
