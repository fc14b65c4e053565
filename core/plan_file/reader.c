/*
 * Reading a plan, which may come from anybody. Header and digest first, then the sections in order,
 * each number checked where it is read; at the end, how everything fits together. The bytes of
 * weights are used where they lie.
 */
#include "core/plan_file/reader.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/verify_rules.h"
#include "core/plan_file/network_reader.h"
#include "core/plan_file/plan_file.h"
#include "core/plan_file/schedule_check.h"
#include "core/plan_file/schedule_file.h"
#include "core/tensor/layout.h"

#define MOST_THREADS 65536u

/* ---- Header ---- */

static tenon_status_t read_header(tenon__plan_reader_t* reader,
                                  tenon__byte_reader_t* out_structure) {
  tenon__byte_reader_t head;
  tenon__byte_reader_initialize(&head, reader->file, reader->file_size);
  const void* magic = tenon__read_view(&head, 8);
  const uint32_t version = tenon__read_u32(&head);
  const uint32_t flags = tenon__read_u32(&head);
  const uint64_t total_size = tenon__read_u64(&head);
  const uint64_t structure_size = tenon__read_u64(&head);
  const uint64_t data_offset = tenon__read_u64(&head);
  const uint64_t hot_size = tenon__read_u64(&head);
  if (magic == NULL || memcmp(magic, TENON_PLAN_MAGIC, 8) != 0) {
    return tenon__fail(reader->sink, TENON_ERROR_INVALID_DATA, "this is no plan of Tenon");
  }
  if (!head.failed && (version != TENON_PLAN_VERSION || flags != 0)) {
    return tenon__fail(reader->sink, TENON_ERROR_UNSUPPORTED,
                       "the plan has format %u, flags %u; this version of Tenon reads format %u: "
                       "build the plan again",
                       version, flags, TENON_PLAN_VERSION);
  }
  if (head.failed || total_size != reader->file_size ||
      reader->file_size < TENON_PLAN_HEADER_SIZE) {
    return tenon__plan_broken(reader, "it has %zu bytes instead of %llu", reader->file_size,
                              (unsigned long long)total_size);
  }
  if (structure_size > total_size - TENON_PLAN_HEADER_SIZE || data_offset > total_size ||
      data_offset % TENON_PLAN_DATA_ALIGNMENT != 0 ||
      data_offset < TENON_PLAN_HEADER_SIZE + structure_size ||
      hot_size > total_size - data_offset) {
    return tenon__plan_broken(reader, "its parts do not fit into it");
  }
  const tenon__digest_t digest = tenon__plan_file_digest(reader->file, structure_size);
  if (memcmp(digest.bytes, reader->file + TENON_PLAN_DIGEST_OFFSET, sizeof digest.bytes) != 0) {
    return tenon__plan_broken(reader, "its digest is another: the file was changed or damaged");
  }
  tenon__byte_reader_initialize(out_structure, reader->file + TENON_PLAN_HEADER_SIZE,
                                structure_size);
  reader->data_offset = data_offset;
  reader->cold_offset = data_offset + hot_size;
  return TENON_OK;
}

/* ---- Sections ---- */

static void read_digest(tenon__plan_reader_t* reader, tenon__digest_t* out_digest) {
  const void* bytes = tenon__read_view(&reader->bytes, sizeof out_digest->bytes);
  if (bytes != NULL) {
    memcpy(out_digest->bytes, bytes, sizeof out_digest->bytes);
  }
}

static tenon_status_t read_summary(tenon__plan_reader_t* reader) {
  tenon__plan_t* plan = reader->plan;
  plan->device_count = tenon__read_u8(&reader->bytes);
  if (plan->device_count == 0 || plan->device_count > TENON_DEVICE_LIMIT) {
    return tenon__plan_broken(reader, "it was made for %u devices", plan->device_count);
  }
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    tenon__plan_device_t* device = &plan->devices[d];
    device->name = tenon__read_string(&reader->bytes);
    device->index = tenon__read_u32(&reader->bytes);
    device->fingerprint = tenon__read_string(&reader->bytes);
    device->scratch_bytes = tenon__read_u64(&reader->bytes);
    device->zeroed_bytes = tenon__read_u64(&reader->bytes);
    device->persistent_bytes = tenon__read_u64(&reader->bytes);
  }
  TENON_TRY(tenon__plan_name_devices(plan));
  plan->patches = tenon__read_string(&reader->bytes);
  plan->thread_count = tenon__read_u32(&reader->bytes);
  plan->flags = tenon__read_u32(&reader->bytes);
  if (plan->thread_count > MOST_THREADS) {
    return tenon__plan_broken(reader, "it was made for %u threads", plan->thread_count);
  }
  return TENON_OK;
}

