/* Admission: converts a plugin's operator descriptor to the core's operator. */
#ifndef TENON_CORE_OPERATOR_OPERATOR_ADMIT_H_
#define TENON_CORE_OPERATOR_OPERATOR_ADMIT_H_

#include "core/operator/operator.h"

/* Copies, parses and checks an operator; everything is in the arena. `plugin` and `state` are
 * borrowed. All checks that need no node are done here once: identity, ports, attributes, defaults,
 * traits, syntax, names, and the presence of a rule for shapes. Returns INVALID_DATA and reports
 * errors with operator and text. */
tenon_status_t tenon__operator_admit(tenon__arena_t* arena, const tenon_operator_t* descriptor,
                                     const char* plugin, void* state, const tenon_sink_t* sink,
                                     const tenon__operator_t** out_operator);

/* ---- Parts, each in a source of its name ---- */

/* Checks the names in a condition that does not belong to an operator: names for which `is_name`
 * returns true, and existing functions. Returns INVALID_DATA: "column 9: ...". */
tenon_status_t tenon__condition_check_names(const tenon__syntax_t* condition,
                                            bool (*is_name)(const void* user, const char* name),
                                            const void* user, const tenon_sink_t* sink);
/* Checks that names in the texts are defined, and that statements define existing outputs.
 * Otherwise only the first model that uses a case would reveal a misspelt name. */
tenon_status_t tenon__operator_check_names(const tenon__operator_t* op, const tenon_sink_t* sink);

/* Parses traits such as "pure; linear(input=1, axis=0)". Unknown words cause a warning and are
 * skipped, so a plugin may use traits of a newer contract. Returns INVALID_DATA for a malformed
 * text. */
tenon_status_t tenon__operator_traits_parse(const tenon__descriptor_t* op, const tenon_sink_t* sink,
                                            tenon__operator_traits_t* out_traits);

/* Computes the digest of the canonical form: name, required attributes, ports, control form, traits
 * and all parsed texts, without summaries and checks. A plan has the contracts of its operators,
 * and its reader uses an operator only if the contracts are equal. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__operator_contract(tenon_allocator_t allocator, const tenon__operator_t* op,
                                        tenon__digest_t* out_digest);
/* Describes the difference of two definitions of one name, for messages: "case 'y = x + x', here
 * case 'y = x * 2'". Their contracts differ. */
void tenon__operator_difference(tenon_allocator_t allocator, const tenon__operator_t* there,
                                const tenon__operator_t* here, char* out_text, size_t size);

#endif
