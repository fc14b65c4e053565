/*
 * Expressions that give one number: conditions of cases, counts, and checks with their messages.
 *
 * They are evaluated in a temporary arena, so a check whether a case applies uses no memory of the
 * network. Called for each case of an operator whenever one of its nodes is inferred.
 */
#ifndef TENON_CORE_LANGUAGE_CONDITION_H_
#define TENON_CORE_LANGUAGE_CONDITION_H_

#include "core/language/scope.h"
#include "core/language/syntax.h"

/* Evaluates a condition over attributes, ranks and presence. The result must be a known number;
 * non-zero is true. Returns UNSUPPORTED if the condition is data-dependent, because cases are
 * selected when building. */
tenon_status_t tenon__condition_evaluate(const tenon__scope_t* scope,
                                         const tenon__syntax_t* condition, const tenon_sink_t* sink,
                                         bool* out_holds);
/* Evaluates a count: an expression with a known number as result. The scope's outputs have their
 * shapes. It may be negative; the caller checks its range. */
tenon_status_t tenon__count_evaluate(const tenon__scope_t* scope, const tenon__syntax_t* count,
                                     const tenon_sink_t* sink, int64_t* out_count);
/* Evaluates a check, which may be symbolic. If undecided, it counts as true and becomes a shape
 * constraint of the run, if the pool collects them. On failure, reports the message with {expr}
 * replaced by values and returns INVALID_DATA. The message of a constraint is made now;
 * data-dependent values appear as expressions. An invalid {expr} stays as written. `message` NULL:
 * a default message. */
tenon_status_t tenon__check_evaluate(const tenon__scope_t* scope, const tenon__syntax_t* condition,
                                     const char* message, const tenon_sink_t* sink);

#endif
