/*
 * Writing a plan: first where each blob of data will lie, then the structure, which says so, then
 * all of it into one block of memory. Nothing in the file depends on where things lie in memory or
 * on the time.
 */
#include "core/plan_file/writer.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/plan_file/network_writer.h"
#include "core/plan_file/plan_file.h"
#include "core/plan_file/region_file.h"
#include "core/plan_file/schedule_file.h"

/* Bytes in the data part. */
typedef struct blob_t {
  uint64_t offset; /* from the start of the data */
  uint64_t size_bytes;
} blob_t;

typedef struct plan_writer_t {
  const tenon__plan_t* plan;
  const tenon_sink_t* sink;
  tenon__interrupt_t* interrupt;
  tenon__byte_writer_t bytes; /* the structure */
  blob_t* weights;            /* one for each of the network's */
  blob_t* packed;
  uint64_t data_size;
  uint64_t hot_size;
} plan_writer_t;

/* Weights take long: what is half written then is thrown away. */
static bool is_cancelled(const plan_writer_t* w) {
  return tenon__interrupt_is_wanted(w->interrupt);
}

static bool is_kept(const tenon__plan_t* plan, uint32_t weights) {
  return plan->weights_kept == NULL || plan->weights_kept[weights];
}

static bool is_hot(const tenon__plan_t* plan, uint32_t weights) {
  return plan->weights_hot == NULL || plan->weights_hot[weights];
}

/* ---- Where data will lie ---- */

static bool string_bytes(const tenon__weights_t* weights, uint64_t* out_count,
                         uint64_t* out_bytes) {
  const tenon_string_view_t* strings = weights->data;
  size_t size = 0;
  *out_count = weights->size_bytes / sizeof *strings;
  for (uint64_t k = 0; k < *out_count; ++k) {
    if (!tenon__add_size(size, sizeof(uint64_t), &size) ||
        !tenon__add_size(size, strings[k].size, &size)) {
      return false;
    }
  }
  *out_bytes = size;
  return true;
}

static bool place_blob(plan_writer_t* w, uint64_t size_bytes, blob_t* out_blob) {
  const uint64_t rest = w->data_size % TENON_PLAN_BLOB_ALIGNMENT;
  const uint64_t offset = w->data_size + (rest == 0 ? 0 : TENON_PLAN_BLOB_ALIGNMENT - rest);
  if (size_bytes > UINT64_MAX / 4 || offset > UINT64_MAX / 4) {
    return false;
  }
  *out_blob = (blob_t){.offset = offset, .size_bytes = size_bytes};
  w->data_size = offset + size_bytes;
  return true;
}

static tenon_status_t place_weights(plan_writer_t* w, bool hot) {
  const tenon__network_t* network = w->plan->network;
  bool fits = true;
  for (uint32_t k = 0; k < network->weights_count; ++k) {
    const tenon__weights_t* weights = &network->weights[k];
    uint64_t count = 0;
    uint64_t size = weights->size_bytes;
    if (!is_kept(w->plan, k) || is_hot(w->plan, k) != hot) {
      continue;
    }
    if (weights->data == NULL && size > 0) {
      return tenon__fail(w->sink, TENON_ERROR_INVALID_STATE,
                         "the plan is to keep weights '%s', but their bytes are gone",
                         weights->name);
    }
    fits = fits && (weights->dtype != TENON_DTYPE_STRING || string_bytes(weights, &count, &size));
    fits = fits && place_blob(w, size, &w->weights[k]);
  }
  return fits ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static tenon_status_t place_blobs(plan_writer_t* w) {
  bool fits = true;
  TENON_TRY(place_weights(w, true));
  for (uint32_t k = 0; k < w->plan->packed_count; ++k) {
    fits = fits && place_blob(w, w->plan->packed[k].size_bytes, &w->packed[k]);
  }
  w->hot_size = w->data_size;
  return fits ? place_weights(w, false) : TENON_ERROR_OUT_OF_MEMORY;
}

/* ---- Sections ---- */

static size_t begin_section(plan_writer_t* w, uint32_t name) {
  tenon__write_u32(&w->bytes, name);
  tenon__write_u64(&w->bytes, 0); /* the size, known at the end */
  return w->bytes.size;
}

static void end_section(plan_writer_t* w, size_t begin) {
  if (w->bytes.failed) {
    return;
  }
  const uint64_t size = w->bytes.size - begin;
  for (size_t k = 0; k < 8; ++k) {
    w->bytes.data[begin - 8 + k] = (uint8_t)(size >> (8 * k));
  }
}

static void write_digest(plan_writer_t* w, const tenon__digest_t* digest) {
  tenon__write_bytes(&w->bytes, digest->bytes, sizeof digest->bytes);
}

static void write_summary(plan_writer_t* w) {
  const size_t begin = begin_section(w, TENON_PLAN_SECTION_SUMMARY);
  const tenon__plan_t* plan = w->plan;
  tenon__write_u8(&w->bytes, (uint8_t)plan->device_count);
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    const tenon__plan_device_t* device = &plan->devices[d];
    tenon__write_string(&w->bytes, device->name);
    tenon__write_u32(&w->bytes, device->index);
    tenon__write_string(&w->bytes, device->fingerprint);
    tenon__write_u64(&w->bytes, device->scratch_bytes);
    tenon__write_u64(&w->bytes, device->zeroed_bytes);
    tenon__write_u64(&w->bytes, device->persistent_bytes);
  }
  tenon__write_string(&w->bytes, plan->patches);
  tenon__write_u32(&w->bytes, plan->thread_count);
  tenon__write_u32(&w->bytes, plan->flags);
  end_section(w, begin);
}

