/* Loads every plugin of a folder and prints what their manifests promise and what they register,
 * one a line: "operator standard.add/1", "device cpu", "parser onnx", "converter onnx::Add". Fails
 * when a plugin is refused, for its names would be missing; one that cannot start on this machine
 * is known by its manifest. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/allocator.h"
#include "core/catalog/catalog.h"
#include "plugin_registry/registry.h"

enum { LIMIT = 16384 };

static void report(void* user, int32_t severity, const char* message) {
  (void)user;
  if (severity >= TENON_SEVERITY_WARNING) {
    (void)fprintf(stderr, "%s\n", message);
  }
}

/* A driver may be absent here. */
static bool is_fault(const tenon__candidate_info_t* info) {
  return info->state == TENON_CANDIDATE_REFUSED &&
         info->reason != TENON_PLUGIN_REASON_START_FAILED &&
         info->reason != TENON_PLUGIN_REASON_LOAD_FAILED &&
         info->reason != TENON_PLUGIN_REASON_DECLINED;
}

/* How many plugins were refused. Prints the lines of the manifests. */
static uint32_t load_all(tenon__registry_t* registry, const tenon_sink_t* sink) {
  uint32_t refused = 0;
  const uint32_t count = tenon__registry_candidate_count(registry);
  for (uint32_t i = 0; i < count; ++i) {
    (void)tenon__registry_load(registry, i, sink);
    tenon__candidate_info_t info;
    if (tenon__registry_candidate(registry, i, &info) == TENON_OK) {
      refused += is_fault(&info) ? 1 : 0;
      (void)fputs(info.offers, stdout);
    }
  }
  return count == 0 ? 1 : refused;
}

static void print_all(tenon__catalog_t* catalog, const tenon_sink_t* sink) {
  static const tenon__operator_t* operators[LIMIT];
  static const tenon__device_entry_t* devices[LIMIT];
  static const tenon__parser_entry_t* parsers[LIMIT];
  static const tenon__converter_entry_t* converters[LIMIT];
  uint32_t count = tenon__catalog_operators(catalog, sink, operators, LIMIT);
  for (uint32_t i = 0; i < count && i < LIMIT; ++i) {
    (void)printf("operator %s\n", operators[i]->name);
  }
  count = tenon__catalog_all(catalog, TENON_OFFER_DEVICE, sink, devices, LIMIT);
  for (uint32_t i = 0; i < count && i < LIMIT; ++i) {
    (void)printf("device %s\n", devices[i]->device.name);
  }
  count = tenon__catalog_all(catalog, TENON_OFFER_PARSER, sink, parsers, LIMIT);
  for (uint32_t i = 0; i < count && i < LIMIT; ++i) {
    (void)printf("parser %s\n", parsers[i]->parser.format);
  }
  count = tenon__catalog_all(catalog, TENON_OFFER_CONVERTER, sink, converters, LIMIT);
  for (uint32_t i = 0; i < count && i < LIMIT; ++i) {
    const tenon_converter_t* converter = &converters[i]->converter;
    (void)printf("converter %s:%s:%s\n", converter->format, converter->domain, converter->type);
  }
}

int main(int argc, char** argv) {
  const tenon_sink_t sink = {NULL, report};
  tenon__catalog_t* catalog = NULL;
  tenon__registry_t* registry = NULL;
  if (argc != 2 || tenon__catalog_create(tenon__allocator_default(), &catalog) != TENON_OK) {
    (void)fprintf(stderr, "usage: names_dump PLUGIN_FOLDER\n");
    return 1;
  }
  const char* const paths[] = {argv[1], NULL};
  const tenon__registry_options_t options = {.paths = paths,
                                             .only_paths = true,
                                             .allocator = tenon__allocator_default(),
                                             .sink = sink,
                                             .catalog = catalog};
  if (tenon__registry_create(&options, &registry) != TENON_OK ||
      tenon__registry_scan(registry, &sink) != TENON_OK) {
    return 1;
  }
  const uint32_t refused = load_all(registry, &sink);
  print_all(catalog, &sink);
  tenon__catalog_destroy(catalog);
  tenon__registry_destroy(registry);
  if (refused != 0) {
    (void)fprintf(stderr, "names_dump: %u plugins were refused, or none is there\n", refused);
  }
  return refused == 0 ? 0 : 1;
}