static tenon_status_t read_plugins(tenon__plan_reader_t* reader) {
  tenon__plan_t* plan = reader->plan;
  plan->plugin_count = tenon__read_count(&reader->bytes, 42);
  plan->plugins = tenon__arena_allocate(&plan->arena, plan->plugin_count, sizeof *plan->plugins);
  TENON_TRY_MEMORY(plan->plugins != NULL);
  for (uint32_t k = 0; k < plan->plugin_count; ++k) {
    plan->plugins[k].name = tenon__read_string(&reader->bytes);
    plan->plugins[k].version = tenon__read_string(&reader->bytes);
    read_digest(reader, &plan->plugins[k].digest);
  }
  return TENON_OK;
}

/* The bytes of a blob, NULL (reported) when it lies outside of the data or is not aligned. */
static const uint8_t* find_blob(const tenon__plan_reader_t* reader, uint64_t offset,
                                uint64_t size_bytes, const char* name) {
  const size_t data_size = reader->file_size - reader->data_offset;
  if (offset % TENON_PLAN_BLOB_ALIGNMENT != 0 || offset > data_size ||
      size_bytes > data_size - offset) {
    (void)tenon__plan_broken(reader, "the bytes of '%s' do not lie within it", name);
    return NULL;
  }
  return reader->file + reader->data_offset + offset;
}

static tenon_status_t read_strings(const tenon__plan_reader_t* reader, const uint8_t* blob,
                                   uint64_t blob_size, uint64_t count, tenon__weights_t* weights) {
  if (count > blob_size / sizeof(uint64_t)) {
    return tenon__plan_broken(reader, "the strings of '%s' end early", weights->name);
  }
  tenon_string_view_t* strings =
      tenon__arena_allocate(&reader->plan->arena, count, sizeof *strings);
  TENON_TRY_MEMORY(strings != NULL);
  tenon__byte_reader_t sizes;
  tenon__byte_reader_t text;
  tenon__byte_reader_initialize(&sizes, blob, count * sizeof(uint64_t));
  tenon__byte_reader_initialize(&text, blob + sizes.size, blob_size - sizes.size);
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t size = tenon__read_u64(&sizes);
    strings[k].data = tenon__read_view(&text, size);
    strings[k].size = size;
    if (text.failed) {
      return tenon__plan_broken(reader, "the strings of '%s' end early", weights->name);
    }
  }
  weights->data = strings;
  weights->size_bytes = count * sizeof *strings;
  return TENON_OK;
}

static tenon_status_t read_weights_bytes(const tenon__plan_reader_t* reader, uint64_t offset,
                                         uint64_t size_bytes, tenon__weights_t* weights) {
  const uint8_t* blob = find_blob(reader, offset, size_bytes, weights->name);
  uint64_t count = 0;
  size_t expected = 0;
  if (blob == NULL) {
    return TENON_ERROR_INVALID_DATA;
  }
  if (!tenon__element_count(weights->rank, weights->dims, &count) ||
      !tenon__dtype_bytes(weights->dtype, count, &expected)) {
    return tenon__plan_broken(reader, "weights '%s' have no size", weights->name);
  }
  if (weights->dtype == TENON_DTYPE_STRING) {
    return read_strings(reader, blob, size_bytes, count, weights);
  }
  if (size_bytes != expected) {
    return tenon__plan_broken(reader, "weights '%s' have %llu bytes instead of %zu", weights->name,
                              (unsigned long long)size_bytes, expected);
  }
  weights->data = blob;
  weights->size_bytes = expected;
  return TENON_OK;
}

static tenon_status_t read_weights(tenon__plan_reader_t* reader) {
  tenon__plan_t* plan = reader->plan;
  tenon__network_t* network = plan->network;
  const uint32_t count = tenon__read_u32(&reader->bytes);
  bool* kept = tenon__arena_allocate(&plan->arena, network->weights_count, sizeof *kept);
  TENON_TRY_MEMORY(kept != NULL);
  if (reader->bytes.failed || count != network->weights_count) {
    return tenon__plan_broken(reader, "it lists %u of %u weights", count, network->weights_count);
  }
  for (uint32_t k = 0; k < count; ++k) {
    tenon__weights_t* weights = &network->weights[k];
    kept[k] = tenon__read_u8(&reader->bytes) != 0;
    const uint64_t offset = tenon__read_u64(&reader->bytes);
    const uint64_t size_bytes = tenon__read_u64(&reader->bytes);
    read_digest(reader, &weights->digest);
    weights->digest_known = true;
    weights->data = NULL;
    weights->owned = false;
    TENON_TRY(kept[k] ? read_weights_bytes(reader, offset, size_bytes, weights) : TENON_OK);
  }
  plan->weights_kept = kept;
  return TENON_OK;
}

