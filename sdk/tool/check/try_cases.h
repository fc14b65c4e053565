/* Checks that try a number of cases of a kernel, one after the other. */
#ifndef TOOL_CHECK_TRY_CASES_H_
#define TOOL_CHECK_TRY_CASES_H_

#include "check/study.h"

typedef struct check_plan_t {
  uint32_t share;    /* one case in so many of check->cases, 2 at least */
  check_wish_t wish; /* of even cases; most_elements 0: small, medium and large ones */
  check_wish_t odd;  /* of the others */
  bool (*try_case)(check_study_t* study, uint32_t index, check_text_t* text);
  /* Another plugin than check->plugin. NULL: none; its result is NULL if it cannot be loaded. */
  check_plugin_t* (*open)(const check_t* check);
} check_plan_t;

/* Returns CHECK_*, and why. Also fails if the build refutes the kernel. */
char check_try_cases(check_t* check, const char* subject, const check_kind_t* kind,
                     check_text_t* text);
/* A run of the case in guarded memory, as the check "values" does it. */
bool check_try_values(check_study_t* study, uint32_t index, check_text_t* text);
/* Adds the failure with the library's message. Returns false. */
bool check_study_fail(const check_study_t* study, const char* what, check_text_t* text);

#endif
