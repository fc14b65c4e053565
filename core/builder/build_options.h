/* Options of a build. */
#ifndef TENON_CORE_BUILDER_BUILD_OPTIONS_H_
#define TENON_CORE_BUILDER_BUILD_OPTIONS_H_

#include "core/timing/tuning.h"

/* Range of one input in the profile. min[k] <= optimum[k] <= max[k] of axis k. Kernels are measured
 * at the optimum. Memory is planned for the maximum. */
typedef struct tenon__build_range_t {
  const char* input;
  uint32_t rank;
  const int64_t* min;
  const int64_t* optimum;
  const int64_t* max;
} tenon__build_range_t;

/* One set of input data of the application, in the network's order. */
typedef struct tenon__input_sample_t {
  const tenon_tensor_view_t* inputs;
  uint32_t input_count;
} tenon__input_sample_t;

/* Networks rarely have more branches that are worth a stream. Each stream has scratch of its
 * own. */
enum { TENON__STREAM_LIMIT = 4 };

/* Borrowed for the build. memory_limit_bytes: upper bound of activations and workspace, 0: none.
 * tuned_only: the plan holds only packed weights, and can be neither refitted nor rebuilt. */
typedef struct tenon__build_options_t {
  tenon_allocator_t allocator;
  const tenon__build_range_t* ranges; /* without a range, symbolic extents are 1, with a warning */
  uint32_t range_count;
  const char* const* node_devices; /* "NODE=DEVICE", see assignments.h; may be NULL */
  const char* const* kept;         /* names of values that keep their own types; may be NULL */
  const char* const* kept_why;     /* reason for each of `kept`, for reports; may be NULL */
  /* The errors of types of lower precision are measured on these: see guard.h. */
  const tenon__input_sample_t* samples;
  uint32_t sample_count;
  double accuracy_bound;        /* 0: TENON__ACCURACY_BOUND */
  bool names_may_lack;          /* names of vanished nodes and values are not an error */
  const char* device;           /* "name:1", or several, see devices.h; NULL: the host */
  tenon__timing_cache_t* cache; /* NULL: one for this build */
  tenon__blob_folder_t* blobs;  /* compiled code of kernels, kept between builds; NULL: not kept */
  tenon__tuning_options_t tuning;
  uint64_t memory_limit_bytes;
  uint32_t optimizer_limit; /* patches, 0: none */
  uint32_t stream_limit;    /* of a context on one device, 0: TENON__STREAM_LIMIT */
  bool no_rewrites;         /* no rewrites, and no pass that relies on traits */
  bool merges_siblings;     /* without measuring whether it is faster */
  const char* rewrites;     /* a plan's patches: only their rewrites are applied; NULL: all */
  bool tuned_only;
  const tenon_sink_t* sink;
} tenon__build_options_t;

#endif
