/* Fourier transforms, products of complex numbers, distances, hashes and repeated tokens. */
#include <inttypes.h>
#include <string.h>

#include "families.h"
#include "steps.h"

/* One transform along `axis` of [..., 2]. A forward transform that `is_onesided` takes [..., 1]. */
static tenon_value_t transformed(tenon_make_t* make, tenon_value_t x, int64_t axis, bool inverse,
                                 bool is_onesided) {
  tenon_make_begin(make, "dft");
  tenon_make_set_int(make, "fixed_axis", axis);
  tenon_make_set_int(make, "inverse", inverse ? 1 : 0);
  tenon_make_set_int(make, "onesided", is_onesided ? 1 : 0);
  tenon_make_add(make, x);
  return tenon_make_end(make);
}

/* Reads signal_ndim, 1 to 3 and at most `rank`. Refuses settings that ONNX Runtime does not have. */
static int64_t signal_axes(tenon_make_t* make, int64_t rank) {
  const int64_t axes = tenon_make_get_int(make, "signal_ndim", 1);
  if (tenon_make_get_int(make, "onesided", 1) != 1) {
    microsoft_refuse(make, "onesided", "it must be 1; use DFT of ONNX");
  }
  if (tenon_make_get_int(make, "normalized", 0) != 0) {
    microsoft_refuse(make, "normalized", "it must be 0; multiply the result");
  }
  if (axes < 1 || axes > 3 || axes > rank) {
    microsoft_refuse(make, "signal_ndim", "it must be 1 to 3, and x must have such axes");
    return 1;
  }
  return axes;
}

/* Of the last `signal_ndim` axes, the last one first. */
static void rfft(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const int64_t rank = tenon_make_rank(make, x);
  const int64_t axes = signal_axes(make, rank);
  tenon_value_t y =
      transformed(make, tenon_make_unsqueeze(make, x, &rank, 1), rank - 1, false, true);
  for (int64_t k = 2; k <= axes; ++k) {
    y = transformed(make, y, rank - k, false, false);
  }
  tenon_make_output(make, 0, y);
}

/* The inverse of rfft, with the factor 1 / n. */
static void irfft(tenon_make_t* make) {
  tenon_value_t x = tenon_make_input(make, 0);
  const int64_t rank = tenon_make_rank(make, x);
  for (int64_t k = signal_axes(make, rank - 1); k >= 2; --k) {
    x = transformed(make, x, rank - 1 - k, true, false);
  }
  tenon_make_output(make, 0,
                    tenon_make_squeeze(make, transformed(make, x, rank - 2, true, true), rank - 1));
}

/* a b, or a times the conjugate of b. The last axis has the real and the imaginary part. */
static void complex_mul(tenon_make_t* make) {
  const bool is_conjugate = strcmp(make->row->attributes, "conjugate") == 0;
  tenon_value_t parts[4] = {{0}, {0}, {0}, {0}};
  int64_t last = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    const tenon_value_t value = tenon_make_input(make, k / 2);
    last = (int64_t)tenon_make_rank(make, value) - 1;
    parts[k] = tenon_make_slice(make, value, last, k % 2, k % 2 + 1);
  }
  const int64_t rank_a = tenon_make_rank(make, tenon_make_input(make, 0));
  last = last > rank_a - 1 ? last : rank_a - 1;
  const tenon_value_t results[2] = {
      tenon_make_math(make, is_conjugate ? "y = a * c + b * d" : "y = a * c - b * d", 4, parts),
      tenon_make_math(make, is_conjugate ? "y = b * c - a * d" : "y = a * d + b * c", 4, parts)};
  tenon_make_output(make, 0, tenon_make_concat(make, last, 2, results));
}

/* Distances of the rows of a [m, n] from those of b [k, n]. */
static void distances(tenon_make_t* make) {
  static const int64_t axes[2] = {1, 0};
  const char* metric = tenon_make_get_string(make, "metric", "sqeuclidean");
  const bool is_root = strcmp(metric, "euclidean") == 0;
  if (!is_root && strcmp(metric, "sqeuclidean") != 0) {
    microsoft_refuse(make, "metric", "ONNX Runtime has euclidean and sqeuclidean");
  }
  const tenon_value_t operands[2] = {
      tenon_make_unsqueeze(make, tenon_make_input(make, 0), &axes[0], 1),
      tenon_make_unsqueeze(make, tenon_make_input(make, 1), &axes[1], 1)};
  const tenon_value_t sums = tenon_make_math(
      make,
      is_root ? "let d = a - b; y = sqrt(sum(d * d, [2]))" : "let d = a - b; y = sum(d * d, [2])",
      2, operands);
  tenon_make_output(make, 0, tenon_make_squeeze(make, sums, 2));
}

/* True if all elements of all inputs are finite (or none is NaN, or none infinite). */
static void all_finite(tenon_make_t* make) {
  const bool nan_only = tenon_make_get_int(make, "isnan_only", 0) != 0;
  const bool inf_only = tenon_make_get_int(make, "isinf_only", 0) != 0;
  const char* text = nan_only   ? "y = cast(a == a, i32)"
                     : inf_only ? "y = cast(abs(a) != inf, i32)"
                                : "y = cast(abs(a) < inf, i32)";
  if (nan_only && inf_only) {
    microsoft_refuse(make, "isnan_only", "isinf_only is 1 too");
  }
  tenon_value_t all = {0};
  for (uint32_t k = 0; k < make->input_count; ++k) {
    const int64_t flat = -1;
    const int64_t axis = 0;
    const tenon_value_t row = tenon_make_reshape(make, tenon_make_input(make, k), &flat, 1);
    const tenon_value_t one =
        tenon_make_reduce(make, "reduce_min", tenon_make_math_1(make, text, row), &axis, 1, 0);
    all = tenon_make_present(all) ? tenon_make_2(make, "min", all, one) : one;
  }
  tenon_make_output(make, 0, tenon_make_cast(make, all, TENON_DTYPE_BOOL));
}

