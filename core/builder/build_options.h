/* What a build is asked for. */
#ifndef TENON_CORE_BUILDER_BUILD_OPTIONS_H_
#define TENON_CORE_BUILDER_BUILD_OPTIONS_H_

#include "core/timing/tuning.h"

/* Range of one input in the profile. min[k] <= optimum[k] <= max[k] of axis k. Kernels are tried at
 * the optimum, memory is planned for the maximum. */
typedef struct tenon__build_range_t {
  const char* input;
  uint32_t rank;
  const int64_t* min;
  const int64_t* optimum;
  const int64_t* max;
} tenon__build_range_t;

/* One set of inputs as the application has them, in the network's order. */
typedef struct tenon__input_sample_t {
  const tenon_tensor_view_t* inputs;
  uint32_t input_count;
} tenon__input_sample_t;

/* More streams than branches that are worth one are rare, and each has scratch of its own. */
enum { TENON__STREAM_LIMIT = 4 };

/* Borrowed for the build. memory_limit_bytes: of activations and workspace, 0: none. tuned_only:
 * the plan holds weights only as kernels packed them, and can be neither refitted nor made again.
 */
typedef struct tenon__build_options_t {
  tenon_allocator_t allocator;
  const tenon__build_range_t* ranges; /* inputs left out: symbolic extents are 1, with a warning */
  uint32_t range_count;
  const char* const* node_devices; /* "NODE=DEVICE", see assignments.h; may be NULL */
  const char* const* kept;         /* values that stay in their own types, by name; may be NULL */
  const char* const* kept_why;     /* for each of `kept`, for reports; may be NULL */
  /* What narrower types do to the results is looked at on these: see guard.h. */
  const tenon__input_sample_t* samples;
  uint32_t sample_count;
  double accuracy_bound;        /* 0: TENON__ACCURACY_BOUND */
  bool names_may_lack;          /* nodes and values that are not there any more are no mistake */
  const char* device;           /* "name:1", or several, see devices.h; NULL: the host */
  tenon__timing_cache_t* cache; /* NULL: one for this build */
  tenon__blob_folder_t* blobs; /* what kernels compile, from build to build; NULL: it is not kept */
  tenon__tuning_options_t tuning;
  uint64_t memory_limit_bytes;
  uint32_t optimizer_limit; /* patches, 0: none */
  uint32_t stream_limit;    /* of a context on one device, 0: TENON__STREAM_LIMIT */
  bool no_rewrites;         /* no rewrites, and no pass that believes traits */
  bool merges_siblings;     /* without asking whether it is faster */
  const char* rewrites;     /* a plan's patches: those alone that these name; NULL: all */
  bool tuned_only;
  const tenon_sink_t* sink;
} tenon__build_options_t;

#endif
