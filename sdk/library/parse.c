/* tenon.h: parsing. Lends files and converters to a parser. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "sdk/library/library.h"

enum { MOST_PARTS = 8, MOST_PARSERS = 64, MOST_REPORTED = 40, MISSING_TEXT = 1500 };

struct tenon_parse_t {
  tenon_network_t* network;
  const tenon_parse_options_t* options;
  tenon__prefix_sink_t sink;
  char prefix[512];
  const char* format;
  char* folder; /* NULL: parsed from memory, other files are out of reach */
  const char* part_names[MOST_PARTS];
  const void* part_data[MOST_PARTS];
  size_t part_sizes[MOST_PARTS];
  uint32_t part_count;
  uint32_t missing_count;
  char missing[MISSING_TEXT];
  size_t missing_size;
};

static tenon_status_t keep_file(tenon_network_t* network, const tenon__mapped_file_t* file) {
  tenon__model_file_t* kept =
      tenon__allocate(network->registry->allocator, 1, sizeof *kept);
  if (kept == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  kept->file = *file;
  kept->next = network->files;
  network->files = kept;
  return TENON_OK;
}

static tenon_status_t open_file(tenon_parse_t* parse, const char* path, const void** out_data,
                                size_t* out_size) {
  tenon__mapped_file_t file;
  if (parse->folder == NULL) {
    return tenon__fail(&parse->sink.sink, TENON_ERROR_DENIED,
                       "file '%s' is out of reach: the model was given in memory", path);
  }
  TENON_TRY(tenon__file_map_inside(parse->folder, path, &parse->sink.sink, &file));
  const tenon_status_t status = keep_file(parse->network, &file);
  if (status != TENON_OK) {
    tenon__file_unmap(&file);
    return tenon__fail_memory(&parse->sink.sink);
  }
  *out_data = file.data;
  *out_size = file.size;
  return TENON_OK;
}

static tenon_status_t part(tenon_parse_t* parse, uint32_t index, const char** out_name,
                           const void** out_data, size_t* out_size) {
  if (index >= parse->part_count) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out_name = parse->part_names[index];
  *out_data = parse->part_data[index];
  *out_size = parse->part_sizes[index];
  return TENON_OK;
}

static uint32_t part_count(tenon_parse_t* parse) { return parse->part_count; }

static const tenon_converter_t* find_converter(tenon_parse_t* parse, const char* domain,
                                               const char* type, int64_t version,
                                               void** out_state) {
  const tenon__converter_entry_t* entry =
      tenon__catalog_converter(parse->network->registry->catalog, parse->format, domain, type,
                               version, &parse->sink.sink);
  if (entry == NULL) {
    return NULL;
  }
  *out_state = entry->owner->state;
  return &entry->converter;
}

static void* allocate(tenon_parse_t* parse, size_t size_bytes) {
  return tenon__arena_allocate(&parse->network->arena, size_bytes == 0 ? 1 : size_bytes, 1);
}

static void report_missing(tenon_parse_t* parse, const char* domain, const char* type,
                           int64_t version, const char* node) {
  parse->missing_count += 1;
  if (parse->missing_count > MOST_REPORTED || parse->missing_size >= MISSING_TEXT - 1) {
    return;
  }
  const int wanted = snprintf(parse->missing + parse->missing_size,
                              MISSING_TEXT - parse->missing_size, "\n  %s%s%s version %lld (node '%s')",
                              domain, domain[0] == 0 ? "" : "::", type, (long long)version, node);
  if (wanted > 0) {
    parse->missing_size += (size_t)wanted;
  }
}

static tenon_status_t input_shape(tenon_parse_t* parse, const char* input, uint32_t* out_rank,
                                  const int64_t** out_dims) {
  for (uint32_t k = 0; k < parse->options->shape_count; ++k) {
    if (strcmp(parse->options->shapes[k].name, input) == 0) {
      *out_rank = parse->options->shapes[k].rank;
      *out_dims = parse->options->shapes[k].dims;
      return TENON_OK;
    }
  }
  return TENON_ERROR_NOT_FOUND;
}

static const tenon_sink_t* parse_sink(tenon_parse_t* parse) { return &parse->sink.sink; }

static const tenon_parse_table_t kTable = {
    .size = sizeof(tenon_parse_table_t),
    .open_file = open_file,
    .part = part,
    .part_count = part_count,
    .find_converter = find_converter,
    .allocate = allocate,
    .report_missing = report_missing,
    .input_shape = input_shape,
    .sink = parse_sink,
};

/* The parser that is surest of the first part, or the one that was asked for. */
static const tenon__parser_entry_t* find_parser(tenon_parse_t* parse) {
  const tenon__parser_entry_t* entries[MOST_PARSERS];
  const tenon__parser_entry_t* best = NULL;
  int32_t surest = 0;
  tenon__catalog_t* catalog = parse->network->registry->catalog;
  if (parse->options->format != NULL) {
    return tenon__catalog_parser(catalog, parse->options->format, &parse->sink.sink);
  }
  const uint32_t count =
      tenon__catalog_parsers(catalog, &parse->sink.sink, entries, MOST_PARSERS);
  for (uint32_t k = 0; k < count && k < MOST_PARSERS; ++k) {
    const size_t seen = parse->part_sizes[0] < 65536 ? parse->part_sizes[0] : 65536;
    const int32_t sure = entries[k]->parser.sniff(entries[k]->owner->state, parse->part_data[0],
                                                  seen, parse->part_names[0]);
    if (sure > surest) {
      surest = sure;
      best = entries[k];
    }
  }
  return best;
}

static tenon_status_t run_parser(tenon_parse_t* parse) {
  const tenon_sink_t* sink = &parse->sink.sink;
  const tenon__parser_entry_t* entry = find_parser(parse);
  if (entry == NULL) {
    return tenon__fail(sink, TENON_ERROR_UNSUPPORTED, "no plugin offers a parser %s%s",
                       parse->options->format == NULL ? "that knows this file"
                                                      : "of the format ",
                       parse->options->format == NULL ? "" : parse->options->format);
  }
  parse->format = entry->parser.format;
  const tenon_status_t status =
      entry->parser.parse(entry->owner->state, parse, &kTable, parse->network->builder,
                          tenon__builder_table());
  if (parse->missing_count > 0) {
    return tenon__fail(sink, TENON_ERROR_UNSUPPORTED,
                       "%u nodes need operators that no plugin converts; a plugin with these "
                       "converters would do:%s%s",
                       parse->missing_count, parse->missing,
                       parse->missing_count > MOST_REPORTED ? "\n  ..." : "");
  }
  TENON_TRY(status);
  return tenon__builder_finish(parse->network->builder);
}

static tenon_status_t begin(tenon_network_t* network, const char* name, tenon_parse_t* parse,
                            const tenon_parse_options_t* options) {
  if (network->is_parsed || network->network->graphs[0]->value_count > 0) {
    return tenon__fail(&network->registry->logger, TENON_ERROR_INVALID_STATE,
                       "%s: the network is not empty", name);
  }
  network->is_parsed = true;
  network->file_name = tenon__arena_copy_string(&network->arena, name);
  parse->network = network;
  parse->options = options;
  (void)snprintf(parse->prefix, sizeof parse->prefix, "%s", name);
  tenon__prefix_sink_initialize(&parse->sink, &network->registry->logger, parse->prefix);
  return network->file_name == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t add_part(tenon_parse_t* parse, const char* path) {
  tenon__mapped_file_t file;
  if (parse->part_count == MOST_PARTS) {
    return tenon__fail(&parse->sink.sink, TENON_ERROR_INVALID_ARGUMENT, "more than %d parts",
                       MOST_PARTS);
  }
  TENON_TRY(tenon__file_map(path, &parse->network->registry->logger, &file));
  const tenon_status_t status = keep_file(parse->network, &file);
  if (status != TENON_OK) {
    tenon__file_unmap(&file);
    return status;
  }
  parse->part_names[parse->part_count] = tenon__arena_copy_string(&parse->network->arena, path);
  parse->part_data[parse->part_count] = file.data;
  parse->part_sizes[parse->part_count] = file.size;
  parse->part_count += 1;
  return TENON_OK;
}

TENON_API tenon_status_t tenon_network_parse_file(tenon_network_t* network, const char* path,
                                                  const tenon_parse_options_t* options) {
  tenon_parse_options_t own;
  tenon_parse_t parse = {0};
  if (network == NULL || path == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__options_copy(&own, sizeof own, options);
  TENON_TRY(begin(network, path, &parse, &own));
  TENON_TRY(add_part(&parse, path));
  for (const char* const* more = own.parts; more != NULL && *more != NULL; ++more) {
    TENON_TRY(add_part(&parse, *more));
  }
  parse.folder = tenon__arena_copy_string(&network->arena, path);
  if (parse.folder == NULL) {
    return tenon__fail_memory(&network->registry->logger);
  }
  char* slash = strrchr(parse.folder, '/');
  if (slash == NULL) {
    parse.folder[0] = 0;
    parse.folder = tenon__arena_copy_string(&network->arena, ".");
  } else {
    slash[slash == parse.folder ? 1 : 0] = 0;
  }
  return run_parser(&parse);
}

TENON_API tenon_status_t tenon_network_parse_memory(tenon_network_t* network, const void* data,
                                                    size_t size_bytes, const char* name,
                                                    const tenon_parse_options_t* options) {
  tenon_parse_options_t own;
  tenon_parse_t parse = {0};
  if (network == NULL || data == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__options_copy(&own, sizeof own, options);
  TENON_TRY(begin(network, name == NULL ? "memory" : name, &parse, &own));
  parse.part_names[0] = network->file_name;
  parse.part_data[0] = data;
  parse.part_sizes[0] = size_bytes;
  parse.part_count = 1;
  return run_parser(&parse);
}
