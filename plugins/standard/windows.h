/*
 * Texts that convolutions and pools share. Along spatial axis d: extent n, stride, pads low and
 * high, and how far a window reaches; then how many windows there are. Pieces of shape rules, put
 * together by the rows: x is [N, C, spatial...], so spatial axis d of it has entry d - 2 of the
 * lists, and pads hold all beginnings, then all ends.
 */
#ifndef PLUGINS_STANDARD_WINDOWS_H_
#define PLUGINS_STANDARD_WINDOWS_H_

/* `kernel_extent`: the text of the window's extent along d; what it lets be known is for the two
 * below. */
#define WINDOW_BOUNDS(kernel_extent)                                       \
  "let n = dim(x, d);"                                                     \
  "let stride = at(strides, d - 2, 1);"                                    \
  "let low = at(pads, d - 2, 0); let high = at(pads, d - 4 + rank(x), 0);" \
  "let reach = at(dilations, d - 2, 1) * (" kernel_extent " - 1) + 1;"

/* Windows that lie inside of the padded extent; with auto_pad "same" as many as strides. */
#define WINDOW_EXTENT                                                          \
  "auto_pad == 'same_upper' || auto_pad == 'same_lower' ? ceil_div(n, stride)" \
  " : auto_pad == 'valid' ? (n - reach) / stride + 1"                          \
  " : (n + low + high - reach) / stride + 1"

/* With ceil_mode the last window may be cut off, but begins inside of x or its first padding: it
 * would else hold nothing but padding. */
#define POOL_EXTENT                                                                 \
  "auto_pad == 'same_upper' || auto_pad == 'same_lower' ? ceil_div(n, stride)"      \
  " : auto_pad == 'valid' ? (n - reach) / stride + 1"                               \
  " : ceil_mode == 1"                                                               \
  " ? min(ceil_div(n + low + high - reach, stride) + 1, ceil_div(n + low, stride))" \
  " : (n + low + high - reach) / stride + 1"

/* Extent d of x with its padding; with auto_pad "same" the padding is another. */
#define PADDED_EXTENT(d)         \
  "dim(x, " d                    \
  ") + (auto_pad == 'valid' ? 0" \
  " : at(pads, " d " - 2, 0) + at(pads, " d " - 4 + rank(x), 0))"

/* Numbers of up to 31 bits, for up to three spatial axes: sums and products of a few fit 64. One
 * CHECK for a list, as a condition has no loop. */
#define STEPS_CHECK(list)                                                                   \
  CHECK("min(at(" list ", 0, 1), at(" list ", 1, 1), at(" list                              \
        ", 2, 1)) >= 1"                                                                     \
        " && max(at(" list ", 0, 1), at(" list ", 1, 1), at(" list ", 2, 1)) < 2147483648", \
        list " are {" list "}, not positive numbers of 31 bits")
/* For up to three spatial axes, and so up to six entries; those that a list does not have are 0,
 * which passes. */
#define SIX_PADS                                                                     \
  "(at(pads, 0, 0), at(pads, 1, 0), at(pads, 2, 0), at(pads, 3, 0), at(pads, 4, 0)," \
  " at(pads, 5, 0))"
/* For rows with the attributes strides, dilations and pads: each list is empty or has an entry
 * for each axis (pads two). */
#define WINDOW_CHECKS                                                                 \
  STEPS_CHECK("strides"), STEPS_CHECK("dilations"),                                   \
      CHECK("min" SIX_PADS " > -2147483648 && max" SIX_PADS " < 2147483648",          \
            "pads are {pads}, not numbers of 31 bits"),                               \
      CHECK("len(strides) == 0 || len(strides) == rank(x) - 2",                       \
            "strides has {len(strides)} entries for {rank(x) - 2} spatial axes"),     \
      CHECK("len(dilations) == 0 || len(dilations) == rank(x) - 2",                   \
            "dilations has {len(dilations)} entries for {rank(x) - 2} spatial axes"), \
      CHECK("len(pads) == 0 || len(pads) == 2 * (rank(x) - 2)",                       \
            "pads has {len(pads)} entries for {rank(x) - 2} spatial axes")

#endif
