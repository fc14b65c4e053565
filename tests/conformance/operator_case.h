/*
 * A test case: one node of a closed operator with row-major tensors in host memory.
 * plugins/reference computes the expected outputs. The kernel of a device runs twice on copies of
 * the same inputs.
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

/* A rank and the extents. */
#define DIMS(...) \
  (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})

typedef struct operator_case_t {
  fake_t fake;
  uint32_t seed;
  bool finds[FAKE_VALUES]; /* [output]: extents are data-dependent, `dims` is their maximum */
  /* True if all inputs are constants that a kernel may read in `match`. A kernel that reports no
   * data errors must then match the node. */
  bool is_known;
} operator_case_t;

typedef double (*operator_fill_t)(operator_case_t* c, double limit);
/* These functions return a random number: operator_numbers in [-limit, limit], operator_wholes an
 * integer in this range, operator_positive in [0, limit) and operator_indices an integer in [0,
 * limit). */
double operator_numbers(operator_case_t* c, double limit);
double operator_wholes(operator_case_t* c, double limit);
double operator_positive(operator_case_t* c, double limit);
double operator_indices(operator_case_t* c, double limit);

/* Returns a random number below `limit`. */
uint32_t operator_draw(operator_case_t* c, uint32_t limit);

void operator_begin(operator_case_t* c, const char* op, uint32_t seed);
/* Adds an input. The caller may change its elements before the check. */
tenon_tensor_view_t* operator_input(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank,
                                    const int64_t* dims, operator_fill_t fill, double limit);
void operator_absent(operator_case_t* c);
void operator_output(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank, const int64_t* dims);
/* Adds an output with data-dependent extents. `most` is their maximum. */
void operator_found(operator_case_t* c, tenon_dtype_t dtype, uint32_t rank, const int64_t* most);
/* Describes the values of the region: inputs, then outputs. Absent values have no entry. */
void operator_describe(operator_case_t* c);
/* Runs the reference in a copy of the case's fake. Its results are the expected outputs. The caller
 * ends the copy with fake_done. */
tenon_status_t operator_run_reference(const operator_case_t* c, fake_t* out_fake);
bool operator_is_near(tenon_dtype_t dtype, tenon__number_t got, tenon__number_t wanted,
                      double error);

/* operator_device.c and operator_host.c implement these functions. */
/* Runs the node, compares the outputs and ends the case. `error` is the tolerance of floats,
 * relative to the larger of 1 and the magnitude. One step of the output's type is added to it. 0:
 * floats must be equal. */
void operator_check(operator_case_t* c, double error);
/* Checks that the device reports a data error of the kernel's list with this value. Ends the
 * case. */
void operator_check_fault(operator_case_t* c, int64_t value);

#endif
