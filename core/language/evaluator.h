/*
 * The evaluator of texts (sdk/docs/expressions.md): one walk over the syntax. Only the side of a
 * choice that a known condition takes is looked at. Lets are evaluated when they are first named.
 *
 * An expression's syntax does not say what kind it has: `n * 2` is a number where n is a rank, a
 * dimension where it is an open extent, an instruction where it is a tensor. The walk finds out
 * bottom up, node of syntax by node, and that is why there is one evaluator and not one for each
 * purpose.
 */
#ifndef TENON_CORE_LANGUAGE_EVALUATOR_H_
#define TENON_CORE_LANGUAGE_EVALUATOR_H_

#include "core/language/environment.h"

/* An environment for the text, with nothing in it but its names; it owns nothing. Its program is
 * NULL and its loops are unset; the caller fills in what its purpose needs. OUT_OF_MEMORY only. */
tenon_status_t tenon__language_begin(const tenon__node_text_t* text,
                                     tenon__environment_t* out_environment);
/* What a piece of the text is. INVALID_DATA: it means nothing; UNSUPPORTED: it cannot be decided
 * when building; OUT_OF_MEMORY. Faults are said once, with their column. Costs the size of the
 * syntax, lets apart; the depth of the tree and of lets in lets is bounded, so that a hostile text
 * cannot exhaust the stack. */
tenon_status_t tenon__language_evaluate(tenon__environment_t* environment,
                                        const tenon__syntax_t* syntax,
                                        tenon__language_value_t* out_value);

#endif
