/*
 * A node of one operator, its tensors dense in the host's memory: what it is by plugins/reference,
 * and what the kernel of a device makes of copies of the same bytes, twice.
 *
 *   operator_case_t c;
 *   operator_begin(&c, "standard.top_k/1", seed);
 *   operator_input(&c, TENON_DTYPE_FLOAT32, DIMS(3, 4), operator_numbers, 4.0);
 *   fake_int(&c.fake, "axis", 1);
 *   operator_output(&c, TENON_DTYPE_FLOAT32, DIMS(3, 2));
 *   operator_check(&c, 0);
 */
#ifndef TESTS_CONFORMANCE_OPERATOR_CASE_H_
#define TESTS_CONFORMANCE_OPERATOR_CASE_H_

#include <math.h>
#include <stdbool.h>

#include "kernel_life.h"
#include "work.h"

/* A rank and extents. */
#define DIMS(...) \
  (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})

typedef struct operator_case_t {
  fake_t fake;
  uint32_t seed;
  bool finds[FAKE_VALUES]; /* outputs whose extents the run finds: `dims` are the most */
  /* All inputs are constants that a kernel may read when it is asked. One that reports no errors in
   * data has to take the node. */
  bool is_known;
} operator_case_t;

typedef double (*operator_fill_t)(operator_case_t* c, double limit);
/* From -limit to limit, whole numbers in that, [0, limit), whole numbers in [0, limit). */
double operator_numbers(operator_case_t* c, double limit);
double operator_wholes(operator_case_t* c, double limit);
double operator_positive(operator_case_t* c, double limit);
double operator_indices(operator_case_t* c, double limit);

/* Below `limit`. */
uint32_t operator_draw(operator_case_t* c, uint32_t limit);

void operator_begin(operator_case_t* c, const char* op, uint32_t seed);
/* What it holds may be changed until the check. */
tenon_tensor_view_t* operator_input(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank,
                                    const int64_t* dims, operator_fill_t fill, double limit);
void operator_absent(operator_case_t* c);
void operator_output(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank, const int64_t* dims);
/* One whose extents the run finds, no larger than these. */
void operator_found(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank, const int64_t* most);
/* The values of the region: inputs, then outputs; what is absent is none. */
void operator_describe(operator_case_t* c);
/* In a copy of the case's fake, whose results are the outputs; the caller ends it by fake_done. */
tenon_status_t operator_run_reference(const operator_case_t* c, fake_t* out_fake);
bool operator_is_near(tenon_dtype_t dtype, tenon__number_t got, tenon__number_t wanted,
                      double error);

/* Of operator_device.c and operator_host.c: */
/* Compares. `error`: by how much a float may be off, as a part of the larger of its magnitude and
 * 1, and a step of its type besides; 0: not at all. Ends the case. */
void operator_check(operator_case_t* c, double error);
/* The device must tell a fault of the kernel's list, with this value. Ends the case. */
void operator_check_fault(operator_case_t* c, int64_t value);

#endif
