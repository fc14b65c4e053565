/*
 * Fourier transforms of any length, of several lines at once. A line's element k is at [k][lane] of two
 * arrays, the real parts and the imaginary ones. Lengths with small prime factors go by Stockham's
 * algorithm, factor by factor; others by Bluestein's, as a convolution of a length that is a power of
 * two. All in double precision.
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
  int64_t inner;   /* of the transforms by factors: the length, or Bluestein's */
  double* cosines; /* [inner]: of 2 pi k / inner */
  double* sines;
  /* Bluestein's: [length] of pi k^2 / length, and the transform of [inner] of them. NULL: none. */
  double* chirp_re;
  double* chirp_im;
  double* filter_re;
  double* filter_im;
} tenon__cpu_fourier_t;

/* With a power of two that is at least twice the length: `memory` has 6 times so many doubles, a
 * thread's `work` 4 times for each lane. */
void tenon__cpu_fourier_plan(int64_t length, double* memory, double* work,
                             tenon__cpu_fourier_t* out_plan);
/* The lanes that a transform begins with, of `length` elements, in a thread's memory. */
tenon__cpu_complex_lanes_t tenon__cpu_fourier_lanes(const tenon__cpu_fourier_t* plan, double* work);
/* Transforms them, forward, without a factor; returns where the result is. */
tenon__cpu_complex_lanes_t tenon__cpu_fourier_run(const tenon__cpu_fourier_t* plan, double* work);

#endif
