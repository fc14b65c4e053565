/*
 * The evaluator of texts (sdk/docs/expressions.md): one walk over the syntax. Only the side of a
 * choice that a known condition takes is looked at. Lets are evaluated when they are first named.
 */
#ifndef TENON_CORE_LANGUAGE_EVALUATOR_H_
#define TENON_CORE_LANGUAGE_EVALUATOR_H_

#include "core/language/environment.h"

/* An environment for the text, with nothing in it but its names; it owns nothing. */
tenon_status_t tenon__language_begin(const tenon__node_text_t* text,
                                     tenon__environment_t* out_environment);
/* What a piece of the text is. INVALID_DATA: it means nothing; UNSUPPORTED: it cannot be decided
 * when building; OUT_OF_MEMORY. */
tenon_status_t tenon__language_evaluate(tenon__environment_t* environment,
                                        const tenon__syntax_t* syntax,
                                        tenon__language_value_t* out_value);

#endif