static void write_plugins(plan_writer_t* w) {
  const size_t begin = begin_section(w, TENON_PLAN_SECTION_PLUGINS);
  tenon__write_u32(&w->bytes, w->plan->plugin_count);
  for (uint32_t k = 0; k < w->plan->plugin_count; ++k) {
    const tenon__plan_plugin_t* plugin = &w->plan->plugins[k];
    tenon__write_string(&w->bytes, plugin->name);
    tenon__write_string(&w->bytes, plugin->version);
    write_digest(w, &plugin->digest);
  }
  end_section(w, begin);
}

/* Weights that nothing alive refers to need no digest: nothing is ever packed from them. */
static void mark_used_weights(const tenon__network_t* network, uint8_t* used) {
  for (uint32_t g = 0; g < network->graph_count; ++g) {
    for (uint32_t k = 0; k < network->graphs[g]->value_count; ++k) {
      const tenon__value_node_t* value = &network->graphs[g]->values[k];
      if (value->alive && value->weights < network->weights_count) {
        used[value->weights] = 1;
      }
    }
  }
}

static tenon_status_t write_weights(plan_writer_t* w) {
  const tenon__network_t* network = w->plan->network;
  uint8_t* used = tenon__allocate(w->bytes.allocator, network->weights_count, 1);
  TENON_TRY_MEMORY(used != NULL);
  mark_used_weights(network, used);
  const size_t begin = begin_section(w, TENON_PLAN_SECTION_WEIGHTS);
  tenon__write_u32(&w->bytes, network->weights_count);
  for (uint32_t k = 0; k < network->weights_count; ++k) {
    const tenon__weights_t* weights = &network->weights[k];
    tenon__digest_t digest = {{0}};
    if (weights->digest_known) {
      digest = weights->digest;
    } else if (weights->data != NULL && (used[k] != 0 || is_kept(w->plan, k)) && !is_cancelled(w)) {
      digest = tenon__weights_digest_now(weights, w->interrupt);
    }
    tenon__write_u8(&w->bytes, is_kept(w->plan, k) ? 1 : 0);
    tenon__write_u64(&w->bytes, w->weights[k].offset);
    tenon__write_u64(&w->bytes, w->weights[k].size_bytes);
    write_digest(w, &digest);
  }
  end_section(w, begin);
  tenon__free(w->bytes.allocator, used, network->weights_count);
  return TENON_OK;
}

static void write_packed(plan_writer_t* w) {
  const size_t begin = begin_section(w, TENON_PLAN_SECTION_PACKED);
  tenon__write_u32(&w->bytes, w->plan->packed_count);
  for (uint32_t k = 0; k < w->plan->packed_count && !is_cancelled(w); ++k) {
    const tenon__packed_t* packed = &w->plan->packed[k];
    tenon__digest_state_t state;
    tenon__digest_begin(&state);
    (void)tenon__digest_add_until(&state, packed->data, packed->size_bytes, w->interrupt);
    const tenon__digest_t digest = tenon__digest_end(&state);
    write_digest(w, &packed->key);
    tenon__write_string(&w->bytes, packed->format);
    tenon__write_u64(&w->bytes, w->packed[k].offset);
    tenon__write_u64(&w->bytes, w->packed[k].size_bytes);
    write_digest(w, &digest);
  }
  end_section(w, begin);
}

