/*
 * The evaluator of texts (sdk/docs/expressions.md): one walk over the syntax. Of a conditional
 * expression with a known condition, only the selected side is evaluated. Lets are evaluated on
 * first use.
 *
 * The syntax of an expression does not determine its kind: `n * 2` is a number if n is a rank, a
 * dimension if n is a symbolic extent, and an instruction if n is a tensor. The walk determines
 * kinds bottom up, so there is one evaluator for all purposes.
 */
#ifndef TENON_CORE_LANGUAGE_EVALUATOR_H_
#define TENON_CORE_LANGUAGE_EVALUATOR_H_

#include "core/language/environment.h"

/* Makes an environment for the text, with its names only. Its program is NULL and its loops are
 * unset; the caller sets further members. It owns nothing. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__language_begin(const tenon__node_text_t* text,
                                     tenon__environment_t* out_environment);
/* Evaluates a syntax tree. The cost is the size of the tree, without lets. The depth of the tree
 * and of nested lets is limited, so that a malicious text cannot exhaust the stack. Errors are
 * reported once, with their column. Returns INVALID_DATA if it is undefined, UNSUPPORTED if it
 * cannot be decided when building, or OUT_OF_MEMORY. */
tenon_status_t tenon__language_evaluate(tenon__environment_t* environment,
                                        const tenon__syntax_t* syntax,
                                        tenon__language_value_t* out_value);

#endif