static tenon_status_t read_packed(tenon__plan_reader_t* reader) {
  tenon__plan_t* plan = reader->plan;
  plan->packed_count = tenon__read_count(&reader->bytes, 85);
  tenon__digest_t* digests =
      tenon__arena_allocate(&plan->arena, plan->packed_count, sizeof *digests);
  plan->packed = tenon__arena_allocate(&plan->arena, plan->packed_count, sizeof *plan->packed);
  TENON_TRY_MEMORY(plan->packed != NULL && digests != NULL);
  for (uint32_t k = 0; k < plan->packed_count; ++k) {
    tenon__packed_t* packed = &plan->packed[k];
    read_digest(reader, &packed->key);
    packed->format = tenon__read_string(&reader->bytes);
    const uint64_t offset = tenon__read_u64(&reader->bytes);
    packed->size_bytes = tenon__read_u64(&reader->bytes);
    read_digest(reader, &digests[k]);
    packed->data = find_blob(reader, offset, packed->size_bytes, packed->format);
    if (packed->data == NULL) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  plan->packed_digests = digests;
  return TENON_OK;
}

static tenon_status_t read_extents(tenon__plan_reader_t* reader, uint32_t symbol_count,
                                   tenon__extents_end_t end, tenon__extents_t* out_extents) {
  TENON_TRY(tenon__extents_create(&reader->plan->arena, reader->plan->network->pool, out_extents));
  out_extents->end = end;
  for (uint32_t k = 0; k < symbol_count; ++k) {
    const bool is_known = tenon__read_u8(&reader->bytes) != 0;
    const int64_t value = tenon__read_i64(&reader->bytes);
    if (is_known) {
      tenon__extents_set(out_extents, k, value);
    }
  }
  tenon__extents_update(out_extents);
  return TENON_OK;
}

static tenon_status_t read_profile(tenon__plan_reader_t* reader) {
  tenon__profile_t* profile = &reader->plan->profile;
  const uint32_t count = tenon__read_u32(&reader->bytes);
  if (reader->bytes.failed || count > tenon__symbol_count(reader->plan->network->pool)) {
    return tenon__plan_broken(reader, "its profile knows %u symbols", count);
  }
  TENON_TRY(read_extents(reader, count, TENON_EXTENTS_LEAST, &profile->min));
  TENON_TRY(read_extents(reader, count, TENON_EXTENTS_POINT, &profile->optimum));
  return read_extents(reader, count, TENON_EXTENTS_MOST, &profile->max);
}

static tenon_status_t read_names(tenon__plan_reader_t* reader, tenon__names_t* out_names) {
  out_names->count = tenon__read_count(&reader->bytes, 5);
  const char** items =
      tenon__arena_allocate(&reader->plan->arena, out_names->count + 1u, sizeof *items);
  TENON_TRY_MEMORY(items != NULL);
  for (uint32_t k = 0; k < out_names->count; ++k) {
    items[k] = tenon__read_string(&reader->bytes);
  }
  out_names->items = items;
  return TENON_OK;
}

/* The network is read when it is needed: see core/builder/original.c. */
static tenon_status_t read_original(tenon__plan_reader_t* reader) {
  tenon__plan_original_t* original = &reader->plan->original;
  if (reader->bytes.size == 0) {
    return TENON_OK;
  }
  original->patch_limit = tenon__read_u32(&reader->bytes);
  original->workspace_limit_bytes = tenon__read_u64(&reader->bytes);
  TENON_TRY(read_names(reader, &original->exclude));
  TENON_TRY(read_names(reader, &original->node_devices));
  TENON_TRY(read_names(reader, &original->kept));
  read_digest(reader, &original->optimised);
  const uint64_t size = tenon__read_u64(&reader->bytes);
  original->data = tenon__read_view(&reader->bytes, size);
  original->size_bytes = original->data == NULL ? 0 : size;
  return TENON_OK;
}

/* ---- The whole ---- */

typedef struct section_t {
  uint32_t name;
  const char* text;
  tenon_status_t (*read)(tenon__plan_reader_t* reader);
} section_t;

typedef struct finder_t {
  tenon__find_operator_t find;
  void* user;
} finder_t;

/* Kernels trust that shapes follow from one another as their operators say. */
static tenon_status_t read_network(tenon__plan_reader_t* reader, const finder_t* finder) {
  TENON_TRY(tenon__network_read(reader->plan->allocator, &reader->bytes, finder->find, finder->user,
                                reader->sink, &reader->plan->network));
  tenon__requirements_t requirements = {.arena = &reader->plan->arena};
  const tenon_status_t status =
      tenon__network_verify_for_run(reader->plan->network, &requirements, reader->sink);
  reader->plan->requirement_count = requirements.count;
  reader->plan->requirements = requirements.items;
  return status == TENON_ERROR_INTERNAL ? TENON_ERROR_INVALID_DATA : status;
}

static tenon_status_t read_section(tenon__plan_reader_t* reader, tenon__byte_reader_t* structure,
                                   const section_t* section, const finder_t* finder) {
  const uint32_t name = tenon__read_u32(structure);
  const uint64_t size = tenon__read_u64(structure);
  const void* bytes = tenon__read_view(structure, size);
  if (bytes == NULL || name != section->name) {
    return tenon__plan_broken(reader, "section '%s' is missing", section->text);
  }
  tenon__byte_reader_initialize(&reader->bytes, bytes, size);
  if (section->read != NULL) {
    TENON_TRY(section->read(reader));
  } else {
    TENON_TRY(read_network(reader, finder));
  }
  if (reader->bytes.failed || reader->bytes.position != reader->bytes.size) {
    return tenon__plan_broken(reader, "section '%s' has too few or too many bytes", section->text);
  }
  return TENON_OK;
}

static tenon_status_t read_all(tenon__plan_reader_t* reader, const finder_t* finder) {
  static const section_t sections[] = {
      {TENON_PLAN_SECTION_SUMMARY, "summary", read_summary},
      {TENON_PLAN_SECTION_PLUGINS, "plugins", read_plugins},
      {TENON_PLAN_SECTION_NETWORK, "network", NULL},
      {TENON_PLAN_SECTION_WEIGHTS, "weights", read_weights},
      {TENON_PLAN_SECTION_SCHEDULES, "schedules", tenon__schedules_read},
      {TENON_PLAN_SECTION_PROFILE, "profile", read_profile},
      {TENON_PLAN_SECTION_PACKED, "packed weights", read_packed},
      {TENON_PLAN_SECTION_ORIGINAL, "original network", read_original},
  };
  tenon__byte_reader_t structure;
  TENON_TRY(read_header(reader, &structure));
  for (size_t k = 0; k < sizeof sections / sizeof sections[0]; ++k) {
    TENON_TRY(read_section(reader, &structure, &sections[k], finder));
  }
  if (structure.position != structure.size) {
    return tenon__plan_broken(reader, "there is more in it than belongs there");
  }
  return tenon__schedules_check(reader->plan, reader->sink);
}

tenon_status_t tenon__plan_read(tenon_allocator_t allocator, const tenon__plan_source_t* source,
                                const tenon_sink_t* sink, tenon__plan_t** out_plan) {
  if ((uintptr_t)source->data % TENON_PLAN_BLOB_ALIGNMENT != 0) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "a plan must lie at an address that is a multiple of %u",
                       TENON_PLAN_BLOB_ALIGNMENT);
  }
  tenon__plan_t* plan = NULL;
  TENON_TRY(tenon__plan_create(allocator, &plan));
  tenon__plan_reader_t reader = {
      .plan = plan, .sink = sink, .file = source->data, .file_size = source->size_bytes};
  const finder_t finder = {.find = source->find, .user = source->find_user};
  const tenon_status_t status = read_all(&reader, &finder);
  plan->cold_data = reader.file + reader.cold_offset;
  plan->cold_size = source->size_bytes - reader.cold_offset;
  if (status != TENON_OK) {
    tenon__plan_destroy(plan);
    return status;
  }
  *out_plan = plan;
  return TENON_OK;
}

