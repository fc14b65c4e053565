/* Static descriptors of each kind, for tests of the catalogue. */
#ifndef TENON_CORE_CATALOG_TEST_CATALOG_H_
#define TENON_CORE_CATALOG_TEST_CATALOG_H_

#include "core/base/test.h"
#include "core/catalog/catalog.h"
#include "core/catalog/left_out.h"

/* ---- Descriptors ---- */

static const tenon_type_variable_t types[] = {
    {.size = sizeof(tenon_type_variable_t), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{.size = sizeof(tenon_port_t), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{.size = sizeof(tenon_port_t), .name = "y", .type = "T"}};
static const tenon_case_t twice[] = {{.size = sizeof(tenon_case_t), .text = "y = x + x"}};
static const tenon_case_t thrice[] = {{.size = sizeof(tenon_case_t), .text = "y = x * 3"}};
static const tenon_case_t faulty[] = {{.size = sizeof(tenon_case_t), .text = "y = = x"}};

static inline tenon_operator_t make_operator(const char* name, const tenon_case_t* meaning) {
  return (tenon_operator_t){.size = sizeof(tenon_operator_t),
                            .name = name,
                            .types = TENON_LIST(types),
                            .inputs = TENON_LIST(inputs),
                            .outputs = TENON_LIST(outputs),
                            .cases = {meaning, 1, sizeof(*meaning)}};
}

static inline tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  (void)call;
  (void)out_instance;
  return TENON_OK;
}

static inline tenon_status_t enqueue(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_OK;
}

static const char* const takes_twice[] = {"acme.twice/1", NULL};
static const char* const takes_both[] = {"acme.twice/1", "acme.thrice/1", NULL};

static inline tenon_kernel_t make_kernel(const char* name, const char* const* operators,
                                         uint32_t flags) {
  return (tenon_kernel_t){.size = sizeof(tenon_kernel_t),
                          .name = name,
                          .device = "cpu",
                          .operators = operators,
                          .flags = flags,
                          .prepare = prepare,
                          .enqueue = enqueue};
}

static inline tenon_status_t convert(const tenon_conversion_t* call) {
  (void)call;
  return TENON_OK;
}

static inline tenon_converter_t make_converter(const char* domain, const char* type, int64_t since,
                                               int64_t until) {
  return (tenon_converter_t){.size = sizeof(tenon_converter_t),
                             .format = "fmt",
                             .domain = domain,
                             .type = type,
                             .since = since,
                             .until = until,
                             .convert = convert};
}

static inline uint32_t count_devices(void* state, const tenon_sink_t* sink) {
  (void)state;
  (void)sink;
  return 1;
}

static inline tenon_status_t open_device(void* state, uint32_t index, const tenon_sink_t* sink,
                                         tenon_device_t** out_device) {
  (void)state;
  (void)index;
  (void)sink;
  (void)out_device;
  return TENON_ERROR_UNSUPPORTED;
}

static inline void close_device(tenon_device_t* device) {
  (void)device;
}

static inline const char* fingerprint(tenon_device_t* device) {
  (void)device;
  return "";
}

static inline int32_t has(tenon_device_t* device, const char* name) {
  (void)device;
  (void)name;
  return 0;
}

static inline tenon_status_t allocate(tenon_device_t* device, tenon_stream_t* stream,
                                      size_t size_bytes, void** out_data) {
  (void)device;
  (void)stream;
  (void)size_bytes;
  (void)out_data;
  return TENON_ERROR_OUT_OF_MEMORY;
}

static inline void release(tenon_device_t* device, tenon_stream_t* stream, void* data,
                           size_t size_bytes) {
  (void)device;
  (void)stream;
  (void)data;
  (void)size_bytes;
}

static inline tenon_device_descriptor_t make_device(const char* name, uint32_t flags) {
  return (tenon_device_descriptor_t){.size = sizeof(tenon_device_descriptor_t),
                                     .name = name,
                                     .flags = flags,
                                     .count = count_devices,
                                     .open = open_device,
                                     .close = close_device,
                                     .fingerprint = fingerprint,
                                     .has = has,
                                     .allocate = allocate,
                                     .free = release};
}

/* ---- Filling ---- */

typedef struct world_t {
  tenon__catalog_t* catalog;
  tenon__test_messages_t messages;
  const tenon_sink_t* sink;
} world_t;

static inline void begin(world_t* world) {
  world->sink = tenon__test_listen(&world->messages);
  EXPECT_STATUS(tenon__catalog_create(tenon__allocator_default(), &world->catalog), TENON_OK);
}

static inline void add(world_t* world, const tenon__owner_t* owner, const char* kind,
                       const void* items, uint32_t count, size_t stride) {
  const tenon_offering_t offering = {sizeof(offering), kind, {items, count, (uint32_t)stride}};
  EXPECT_STATUS(tenon__catalog_add(world->catalog, owner, &offering, world->sink), TENON_OK);
}

/* Returns the converter that is asked first; NULL: none. */
static inline const tenon__converter_entry_t* first_converter(const world_t* world,
                                                              const char* domain, const char* type,
                                                              int64_t version) {
  const tenon__node_key_t key = {"fmt", domain, type, version};
  const tenon__converter_entry_t* first = NULL;
  return tenon__catalog_converters(world->catalog, &key, world->sink, &first, 1) == 0 ? NULL
                                                                                      : first;
}

static const tenon__owner_t acme = {.plugin = "acme", .version = "1", .path = ""};
static const tenon__owner_t bond = {.plugin = "bond", .version = "2", .path = "/bond.so"};

#endif