/* MurmurHash3 for 32 bits: a step for each 4 bytes of an element, then a mix of the bits. Source:
 * https://github.com/aappleby/smhasher, public domain. */
#define HASH_STEP(block)                                             \
  "let k0 = " block                                                  \
  " * 3432918353; let k1 = (shl(k0, 15) | shr(k0, 17)) * 461845907;" \
  "let h0 = a ^ k1; let h1 = shl(h0, 13) | shr(h0, 19); y = h1 * 5 + 3864292196"

static tenon_value_t bits_as(tenon_make_t* make, tenon_value_t value, tenon_dtype_t to) {
  if (tenon_make_dtype(make, value) == to) {
    return value;
  }
  tenon_make_begin(make, "bit_cast");
  tenon_make_set_dtype(make, "to", to);
  tenon_make_add(make, value);
  return tenon_make_end(make);
}

static void murmur_hash(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t dtype = tenon_make_dtype(make, x);
  const bool is_wide =
      dtype == TENON_DTYPE_INT64 || dtype == TENON_DTYPE_UINT64 || dtype == TENON_DTYPE_FLOAT64;
  if (!is_wide && dtype != TENON_DTYPE_INT32 && dtype != TENON_DTYPE_UINT32 &&
      dtype != TENON_DTYPE_FLOAT32) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "hashes of texts are not supported");
    return;
  }
  const tenon_value_t bits = bits_as(make, x, is_wide ? TENON_DTYPE_UINT64 : TENON_DTYPE_UINT32);
  tenon_value_t hash =
      tenon_make_number(make, TENON_DTYPE_UINT32, (double)tenon_make_get_int(make, "seed", 0));
  for (uint32_t block = 0; block < (is_wide ? 2U : 1U); ++block) {
    tenon_value_t piece = bits;
    if (is_wide) {
      piece = tenon_make_cast(
          make, tenon_make_math_1(make, block == 0 ? "y = a & 4294967295" : "y = shr(a, 32)", bits),
          TENON_DTYPE_UINT32);
    }
    const tenon_value_t operands[2] = {hash, piece};
    hash = tenon_make_math(make, HASH_STEP("b"), 2, operands);
  }
  hash = tenon_make_print_math(make, 1, &hash,
                               "let h0 = a ^ %d; let h1 = (h0 ^ shr(h0, 16)) * 2246822507;"
                               "let h2 = (h1 ^ shr(h1, 13)) * 3266489909; y = h2 ^ shr(h2, 16)",
                               is_wide ? 8 : 4);
  tenon_make_output(
      make, 0,
      tenon_make_get_int(make, "positive", 1) != 0 ? hash : bits_as(make, hash, TENON_DTYPE_INT32));
}

/*
 * -inf for each token that would repeat an n-gram. Windows of n - 1 tokens that equal the last ones
 * end before such a token.
 */
static void n_gram_repeat_block(tenon_make_t* make) {
  const tenon_value_t ids = tenon_make_input(make, 0);
  const tenon_value_t scores = tenon_make_input(make, 1);
  const int64_t size = tenon_make_get_int(make, "ngram_size", 0);
  if (size < 1 || size > TENON_MAKE_LIST_LIMIT) {
    microsoft_refuse(make, "ngram_size", "it must be 1 to 64");
    return;
  }
  tenon_value_t repeats = {0};
  for (int64_t k = 0; k + 1 < size; ++k) {
    const tenon_value_t pair[2] = {
        tenon_make_slice(make, ids, 1, k, k - size + 1),
        tenon_make_slice(make, ids, 1, k - size + 1, k + 2 == size ? INT64_MAX : k - size + 2)};
    const tenon_value_t same = tenon_make_math(make, "y = a == b", 2, pair);
    repeats = tenon_make_present(repeats) ? tenon_make_2(make, "logical_and", repeats, same) : same;
  }
  const tenon_value_t tokens = tenon_make_slice(make, ids, 1, size - 1, INT64_MAX);
  if (!tenon_make_present(repeats)) {
    repeats = tenon_make_math_1(make, "y = a == a", tokens);
  }
  const tenon_value_t limits = tenon_make_math_1(make, "y = cast(a ? -inf : inf, f32)", repeats);
  tenon_make_begin(make, "scatter_elements");
  tenon_make_set_int(make, "axis", 1);
  tenon_make_set_string(make, "reduction", "min");
  tenon_make_add(make, scores);
  tenon_make_add(make, tokens);
  tenon_make_add(make, limits);
  tenon_make_end_outputs(make);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("CDist", distances, NULL, NULL),
    MICROSOFT_ROW("ComplexMul", complex_mul, NULL, ""),
    MICROSOFT_ROW("ComplexMulConj", complex_mul, NULL, "conjugate"),
    MICROSOFT_ROW("Irfft", irfft, NULL, NULL),
    MICROSOFT_ROW("IsAllFinite", all_finite, NULL, NULL),
    MICROSOFT_ROW("MurmurHash3", murmur_hash, NULL, NULL),
    MICROSOFT_ROW("NGramRepeatBlock", n_gram_repeat_block, NULL, NULL),
    MICROSOFT_ROW("Rfft", rfft, NULL, NULL),
};
MICROSOFT_FAMILY(signal);
