/*
 * A regular expression of RE2's syntax, matched by PCRE2 against whole strings. PCRE2 tries one way
 * after the other, which with some expressions takes as long as one likes: so that none can hang,
 * the steps that a match may take and the memory that it may use are bounded. What differs from
 * RE2: README.md.
 */
#ifndef PLUGINS_REGEX_PATTERN_H_
#define PLUGINS_REGEX_PATTERN_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Of one match. Steps are as many, and so many more for each byte of the string; an expression
 * without nested repetition takes a few for each byte. */
enum {
  TENON__PATTERN_STEPS = 1 << 22,
  TENON__PATTERN_STEPS_A_BYTE = 64,
  TENON__PATTERN_MEMORY_KIB = 128 * 1024,
  TENON__PATTERN_MESSAGE_SIZE = 320
};

/* Compiled: immutable, shared by threads. */
typedef struct tenon__pattern_t tenon__pattern_t;
/* INVALID_DATA, or OUT_OF_MEMORY: `out_message` says what is wrong with it, and where. */
tenon_status_t tenon__pattern_create(const char* text, tenon__pattern_t** out_pattern,
                                     char out_message[TENON__PATTERN_MESSAGE_SIZE]);
void tenon__pattern_destroy(tenon__pattern_t* pattern);

/* What one match at a time needs: of one thread. The pattern must outlive it. */
typedef struct tenon__matcher_t tenon__matcher_t;
tenon_status_t tenon__matcher_create(const tenon__pattern_t* pattern,
                                     tenon__matcher_t** out_matcher);
void tenon__matcher_destroy(tenon__matcher_t* matcher);
/* Does the expression match the whole of it? What is no UTF-8 is matched by nothing. UNSUPPORTED:
 * that would take too long, or too much memory; `out_message` names the expression. */
tenon_status_t tenon__matcher_match(tenon__matcher_t* matcher, tenon_string_view_t string,
                                    bool* out_matches,
                                    char out_message[TENON__PATTERN_MESSAGE_SIZE]);

#endif
