/* Admission: an operator as a plugin declares it becomes one that the core works with. */
#ifndef TENON_CORE_OPERATOR_OPERATOR_ADMIT_H_
#define TENON_CORE_OPERATOR_OPERATOR_ADMIT_H_

#include "core/operator/operator.h"

/* Copies, parses and checks. Everything lies in the arena. Faults are reported with operator and
 * text; INVALID_DATA. All that can be known without a node is checked here, once, so that using an
 * operator need not: identity, ports, attributes, defaults, traits, syntax, names, and that shapes
 * come from somewhere. `plugin` and `state` are borrowed. */
tenon_status_t tenon__operator_admit(tenon__arena_t* arena, const tenon_operator_t* descriptor,
                                     const char* plugin, void* state, const tenon_sink_t* sink,
                                     const tenon__operator_t** out_operator);

/* ---- Its parts, each in a source of its name ---- */

/* The names in a condition that is not an operator's own: those that `is_name` knows, and functions
 * that there are. INVALID_DATA: "column 9: ...". */
tenon_status_t tenon__condition_check_names(const tenon__syntax_t* condition,
                                            bool (*is_name)(const void* user, const char* name),
                                            const void* user, const tenon_sink_t* sink);
/* Do names in the texts stand for something, and do statements define outputs that exist? Without
 * it a misspelt name would be found only by the first model that takes that case. */
tenon_status_t tenon__operator_check_names(const tenon__operator_t* op, const tenon_sink_t* sink);

/* "pure; linear(input=1, axis=0)". Words that this core does not know are reported as a warning and
 * skipped. So a plugin may name traits of a newer contract. INVALID_DATA for a text that is
 * malformed. */
tenon_status_t tenon__operator_traits_parse(const tenon__descriptor_t* op, const tenon_sink_t* sink,
                                            tenon__operator_traits_t* out_traits);

/* The digest over the canonical form. Name, required attributes, ports, control form, traits and
 * every text in its parsed form; not summaries or checks. A plan holds the contracts of its
 * operators; its reader takes what is here under a name only where they are equal. OUT_OF_MEMORY
 * only. */
tenon_status_t tenon__operator_contract(tenon_allocator_t allocator, const tenon__operator_t* op,
                                        tenon__digest_t* out_digest);
/* How two definitions of one name differ, for a message: "case 'y = x + x', here case 'y = x * 2'".
 * Their contracts differ. */
void tenon__operator_difference(tenon_allocator_t allocator, const tenon__operator_t* there,
                                const tenon__operator_t* here, char* out_text, size_t size);

#endif
