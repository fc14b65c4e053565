/*
 * Fourier transforms of any length, of several lines at once, in double precision. One array has
 * the real parts, the other the imaginary parts. Element k of a line is at [k][lane]. If the length
 * has small prime factors only, Stockham's algorithm is used. For other lengths, Bluestein's
 * algorithm computes a convolution whose length is a power of two.
 */
#ifndef TENON_CPU_FOURIER_H_
#define TENON_CPU_FOURIER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TENON_CPU_FOURIER_LANES = 4 };

typedef struct tenon__cpu_complex_lanes_t {
  double* re;
  double* im;
} tenon__cpu_complex_lanes_t;

typedef struct tenon__cpu_fourier_t {
  int64_t length;
  int64_t inner;   /* length of the transforms by factors: `length`, or a power of two */
  double* cosines; /* [inner]: cosine of 2 pi k / inner */
  double* sines;
  /* Bluestein's algorithm: cosine and sine of pi k^2 / length [length], and the transform of the
   * filter [inner]. NULL for lengths with small factors. */
  double* chirp_re;
  double* chirp_im;
  double* filter_re;
  double* filter_im;
} tenon__cpu_fourier_t;

/* Makes a plan. Let P be a power of two that is at least twice the length. `memory` needs 6 P
 * doubles. `work` of one thread needs 4 P doubles for each lane. */
void tenon__cpu_fourier_plan(int64_t length, double* memory, double* work,
                             tenon__cpu_fourier_t* out_plan);
/* Returns the part of a thread's `work` in which the caller stores `length` elements of each
 * lane. */
tenon__cpu_complex_lanes_t tenon__cpu_fourier_lanes(const tenon__cpu_fourier_t* plan, double* work);
/* Transforms these lanes forward, without a scale factor. Returns the lanes of the result. */
tenon__cpu_complex_lanes_t tenon__cpu_fourier_run(const tenon__cpu_fourier_t* plan, double* work);

#endif
