/* Patterns compiled by PCRE2, with limits for steps and memory of a match. */
#include "pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* As RE2 reads an expression: `$` is the end alone, `^` of (?m) also follows the last line's end;
 * what RE2 does not know and nobody needs is left out. */
enum {
  OPTIONS = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_CIRCUMFLEX | PCRE2_NEVER_BACKSLASH_C |
            PCRE2_NEVER_UCP,
  MESSAGE_SIZE = 128
};

struct tenon__pattern_t {
  pcre2_code* code;
  char* text; /* behind the structure */
};

struct tenon__matcher_t {
  const tenon__pattern_t* pattern;
  pcre2_match_data* data;
  pcre2_match_context* context;
};

static pcre2_code* compile(const char* text, int* out_fault, size_t* out_place) {
  pcre2_compile_context* context = pcre2_compile_context_create(NULL);
  pcre2_code* code = NULL;
  *out_fault = PCRE2_ERROR_NOMEMORY;
  if (context != NULL) {
    (void)pcre2_set_newline(context, PCRE2_NEWLINE_LF); /* what `.` is not */
    code = pcre2_compile((PCRE2_SPTR)text, strlen(text), OPTIONS, out_fault, out_place, context);
  }
  pcre2_compile_context_free(context);
  return code;
}

tenon_status_t tenon__pattern_create(const char* text, tenon__pattern_t** out_pattern,
                                     char out_message[TENON__PATTERN_MESSAGE_SIZE]) {
  const size_t size = strlen(text) + 1;
  tenon__pattern_t* pattern = malloc(sizeof(*pattern) + size);
  if (pattern == NULL) {
    (void)snprintf(out_message, TENON__PATTERN_MESSAGE_SIZE, "there is no memory for a pattern");
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  int fault = 0;
  size_t place = 0;
  pattern->text = (char*)(pattern + 1);
  memcpy(pattern->text, text, size);
  pattern->code = compile(text, &fault, &place);
  if (pattern->code == NULL) {
    PCRE2_UCHAR message[MESSAGE_SIZE] = "";
    (void)pcre2_get_error_message(fault, message, sizeof(message));
    (void)snprintf(out_message, TENON__PATTERN_MESSAGE_SIZE,
                   "pattern '%.120s' cannot be read from byte %zu on: %s", text, place,
                   (const char*)message);
    free(pattern);
    return fault == PCRE2_ERROR_NOMEMORY ? TENON_ERROR_OUT_OF_MEMORY : TENON_ERROR_INVALID_DATA;
  }
  *out_pattern = pattern;
  return TENON_OK;
}

void tenon__pattern_destroy(tenon__pattern_t* pattern) {
  if (pattern != NULL) {
    pcre2_code_free(pattern->code);
    free(pattern);
  }
}

tenon_status_t tenon__matcher_create(const tenon__pattern_t* pattern,
                                     tenon__matcher_t** out_matcher) {
  tenon__matcher_t* matcher = calloc(1, sizeof(*matcher));
  if (matcher == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  matcher->pattern = pattern;
  matcher->data = pcre2_match_data_create(1, NULL);
  matcher->context = pcre2_match_context_create(NULL);
  if (matcher->data == NULL || matcher->context == NULL) {
    tenon__matcher_destroy(matcher);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  (void)pcre2_set_heap_limit(matcher->context, TENON__PATTERN_MEMORY_KIB);
  *out_matcher = matcher;
  return TENON_OK;
}

void tenon__matcher_destroy(tenon__matcher_t* matcher) {
  if (matcher != NULL) {
    pcre2_match_context_free(matcher->context);
    pcre2_match_data_free(matcher->data);
    free(matcher);
  }
}

static uint32_t step_limit(size_t size) {
  const uint64_t limit = TENON__PATTERN_STEPS + (uint64_t)size * TENON__PATTERN_STEPS_A_BYTE;
  return limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
}

static bool is_no_text(int result) {
  return result <= PCRE2_ERROR_UTF8_ERR1 && result >= PCRE2_ERROR_UTF8_ERR21;
}

tenon_status_t tenon__matcher_match(tenon__matcher_t* matcher, tenon_string_view_t string,
                                    bool* out_matches,
                                    char out_message[TENON__PATTERN_MESSAGE_SIZE]) {
  const char* data = string.size > 0 ? string.data : "";
  (void)pcre2_set_match_limit(matcher->context, step_limit(string.size));
  const int result =
      pcre2_match(matcher->pattern->code, (PCRE2_SPTR)data, string.size, 0,
                  PCRE2_ANCHORED | PCRE2_ENDANCHORED, matcher->data, matcher->context);
  if (result >= 0 || result == PCRE2_ERROR_NOMATCH || is_no_text(result)) {
    *out_matches = result >= 0;
    return TENON_OK;
  }
  if (result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_HEAPLIMIT) {
    (void)snprintf(out_message, TENON__PATTERN_MESSAGE_SIZE,
                   "pattern '%.120s' takes more than %u %s to match a string of %zu bytes: write "
                   "it without repetition inside of repetition",
                   matcher->pattern->text,
                   result == PCRE2_ERROR_MATCHLIMIT ? step_limit(string.size)
                                                    : TENON__PATTERN_MEMORY_KIB / 1024,
                   result == PCRE2_ERROR_MATCHLIMIT ? "steps" : "MiB", string.size);
    return TENON_ERROR_UNSUPPORTED;
  }
  PCRE2_UCHAR message[MESSAGE_SIZE] = "";
  (void)pcre2_get_error_message(result, message, sizeof(message));
  (void)snprintf(out_message, TENON__PATTERN_MESSAGE_SIZE, "pattern '%.120s': %s",
                 matcher->pattern->text, (const char*)message);
  return result == PCRE2_ERROR_NOMEMORY ? TENON_ERROR_OUT_OF_MEMORY : TENON_ERROR_INTERNAL;
}