static void write_extents(plan_writer_t* w, const tenon__extents_t* extents) {
  for (uint32_t k = 0; k < extents->symbol_count; ++k) {
    const bool is_known = extents->symbol_known[k] != 0;
    tenon__write_u8(&w->bytes, is_known ? 1 : 0);
    tenon__write_i64(&w->bytes, is_known ? extents->symbol_values[k] : 0);
  }
}

/* Symbols that came after the profile was made are unknown in it. */
static void write_profile(plan_writer_t* w) {
  const size_t begin = begin_section(w, TENON_PLAN_SECTION_PROFILE);
  tenon__write_u32(&w->bytes, w->plan->profile.max.symbol_count);
  write_extents(w, &w->plan->profile.min);
  write_extents(w, &w->plan->profile.optimum);
  write_extents(w, &w->plan->profile.max);
  end_section(w, begin);
}

static void write_names(plan_writer_t* w, const tenon__names_t* names) {
  tenon__write_u32(&w->bytes, names->count);
  for (uint32_t k = 0; k < names->count; ++k) {
    tenon__write_string(&w->bytes, names->items[k]);
  }
}

static void write_original(plan_writer_t* w) {
  const size_t begin = begin_section(w, TENON_PLAN_SECTION_ORIGINAL);
  const tenon__plan_original_t* original = &w->plan->original;
  if (original->data != NULL) {
    tenon__write_u32(&w->bytes, original->patch_limit);
    tenon__write_u64(&w->bytes, original->workspace_limit_bytes);
    write_names(w, &original->exclude);
    write_names(w, &original->node_devices);
    write_names(w, &original->kept);
    write_digest(w, &original->optimised);
    tenon__write_u64(&w->bytes, original->size_bytes);
    tenon__write_bytes(&w->bytes, original->data, original->size_bytes);
  }
  end_section(w, begin);
}

/* What the reader would refuse is not written. */
static tenon_status_t check_limits(const plan_writer_t* w) {
  for (uint32_t g = 0; g < w->plan->schedule_count; ++g) {
    for (uint32_t s = 0; s < w->plan->schedules[g].step_count; ++s) {
      const tenon__step_t* step = &w->plan->schedules[g].steps[s];
      if (step->input_count > TENON_REGION_MOST_ARGUMENTS ||
          step->output_count > TENON_REGION_MOST_ARGUMENTS) {
        return tenon__fail(w->sink, TENON_ERROR_UNSUPPORTED,
                           "step '%s' has more than %u inputs or outputs", step->name,
                           TENON_REGION_MOST_ARGUMENTS);
      }
    }
  }
  return TENON_OK;
}

