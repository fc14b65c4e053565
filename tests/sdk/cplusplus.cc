/* The headers as C++ reads them; what C's macros make, C++'s make too. */
#include "tenon/maker.h"
#include "tenon/narrow.h"
#include "tenon/plugin.h"
#include "tenon/plugin.hpp"
#include "tenon/reader.h"
#include "tenon/tenon.h"

TENON_PLUGIN_MANIFEST("cplusplus", "1.0.0", "licence: Apache-2.0\n");

#if TENON_VERSION_MAJOR == 0 && TENON_VERSION_MINOR < 1
#error "the version cannot be asked for"
#endif

/* A plugin: lists in any C++, descriptors by the names of their members from C++20 on. */
static const tenon_port_t ports[] = {{sizeof(ports[0]), "x", "f32", nullptr, nullptr, 0, 0}};
static const tenon_list_t port_list = TENON_LIST(ports);

static void make_shift(tenon_make_t* make) {
  tenon_make_same(make);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON_MAKE_ROW(convert, "onnx", "com.acme", "Shift", 1, 0, make_shift, "acme.shift/1", "by")};
static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

#if __cplusplus >= 202002L
static const tenon_operator_t operators[] = {{.size = sizeof(operators[0]),
                                              .name = "acme.shift/1",
                                              .inputs = TENON_LIST(ports),
                                              .outputs = TENON_LIST(ports)}};
static const tenon_offering_t acme_operators = TENON_OFFERING_OF("operator/1", operators);
static const tenon_offering_t acme_converters = TENON_OFFERING_OF("converter/1", rows);
static const tenon_offering_t* const offerings[] = {&acme_operators, &acme_converters};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "cplusplus", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

static bool is_plugin_right() {
  return plugin.offerings.count == 2 && plugin.offerings.stride == sizeof(void*) &&
         acme_operators.items.stride == sizeof(tenon_operator_t) &&
         operators[0].inputs.items == ports;
}
#else
static bool is_plugin_right() {
  return rows[0].converter.convert == convert;
}
#endif

static const tenon_offering_t offered = tenon::offering("converter/1", rows);

/* What plugin.hpp adds. */
static bool are_helpers_right() {
  static const int64_t dims[] = {2, 3, 5};
  const tenon_list_t helped_list = tenon::list(ports);
  tenon_tensor_view_t view = tenon_tensor_view_t();
  view.dims = dims;
  view.rank = 3;
  return tenon::sized<tenon_kernel_t>().size == sizeof(tenon_kernel_t) &&
         tenon::sized<tenon_kernel_t>().match == nullptr && helped_list.items == ports &&
         helped_list.count == 1 && helped_list.stride == sizeof(tenon_port_t) &&
         offered.size == sizeof(offered) && offered.items.stride == sizeof(tenon_make_row_t) &&
         tenon::elements(view, 0, 2) == 6 && tenon::elements(view, 0, 0) == 1 &&
         tenon::guarded([]() { return tenon_status_t{TENON_ERROR_IO}; }) == TENON_ERROR_IO;
}

static bool are_numbers_right() {
  return port_list.count == 1 && port_list.stride == sizeof(tenon_port_t) &&
         tenon_f16_of(1) == 0x3C00 && tenon_wide_of(TENON_DTYPE_FLOAT16, 1) > 0 &&
         tenon_wide_of(TENON_DTYPE_BFLOAT16, tenon_bf16_of(2)) == 2;
}

static bool are_options_right() {
  const tenon_build_options_t build = TENON_OPTIONS(tenon_build_options_t);
  const tenon_registry_options_t registry = TENON_OPTIONS(tenon_registry_options_t);
  return build.size == sizeof(tenon_build_options_t) && build.profiles.items == nullptr &&
         build.time_budget_seconds == 0 && build.keep_refusals == 0 &&
         registry.size == sizeof(tenon_registry_options_t) && registry.logger.report == nullptr;
}

static bool are_attributes_right() {
  static const int64_t pads[] = {1, 2, 3};
  const tenon_attribute_t attributes[] = {TENON_INT("axis", -1), TENON_FLOAT("alpha", 0.5),
                                          TENON_TEXT("mode", "edge"), TENON_INTS("pads", pads),
                                          TENON_TYPE("to", TENON_DTYPE_FLOAT32)};
  return attributes[0].kind == TENON_ATTRIBUTE_INT && attributes[0].integer == -1 &&
         attributes[1].kind == TENON_ATTRIBUTE_FLOAT && attributes[1].number == 0.5 &&
         attributes[2].kind == TENON_ATTRIBUTE_STRING && attributes[2].string[0] == 'e' &&
         attributes[3].kind == TENON_ATTRIBUTE_INTS && attributes[3].count == 3 &&
         attributes[3].integers == pads && attributes[4].kind == TENON_ATTRIBUTE_DTYPE &&
         attributes[4].integer == TENON_DTYPE_FLOAT32;
}

static void* allocate(tenon_parse_t* parse, size_t size_bytes) {
  static uint8_t memory[1 << 17];
  static size_t used = 0;
  (void)parse;
  used += size_bytes;
  return used <= sizeof(memory) ? memory + used - size_bytes : nullptr;
}

static const tenon_sink_t* no_sink(tenon_parse_t* parse) {
  (void)parse;
  return nullptr;
}

static tenon_status_t read_text(tenon_reader_t* reader, const char* data, size_t size,
                                tenon_reader_literal_t* out_literal) {
  tenon_reader_text_t text;
  tenon_reader_message_t message;
  TENON_READER_TRY(tenon_reader_text_begin(reader, data, size, 1, &text, &message));
  TENON_READER_TRY(tenon_reader_text_field(&text, &message));
  TENON_READER_TRY(tenon_reader_text_value(&text, &message));
  return tenon_reader_text_literal(&text, out_literal);
}

static bool is_reader_right() {
  tenon_parse_table_t host = tenon_parse_table_t();
  tenon_reader_t reader;
  tenon_reader_literal_t literal;
  tenon_reader_record_t record;
  tenon_reader_names_t names = tenon_reader_names_t();
  const uint8_t bytes[] = {0x08, 0xAC, 0x02};
  const uint8_t* at = bytes;
  host.size = sizeof(host);
  host.allocate = allocate;
  host.sink = no_sink;
  tenon_reader_initialize(&reader, nullptr, &host, nullptr, nullptr);
  return tenon_reader_read_record(&at, bytes + sizeof(bytes), &record) && record.value == 300 &&
         tenon_reader_names_set(&reader, &names, "a", &host) == TENON_OK &&
         tenon_reader_names_find(&names, "a") == &host &&
         read_text(&reader, "axis: -3", 8, &literal) == TENON_OK &&
         tenon_reader_literal_int64(&literal) == -3;
}

static bool is_library_there() {
  tenon_registry_t* registry = nullptr;
  tenon_network_t* network = nullptr;
  const bool good = tenon_registry_create(nullptr, &registry) == TENON_OK &&
                    tenon_registry_plugin_count(registry) > 0 &&
                    tenon_network_create(registry, &network) == TENON_OK &&
                    tenon_version()[0] == '0' + TENON_VERSION_MAJOR;
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return good;
}

int main() {
  return !are_options_right()      ? 1
         : !are_attributes_right() ? 2
         : !is_library_there()     ? 3
         : !is_reader_right()      ? 4
         : !are_numbers_right()    ? 5
         : !is_plugin_right()      ? 6
         : !are_helpers_right()    ? 7
                                   : 0;
}
