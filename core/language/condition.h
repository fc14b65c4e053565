/*
 * Texts that come out as one number: conditions of cases, counts, and checks with their messages.
 *
 * They are evaluated in an arena of their own that is gone afterwards, so that asking whether a
 * case applies costs a network nothing. Called for each case of an operator each time one of its
 * nodes is inferred.
 */
#ifndef TENON_CORE_LANGUAGE_CONDITION_H_
#define TENON_CORE_LANGUAGE_CONDITION_H_

#include "core/language/scope.h"
#include "core/language/syntax.h"

/* A condition over attributes, ranks and presence; it must come out as a known number. Result 0 or
 * 1. Any number but 0 holds. UNSUPPORTED where the condition needs what only the run knows: a case
 * is chosen when building or not at all. */
tenon_status_t tenon__condition_evaluate(const tenon__scope_t* scope,
                                         const tenon__syntax_t* condition, const tenon_sink_t* sink,
                                         bool* out_holds);
/* An expression that comes out as a known number: a count. The scope's outputs have their shapes.
 * It may be negative; whoever counts with it says what range it wants. */
tenon_status_t tenon__count_evaluate(const tenon__scope_t* scope, const tenon__syntax_t* count,
                                     const tenon_sink_t* sink, int64_t* out_count);
/* A check may be symbolic: what is not decided is taken to hold. On failure the message, with
 * {expr} replaced by values, is reported; INVALID_DATA. What is not decided becomes a requirement
 * of the run, where the pool collects them, with the message as it reads now: holes that only the
 * run could fill show their expression. A hole that means nothing stays as it is written. `message`
 * NULL: a general one. */
tenon_status_t tenon__check_evaluate(const tenon__scope_t* scope, const tenon__syntax_t* condition,
                                     const char* message, const tenon_sink_t* sink);

#endif