static tenon_status_t write_structure(plan_writer_t* w) {
  TENON_TRY(check_limits(w));
  write_summary(w);
  write_plugins(w);
  size_t begin = begin_section(w, TENON_PLAN_SECTION_NETWORK);
  tenon__network_write(w->plan->network, &w->bytes);
  end_section(w, begin);
  TENON_TRY(write_weights(w));
  begin = begin_section(w, TENON_PLAN_SECTION_SCHEDULES);
  tenon__schedules_write(w->plan, &w->bytes);
  end_section(w, begin);
  write_profile(w);
  write_packed(w);
  write_original(w);
  return w->bytes.failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* ---- The file ---- */

static void store_number(uint8_t* place, uint64_t number, size_t size_bytes) {
  for (size_t k = 0; k < size_bytes; ++k) {
    place[k] = (uint8_t)(number >> (8 * k));
  }
}

static void store_strings(uint8_t* place, const tenon__weights_t* weights) {
  const tenon_string_view_t* strings = weights->data;
  const size_t count = weights->size_bytes / sizeof *strings;
  uint8_t* text = place + count * sizeof(uint64_t);
  for (size_t k = 0; k < count; ++k) {
    store_number(place + k * sizeof(uint64_t), strings[k].size, sizeof(uint64_t));
    if (strings[k].size > 0) {
      memcpy(text, strings[k].data, strings[k].size);
    }
    text += strings[k].size;
  }
}

static void store_data(const plan_writer_t* w, uint8_t* data) {
  const tenon__network_t* network = w->plan->network;
  for (uint32_t k = 0; k < network->weights_count && !is_cancelled(w); ++k) {
    const tenon__weights_t* weights = &network->weights[k];
    if (w->weights[k].size_bytes == 0) {
      continue;
    }
    if (weights->dtype == TENON_DTYPE_STRING) {
      store_strings(data + w->weights[k].offset, weights);
    } else {
      memcpy(data + w->weights[k].offset, weights->data, weights->size_bytes);
    }
  }
  for (uint32_t k = 0; k < w->plan->packed_count && !is_cancelled(w); ++k) {
    if (w->packed[k].size_bytes > 0) {
      memcpy(data + w->packed[k].offset, w->plan->packed[k].data, w->packed[k].size_bytes);
    }
  }
}

size_t tenon__plan_cold_offset(const void* data, size_t size_bytes) {
  tenon__byte_reader_t head;
  tenon__byte_reader_initialize(&head, (const uint8_t*)data + 32, 16);
  const uint64_t data_offset = tenon__read_u64(&head);
  const uint64_t offset = data_offset + tenon__read_u64(&head);
  return offset < size_bytes ? offset : size_bytes;
}

static tenon_status_t assemble(const plan_writer_t* w, void** out_data, size_t* out_size_bytes) {
  const size_t head_size = TENON_PLAN_HEADER_SIZE + w->bytes.size;
  const size_t data_offset = (head_size + TENON_PLAN_DATA_ALIGNMENT - 1) /
                             TENON_PLAN_DATA_ALIGNMENT * TENON_PLAN_DATA_ALIGNMENT;
  size_t total = 0;
  uint8_t* file = tenon__add_size(data_offset, w->data_size, &total)
                      ? tenon__allocate(w->bytes.allocator, total, 1)
                      : NULL;
  TENON_TRY_MEMORY(file != NULL);
  memcpy(file, TENON_PLAN_MAGIC, 8); /* no NUL. NOLINT(bugprone-not-null-terminated-result) */
  store_number(file + 8, TENON_PLAN_VERSION, 4);
  store_number(file + 16, total, 8);
  store_number(file + 24, w->bytes.size, 8);
  store_number(file + 32, data_offset, 8);
  store_number(file + 40, w->hot_size, 8);
  memcpy(file + TENON_PLAN_HEADER_SIZE, w->bytes.data, w->bytes.size);
  store_data(w, file + data_offset);
  if (is_cancelled(w)) {
    tenon__free(w->bytes.allocator, file, total);
    return TENON_ERROR_CANCELLED;
  }
  const tenon__digest_t digest = tenon__plan_file_digest(file, w->bytes.size);
  memcpy(file + TENON_PLAN_DIGEST_OFFSET, digest.bytes, sizeof digest.bytes);
  *out_data = file;
  *out_size_bytes = total;
  return TENON_OK;
}

tenon_status_t tenon__plan_write(const tenon__plan_t* plan, tenon_allocator_t allocator,
                                 tenon__interrupt_t* interrupt, const tenon_sink_t* sink,
                                 void** out_data, size_t* out_size_bytes) {
  plan_writer_t w = {.plan = plan, .sink = sink, .interrupt = interrupt};
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, allocator);
  tenon__byte_writer_initialize(&w.bytes, allocator);
  w.weights = tenon__arena_allocate(&arena, plan->network->weights_count, sizeof *w.weights);
  w.packed = tenon__arena_allocate(&arena, plan->packed_count, sizeof *w.packed);
  tenon_status_t status =
      w.weights == NULL || w.packed == NULL ? TENON_ERROR_OUT_OF_MEMORY : place_blobs(&w);
  if (status == TENON_OK) {
    status = write_structure(&w);
  }
  if (status == TENON_OK) {
    status = assemble(&w, out_data, out_size_bytes);
  }
  tenon__byte_writer_deinitialize(&w.bytes);
  tenon__arena_deinitialize(&arena);
  return status;
}
