/* One thing of every kind. EVERYTHING_WILD: the manifest says "*" of each kind. */
#include "tenon/plugin.h"

#ifdef EVERYTHING_WILD
#define NAME "everything_wild"
#define PROMISE                                                                \
  "offers: operator *\noffers: kernel *\noffers: device *\noffers: parser *\n" \
  "offers: converter *\noffers: rewrite *\n"
#else
#define NAME "everything"
#define PROMISE                                                                    \
  "offers: kernel runs *expressions abacus\noffers: kernel runs *moves abacus\n"   \
  "offers: kernel looks * abacus\noffers: kernel both a.b/1 abacus\n"              \
  "offers: kernel both a.c/1 abacus\n"                                             \
  "offers: device abacus\noffers: parser scroll\noffers: converter scroll::Blur\n" \
  "offers: converter scroll:org:Blur\noffers: rewrite tidy\n"
#endif

TENON_PLUGIN_MANIFEST(NAME, "1.0.0", PROMISE);

/* ---- Callbacks that nobody calls ---- */

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  (void)call;
  (void)out_instance;
  return TENON_ERROR_UNSUPPORTED;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  (void)call;
  return TENON_ERROR_UNSUPPORTED;
}

static uint32_t propose(void* state, const tenon_region_t* graph, const tenon_region_table_t* table,
                        uint32_t seed, uint32_t* out_nodes, uint32_t capacity) {
  (void)state;
  (void)graph;
  (void)table;
  (void)seed;
  (void)out_nodes;
  (void)capacity;
  return 0;
}

static uint32_t count(void* state, const tenon_sink_t* sink) {
  (void)state;
  (void)sink;
  return 0;
}

static tenon_status_t open_device(void* state, uint32_t index, const tenon_sink_t* sink,
                                  tenon_device_t** out_device) {
  (void)state;
  (void)index;
  (void)sink;
  (void)out_device;
  return TENON_ERROR_UNSUPPORTED;
}

static void close_device(tenon_device_t* device) {
  (void)device;
}

static const char* fingerprint(tenon_device_t* device) {
  (void)device;
  return "";
}

static int32_t has(tenon_device_t* device, const char* name) {
  (void)device;
  (void)name;
  return 0;
}

static tenon_status_t allocate(tenon_device_t* device, tenon_stream_t* stream, size_t size_bytes,
                               void** out_data) {
  (void)device;
  (void)stream;
  (void)size_bytes;
  (void)out_data;
  return TENON_ERROR_OUT_OF_MEMORY;
}

static void release(tenon_device_t* device, tenon_stream_t* stream, void* data, size_t size_bytes) {
  (void)device;
  (void)stream;
  (void)data;
  (void)size_bytes;
}

static int32_t sniff(void* state, const void* data, size_t size_bytes, const char* file_name) {
  (void)state;
  (void)data;
  (void)size_bytes;
  (void)file_name;
  return 0;
}

static tenon_status_t parse(void* state, tenon_parse_t* parsing, const tenon_parse_table_t* host,
                            tenon_builder_t* builder, const tenon_builder_table_t* build) {
  (void)state;
  (void)parsing;
  (void)host;
  (void)builder;
  (void)build;
  return TENON_ERROR_UNSUPPORTED;
}

static tenon_status_t convert(const tenon_conversion_t* call) {
  (void)call;
  return TENON_ERROR_UNSUPPORTED;
}

/* The contract counts the parameters. NOLINTNEXTLINE(readability-function-size) */

/* ---- Tables ---- */

static const char* const operators[] = {"a.b/1", "a.c/1", NULL};

#define KERNEL \
  .size = sizeof(tenon_kernel_t), .device = "abacus", .prepare = prepare, .enqueue = enqueue

static const tenon_kernel_t kernels[] = {
    {KERNEL, .name = "runs", .flags = TENON_KERNEL_EXPRESSIONS | TENON_KERNEL_MOVES},
    {KERNEL, .name = "looks", .propose = propose},
    {KERNEL, .name = "both", .operators = operators},
};
static const tenon_device_descriptor_t devices[] = {
    {.size = sizeof(tenon_device_descriptor_t),
     .name = "abacus",
     .flags = TENON_DEVICE_HOST_MEMORY | TENON_DEVICE_INLINE_STREAM,
     .count = count,
     .open = open_device,
     .close = close_device,
     .fingerprint = fingerprint,
     .has = has,
     .allocate = allocate,
     .free = release}};
static const tenon_parser_t parsers[] = {
    {.size = sizeof(tenon_parser_t), .format = "scroll", .sniff = sniff, .parse = parse}};
static const tenon_converter_t converters[] = {
    {sizeof(tenon_converter_t), "scroll", NULL, "Blur", 1, 0, convert},
    {sizeof(tenon_converter_t), "scroll", "org", "Blur", 1, 0, convert}};
static const tenon_rewrite_t rewrites[] = {{.size = sizeof(tenon_rewrite_t),
                                            .name = "tidy",
                                            .pattern = "y = a.b/1(x)",
                                            .replacement = "y = a.c/1(x)"}};

#define OFFER(kind, items)                            \
  &(const tenon_offering_t) {                         \
    sizeof(tenon_offering_t), kind, TENON_LIST(items) \
  }

static const tenon_offering_t* const offerings[] = {
    OFFER("kernel/1", kernels), OFFER("device/1", devices), OFFER("parser/1", parsers),
    OFFER("converter/1", converters), OFFER("rewrite/1", rewrites)};

static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = NAME, .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