/* ---- Verifying ---- */

static bool is_cold(const tenon__plan_t* plan, const void* data) {
  const char* begin = plan->cold_data;
  return begin != NULL && (const char*)data >= begin && (const char*)data < begin + plan->cold_size;
}

tenon_status_t tenon__plan_verify(const tenon__plan_t* plan, bool read_only,
                                  const tenon_sink_t* sink) {
  for (uint32_t k = 0; k < plan->network->weights_count; ++k) {
    const tenon__weights_t* weights = &plan->network->weights[k];
    if (weights->data == NULL || !weights->digest_known ||
        (read_only && is_cold(plan, weights->data))) {
      continue;
    }
    const tenon__digest_t digest = tenon__weights_digest_now(weights, NULL);
    if (memcmp(&digest, &weights->digest, sizeof digest) != 0) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "the plan is damaged: the bytes of weights '%s' have changed",
                         weights->name);
    }
  }
  for (uint32_t k = 0; plan->packed_digests != NULL && k < plan->packed_count; ++k) {
    const tenon__packed_t* packed = &plan->packed[k];
    const tenon__digest_t digest = tenon__digest_of(packed->data, packed->size_bytes);
    if (memcmp(&digest, &plan->packed_digests[k], sizeof digest) != 0) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "the plan is damaged: packed weights %u, format '%s', have changed", k,
                         packed->format);
    }
  }
  return TENON_OK;
}
