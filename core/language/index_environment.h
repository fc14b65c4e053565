/* Where a name of the index language is looked up: lets, loop variables, outputs. */
#ifndef TENON_CORE_LANGUAGE_INDEX_ENVIRONMENT_H_
#define TENON_CORE_LANGUAGE_INDEX_ENVIRONMENT_H_

#include "core/language/index_language.h"

/* `text` may be NULL. The environment's lets lie in the arena. */
tenon_status_t tenon__index_environment_initialize(tenon__index_environment_t* out_environment,
                                                   const tenon__scope_t* scope,
                                                   const tenon__text_t* text, tenon__arena_t* arena,
                                                   const tenon_sink_t* sink);
/* Sets loop variable `loop` (0: of subscripts, 1: k); name NULL removes it. Begins a new round. */
void tenon__index_set_loop(tenon__index_environment_t* environment, uint32_t loop, const char* name,
                           tenon_dim_t value);
/* The item of input `port` (then k is its number), of output `port`. */
void tenon__index_set_item(tenon__index_environment_t* environment, const tenon__scope_port_t* port,
                           uint32_t item);
void tenon__index_set_output(tenon__index_environment_t* environment,
                             const tenon__scope_port_t* port, uint32_t item);
/* Among statements for `target` (and `prefix`, where a statement has one) the one for subscript
 * `axis`: by its number, else by a name, which becomes the loop variable; NULL when there is none.
 */
const tenon__statement_t* tenon__index_select_statement(tenon__index_environment_t* environment,
                                                        const char* prefix, const char* target,
                                                        uint32_t axis);
/* Evaluates the statement's value as a number; lets before it may be named. */
tenon_status_t tenon__index_statement_number(tenon__index_environment_t* environment,
                                             const tenon__statement_t* statement,
                                             tenon_dim_t* out_dim);
/* `status` with the position of `syntax`. */
tenon_status_t tenon__index_fail(const tenon__index_environment_t* environment,
                                 const tenon__syntax_t* syntax, tenon_status_t status,
                                 const char* format, ...) __attribute__((format(printf, 4, 5)));
/* OK and the number as a value, or why the dimension is INVALID. */
tenon_status_t tenon__index_give(const tenon__index_environment_t* environment,
                                 const tenon__syntax_t* syntax, tenon_dim_t dim,
                                 tenon__index_value_t* out_value);
/* Item of any list as a number; the index is in range. */
tenon_dim_t tenon__index_item(const tenon__index_environment_t* environment,
                              const tenon__index_value_t* list, uint32_t index);

#endif
