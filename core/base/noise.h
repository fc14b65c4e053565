/*
 * Noise of measured times: margins, repetitions, and thresholds below which two times are equal.
 * All constants of measuring in the core are here. Times are in seconds.
 *
 * A busy machine lengthens a time and never shortens it, so the smallest of several times counts.
 * Times of one kernel in two processes differ by some 5 %, two runs in sequence by 1 to 3 %.
 */
#ifndef TENON_CORE_BASE_NOISE_H_
#define TENON_CORE_BASE_NOISE_H_

/* ---- Comparing ---- */

/* Share of the time of differing steps by which a variant of a plan must be faster to be chosen:
 * the times of kernels differ by this share between two measurements. */
#define TENON_NOISE_SHARE 0.05
/* Two times of one tactic whose ratio is at most this are equal. Consecutive runs on an idle
 * machine differ by less. */
#define TENON_NOISE_EQUAL_RATIO 1.03
/* Share of a run by which a whole plan must be faster, if both variants run in turns in one
 * process: consecutive runs differ by this share. */
#define TENON_NOISE_RUN_SHARE 0.01
/* A disturbed time is at most this many times too long: a thread that shares its processor with
 * another one takes twice as long, and the rest is for switches between them. */
#define TENON_NOISE_DISTURBED_RATIO 2.5
/* Share of the measured time that the thread waited for a processor. Above it the time is
 * disturbed. */
#define TENON_NOISE_WAITED_SHARE 0.1
/* A tactic this many times slower than the best is not measured again: no noise is as large. */
#define TENON_NOISE_HOPELESS_RATIO 3.0
/* The same for tactics of one kernel. Kernels list the most promising ones first. */
#define TENON_NOISE_HOPELESS_FAMILY_RATIO 2.0
/* Number of tactics of a kernel that are measured before the others are given up. */
enum { TENON_NOISE_FAMILY_LOOKS = 2 };
/* A tactic within this ratio of the fastest one may prove to be the fastest. */
#define TENON_NOISE_CONTENDER_RATIO 1.3
/* A sum of the same times in another order may differ by this share: rounding. */
#define TENON_NOISE_ROUNDING_SHARE 1e-9
/* A layout or type replaces another one only if its cost is below this share of the other's, so
 * that equal costs never alternate. */
#define TENON_NOISE_BETTER_SHARE 0.999
/* Share of the whole by which types of lower precision must be faster: a smaller gain is not worth
 * their error. */
#define TENON_NOISE_NARROW_SHARE 0.01

/* ---- Timing one tactic ---- */

/* Number of runs of a tactic. One run alone may be disturbed. */
enum { TENON_NOISE_MIN_RUNS = 2, TENON_NOISE_MAX_RUNS = 40 };
/* After this time the smallest run counts if another one equals it. */
#define TENON_NOISE_ENOUGH_SECONDS 4e-3
/* After this time the smallest run counts without an equal one. */
#define TENON_NOISE_PATIENCE_SECONDS 20e-3
/* A run that takes longer is interruptible: its end is not worth waiting for. */
#define TENON_NOISE_LONG_RUN_SECONDS 20e-3
/* Length of a recorded chain of runs. The cost of a replay, some microseconds, is then below
 * 2 %. */
#define TENON_NOISE_CHAIN_SECONDS 3e-4
/* Number of runs in a chain. Fewer than the minimum are timed one by one. */
enum { TENON_NOISE_MIN_CHAIN = 4, TENON_NOISE_MAX_CHAIN = 32, TENON_NOISE_SINGLE_RUNS = 3 };

/* ---- Rounds in which several variants take turns ---- */

/* Contenders of a region: rounds, and consecutive rounds with the same fastest tactic and equal
 * times that end them early. */
enum { TENON_NOISE_CONTENDER_ROUNDS = 6, TENON_NOISE_SETTLED_ROUNDS = 2 };
/* A tactic in memory of its own and in a box. More rounds than the minimum only if disturbed. */
enum { TENON_NOISE_MIN_BOX_ROUNDS = 2, TENON_NOISE_MAX_BOX_ROUNDS = 6 };
/* Whole plans: rounds, the time after which no further round begins, and the number of consecutive
 * runs in a round if a run is short. The host's part of all but the first run is then hidden. */
enum {
  TENON_NOISE_MIN_PLAN_ROUNDS = 3,
  TENON_NOISE_MAX_PLAN_ROUNDS = 40,
  TENON_NOISE_PLAN_RUNS = 8
};
#define TENON_NOISE_PLAN_SECONDS 0.1
#define TENON_NOISE_SHORT_PLAN_SECONDS 2e-3

/* ---- Steps on several streams of a device ---- */

/* A first guess of the streams, for any device with more than one. The times of its steps are
 * measured, but their overlap is not. If the build may measure, it runs the whole plan with and
 * without streams, and the run decides.
 *
 * Time that a step waits for the end of a step on another stream. Devices that record several
 * streams make this a dependency inside the recording, below the time of their shortest steps. */
#define TENON_NOISE_STREAM_WAIT_SECONDS 0.4e-6
/* A step that takes longer has enough work to fill its device. It stays on the first stream. */
#define TENON_NOISE_FILLING_SECONDS 30e-6
/* Time of a step without a measured one: that of a small step. */
#define TENON_NOISE_UNKNOWN_STEP_SECONDS 2e-6
/* Share of the whole by which streams must be faster in this estimate. */
#define TENON_NOISE_STREAMS_SHARE 0.02

/* ---- Errors of lower precision ---- */

/* Share of the permitted error that a search for types of lower precision uses. Kernels round more
 * often than the values that they store, so the same choice may have a larger error in the next
 * build. */
#define TENON_NOISE_ERROR_SHARE 0.95

#endif
