/* The network that a plan was made of. */
#include "core/builder/original.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/builder/keep_original.h"
#include "core/catalog/catalog.h"
#include "core/network/verify_rules.h"
#include "core/plan_file/network_reader.h"

const tenon__operator_t* tenon__original_find(void* user, const char* name) {
  return tenon__catalog_operator(user, name, NULL);
}

tenon__build_options_t tenon__original_options(const tenon__plan_t* plan,
                                               tenon_allocator_t allocator,
                                               const tenon_sink_t* sink) {
  const uint32_t flags = plan->flags;
  return (tenon__build_options_t){
      .allocator = allocator,
      .device = plan->device,
      .node_devices = plan->original.node_devices.items,
      .kept = plan->original.kept.items,
      .names_may_lack = true,
      .tuning = {.thread_count = plan->thread_count,
                 .workspace_limit_bytes = plan->original.workspace_limit_bytes,
                 .exclude = plan->original.exclude.items,
                 .no_measuring = true,
                 .no_fusion = (flags & TENON_PLAN_NO_FUSION) != 0,
                 .permits = flags >> TENON_PLAN_PERMITS_SHIFT & TENON_PLAN_BYTE,
                 .reference_only = (flags & TENON_PLAN_REFERENCE_ONLY) != 0,
                 .strict = (flags & TENON_PLAN_STRICT) != 0},
      .optimizer_limit = plan->original.patch_limit,
      .no_rewrites = (flags & TENON_PLAN_NO_REWRITES) != 0,
      .stream_limit = flags >> TENON_PLAN_STREAMS_SHIFT & TENON_PLAN_BYTE,
      .merges_siblings = (flags & TENON_PLAN_MERGES_SIBLINGS) != 0,
      .sink = sink};
}

static tenon_status_t read_network(const tenon__plan_t* plan, tenon__catalog_t* catalog,
                                   const tenon_sink_t* sink, tenon__original_t* original) {
  tenon__byte_reader_t reader;
  tenon__byte_reader_initialize(&reader, plan->original.data, plan->original.size_bytes);
  TENON_TRY(tenon__network_read(original->allocator, &reader, tenon__original_find, catalog, sink,
                                &original->network));
  const tenon_status_t status = tenon__network_verify(original->network, sink);
  if (status == TENON_ERROR_INTERNAL ||
      original->network->weights_count > plan->network->weights_count) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                       "the plan is broken: its original network does not fit");
  }
  return status;
}

static tenon_status_t make_zeros(const tenon__plan_t* plan, tenon__original_t* original) {
  for (uint32_t k = 0; k < original->network->weights_count; ++k) {
    const tenon__weights_t* known = &plan->network->weights[k];
    if (known->data == NULL && known->size_bytes > original->zeros_size) {
      original->zeros_size = known->size_bytes;
    }
  }
  original->zeros = tenon__allocate(original->allocator, original->zeros_size, 1);
  return original->zeros == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t give_weights(const tenon__plan_t* plan, const tenon_sink_t* sink,
                                   const tenon__original_t* original) {
  for (uint32_t k = 0; k < original->network->weights_count; ++k) {
    const tenon__weights_t* known = &plan->network->weights[k];
    tenon__weights_t* weights = &original->network->weights[k];
    if (weights->dtype != known->dtype || weights->rank != known->rank ||
        (known->rank > 0 &&
         memcmp(weights->dims, known->dims, known->rank * sizeof *known->dims) != 0)) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "the plan is broken: its weights '%s' are not those of its original "
                         "network",
                         known->name);
    }
    weights->data = known->data != NULL ? known->data : original->zeros;
    weights->size_bytes = known->size_bytes;
  }
  return TENON_OK;
}

tenon_status_t tenon__original_read(const tenon__plan_t* plan, tenon__catalog_t* catalog,
                                    const tenon_sink_t* sink, tenon__original_t* out_original) {
  *out_original = (tenon__original_t){.allocator = plan->allocator};
  TENON_TRY(read_network(plan, catalog, sink, out_original));
  TENON_TRY(make_zeros(plan, out_original));
  return give_weights(plan, sink, out_original);
}

void tenon__original_deinitialize(tenon__original_t* original) {
  tenon__network_destroy(original->network);
  tenon__free(original->allocator, original->zeros, original->zeros_size);
}

static tenon_status_t check_weights(const tenon__original_t* original, const tenon__plan_t* plan,
                                    const tenon_sink_t* sink, tenon__arena_t* arena) {
  const uint32_t count = original->network->weights_count;
  bool* is_needed = tenon__arena_allocate(arena, count + 1u, sizeof *is_needed);
  TENON_TRY_MEMORY(is_needed != NULL &&
                   tenon__network_mark_needed(original->network, arena, is_needed) == TENON_OK);
  for (uint32_t k = 0; k < count; ++k) {
    const tenon__weights_t* known = &plan->network->weights[k];
    if (is_needed[k] && known->data == NULL && known->size_bytes > 0) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "the plan is broken: it does not hold the original weights '%s'",
                         known->name);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__original_check_weights(const tenon__original_t* original,
                                             const tenon__plan_t* plan, const tenon_sink_t* sink) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, original->allocator);
  const tenon_status_t status = check_weights(original, plan, sink, &arena);
  tenon__arena_deinitialize(&arena);
  return status;
}
