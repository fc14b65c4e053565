/* Cases of one operator that a kernel takes, with the reference's results. */
#ifndef TOOL_CHECK_STUDY_H_
#define TOOL_CHECK_STUDY_H_

#include "check/engine.h"

typedef struct check_study_t {
  check_t* check;
  const check_plugin_t* plugin;
  const check_kernel_t* kernel;
  const check_operator_t* op;
  check_random_t random;
  uint64_t most_elements; /* of an input: what the reference computes in little time */
  double bound_elements;  /* its limit, by the slowest reference so far */
  uint32_t refused;       /* valid cases that the kernel did not take */
  uint32_t unreferred;    /* cases that it took, without a reference */
  char refusal[256];      /* the last reason */
  bool lacks_device;      /* that the kernel is for */
  /* The case at hand; between check_study_next calls. */
  check_case_t c;
  tenon_network_t* network;
  check_engine_t engine;
  bool has_reference;
  check_results_t expected;
} check_study_t;

/* Finds the kernel and the operator of "plugin:kernel operator", or of an operator's name alone:
 * then `kernel` is NULL, and the reference computes all cases. False: they are gone. */
bool check_study_begin(check_t* check, const char* subject, const char* kind,
                       check_study_t* out_study);
void check_study_end(check_study_t* study);
/* The next case that the kernel takes. False: none was found. The refusal of the engine says if the
 * kernel is wrong or failed already when it was tried. */
bool check_study_next(check_study_t* study, const check_wish_t* wish, bool measured);
/* Adds the case to the text. */
void check_study_tell(const check_study_t* study, check_text_t* text);
/* CHECK_SKIPPED with the reason why there was no case. */
char check_study_skip(const check_study_t* study, check_text_t* text);
/* True if the build of this engine found the kernel wrong, or it failed. Adds the reason. */
bool check_study_is_refuted(const check_study_t* study, const check_engine_t* engine,
                            check_text_t* text);
/* The outputs of `results` against those of `expected`. */
bool check_study_compare(const check_study_t* study, const check_results_t* results,
                         const check_results_t* expected, check_text_t* text);

#endif
