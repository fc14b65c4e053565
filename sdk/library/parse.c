/* Parsing: the parser that knows the file, and the table that it is lent. */
#include <stdio.h>
#include <string.h>

#include "core/base/c_locale.h"
#include "core/base/call.h"
#include "core/catalog/catalog.h"
#include "core/network/builder.h"
#include "sdk/library/description.h"
#include "sdk/library/parse.h"

enum { PARSER_LIMIT = 64, SNIFF_BYTES = 4096, SUREST = 100 };

/* ---- The table ---- */

/* The builder's, so that both are diverted together. */
static const tenon_sink_t* parse_sink(tenon_parse_t* parse) {
  return tenon__builder_table()->sink(parse->network->builder);
}

/* The parser knows for what the file is needed: it says so, and its error gets this reason. */
static void keep_reason(void* user, int32_t severity, const char* message) {
  tenon_parse_t* parse = user;
  (void)severity;
  (void)snprintf(parse->file_reason, sizeof(parse->file_reason), "%s", message);
}

static tenon_status_t open_file(tenon_parse_t* parse, const char* path, const void** out_data,
                                size_t* out_size) {
  const tenon_sink_t sink = {parse, keep_reason};
  tenon_network_t* network = parse->network;
  if (path == NULL) {
    *out_data = parse->parts[0].data;
    *out_size = parse->parts[0].size;
    return TENON_OK;
  }
  if (parse->folder == NULL) {
    return tenon__fail(&sink, TENON_ERROR_DENIED,
                       "the model was given as memory and has no folder");
  }
  for (size_t i = 0; i < network->file_count; ++i) {
    if (strcmp(network->files[i].name, path) == 0) {
      *out_data = network->files[i].file.data;
      *out_size = network->files[i].file.size;
      return TENON_OK;
    }
  }
  tenon__mapped_file_t file;
  const tenon__model_file_t* kept = NULL;
  TENON_TRY(tenon__file_map_inside(parse->folder, path, &sink, &file));
  const char* whole = tenon__arena_format(&parse->arena, "%s/%s",
                                          parse->folder[0] != '\0' ? parse->folder : ".", path);
  if (whole == NULL) {
    tenon__file_unmap(&file);
    return tenon__fail_memory(&sink);
  }
  TENON_TRY(tenon__network_adopt_file(network, whole, path, &file, &kept));
  *out_data = kept->file.data;
  *out_size = kept->file.size;
  return TENON_OK;
}

static tenon_status_t get_part(tenon_parse_t* parse, uint32_t index, const char** out_name,
                               const void** out_data, size_t* out_size) {
  if (index >= parse->part_count) {
    return tenon__fail(parse_sink(parse), TENON_ERROR_INVALID_ARGUMENT,
                       "the parser asks for part %u of %u", index, parse->part_count);
  }
  *out_name = parse->parts[index].name;
  *out_data = parse->parts[index].data;
  *out_size = parse->parts[index].size;
  return TENON_OK;
}

static uint32_t part_count(tenon_parse_t* parse) {
  return parse->part_count;
}

static void* allocate(tenon_parse_t* parse, size_t size_bytes) {
  return tenon__arena_allocate(&parse->arena, 1, size_bytes);
}

static tenon_status_t input_shape(tenon_parse_t* parse, const char* input, uint32_t* out_rank,
                                  const int64_t** out_dims) {
  for (uint32_t i = 0; i < parse->shapes.count; ++i) {
    const tenon_input_shape_t* shape = tenon__list_item(&parse->shapes, i);
    if (strcmp(shape->name, input) == 0) {
      *out_rank = shape->rank;
      *out_dims = shape->dims;
      return TENON_OK;
    }
  }
  for (uint32_t i = 0; i < parse->given_count; ++i) {
    if (strcmp(parse->given[i].name, input) == 0) {
      *out_rank = parse->given[i].view->rank;
      *out_dims = parse->given[i].view->dims;
      return TENON_OK;
    }
  }
  return TENON_ERROR_NOT_FOUND;
}

static const char* setting(tenon_parse_t* parse, const char* name) {
  const size_t length = strlen(name);
  if (parse->settings != NULL) {
    for (size_t i = 0; parse->settings[i] != NULL; ++i) {
      const char* text = parse->settings[i];
      if (strncmp(text, name, length) == 0 && text[length] == '=') {
        parse->asked[i] = true;
        return text + length + 1;
      }
    }
  }
  return NULL;
}

static const tenon_parse_table_t parse_table = {
    .size = sizeof(tenon_parse_table_t),
    .open_file = open_file,
    .part = get_part,
    .part_count = part_count,
    .find_converter = tenon__parse_find_converter,
    .allocate = allocate,
    .report_missing = tenon__describe_missing,
    .input_shape = input_shape,
    .sink = parse_sink,
    .setting = setting,
    .declare_value = tenon__describe_value,
    .declare_node = tenon__describe_node,
};

/* ---- Which parser ---- */

/* "uff (.uff .pb)": what a file of the format may be called. */
static size_t write_format(const tenon_parser_t* parser, bool is_first, char* out_text,
                           size_t size) {
  const char* extensions = parser->extensions != NULL ? parser->extensions : "";
  const bool has_any = extensions[0] != '\0';
  const int length = snprintf(out_text, size, "%s%s%s%s%s", is_first ? "" : ", ", parser->format,
                              has_any ? " (" : "", extensions, has_any ? ")" : "");
  for (char* c = out_text; c < out_text + size && *c != '\0'; ++c) {
    if (*c == ';') {
      *c = ' ';
    }
  }
  return length > 0 ? (size_t)length : 0;
}

static tenon_status_t fail_no_parser(const tenon_parse_t* parse,
                                     const tenon__parser_entry_t* const* entries, uint32_t count) {
  static const char plan_magic[] = "TENONPLN";
  const tenon_sink_t* sink = &parse->network->sink.sink;
  char formats[512] = "";
  size_t used = 0;
  const tenon__model_part_t* part = &parse->parts[0];
  if (part->size >= sizeof(plan_magic) - 1 &&
      memcmp(part->data, plan_magic, sizeof(plan_magic) - 1) == 0) {
    return tenon__fail(sink, TENON_ERROR_UNSUPPORTED,
                       "is a plan, not a model: tenon_engine_create_from_file loads it");
  }
  for (uint32_t i = 0; i < count && used < sizeof(formats); ++i) {
    used += write_format(&entries[i]->parser, i == 0, formats + used, sizeof(formats) - used);
  }
  return tenon__fail(sink, count == 0 ? TENON_ERROR_NOT_FOUND : TENON_ERROR_UNSUPPORTED,
                     count == 0 ? "cannot be read: no plugin offers a parser%s"
                                : "is of a format that no parser recognises; there are: %s",
                     formats);
}

/* Nobody is surer than sure: of two who are, the first on the search path reads the file. */
static int32_t sniff(const tenon__parser_entry_t* entry, const tenon__model_part_t* part) {
  const size_t size = part->size < SNIFF_BYTES ? part->size : SNIFF_BYTES;
  const tenon__call_t call = {entry->owner->plugin, "sniff", entry->parser.format, part->name};
  const tenon__call_t* outer = tenon__call_enter(&call);
  const int32_t sure = entry->parser.sniff(entry->owner->state, part->data, size, part->name);
  tenon__call_leave(outer);
  return sure < SUREST ? sure : SUREST;
}

static tenon_status_t choose_parser(tenon_parse_t* parse, const char* format,
                                    const tenon__parser_entry_t** out_entry) {
  tenon__catalog_t* catalog = parse->network->registry->catalog;
  const tenon_sink_t* sink = &parse->network->sink.sink;
  if (format != NULL) {
    *out_entry = tenon__catalog_parser(catalog, format, sink);
    return *out_entry != NULL ? TENON_OK
                              : tenon__fail(sink, TENON_ERROR_NOT_FOUND,
                                            "no plugin offers a parser for format '%s'", format);
  }
  const tenon__parser_entry_t* entries[PARSER_LIMIT];
  uint32_t count = tenon__catalog_all(catalog, TENON_OFFER_PARSER, sink, entries, PARSER_LIMIT);
  count = count < PARSER_LIMIT ? count : PARSER_LIMIT;
  const tenon__model_part_t* part = &parse->parts[0];
  int32_t surest = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const int32_t sure = sniff(entries[i], part);
    if (sure > surest) {
      surest = sure;
      *out_entry = entries[i];
    }
  }
  return surest > 0 ? TENON_OK : fail_no_parser(parse, entries, count);
}

/* ---- The parse ---- */

/* Counts errors, so that a parser which fails without a word is noticed, and adds why a file could
 * not be opened. */
typedef struct counting_t {
  tenon_sink_t sink;
  const tenon_sink_t* next;
  tenon_parse_t* parse;
  uint32_t error_count;
} counting_t;

static void count_and_pass(void* user, int32_t severity, const char* message) {
  counting_t* counting = user;
  char* reason = counting->parse->file_reason;
  const bool is_error = severity >= TENON_SEVERITY_ERROR;
  counting->error_count += is_error ? 1 : 0;
  if (is_error && reason[0] != '\0') {
    tenon__report(counting->next, severity, "%s: %s", message, reason);
    reason[0] = '\0';
  } else {
    tenon__report(counting->next, severity, "%s", message);
  }
}

/* Every value given must have found its input. */
static tenon_status_t check_given(const tenon_parse_t* parse) {
  for (uint32_t i = 0; i < parse->given_count; ++i) {
    if (!parse->given[i].is_used) {
      return tenon__fail(&parse->network->sink.sink, TENON_ERROR_INVALID_ARGUMENT,
                         "a value is given for input '%s', but no tensor among the inputs has that "
                         "name",
                         parse->given[i].name);
    }
  }
  return TENON_OK;
}

/* A parser that was to be told something must have listened. */
static tenon_status_t check_settings(const tenon_parse_t* parse) {
  for (size_t i = 0; parse->settings != NULL && parse->settings[i] != NULL; ++i) {
    if (!parse->asked[i]) {
      return tenon__fail(&parse->network->sink.sink, TENON_ERROR_INVALID_ARGUMENT,
                         "'%s' is set, which the parser for format '%s' does not know",
                         parse->settings[i], parse->format);
    }
  }
  return TENON_OK;
}

static tenon_status_t run_parser(tenon_parse_t* parse, const char* format) {
  tenon_network_t* network = parse->network;
  const tenon__parser_entry_t* entry = NULL;
  counting_t counting = {.next = network->sink.next, .parse = parse};
  counting.sink = (tenon_sink_t){&counting, count_and_pass};
  network->sink.next = &counting.sink;
  tenon_status_t status = choose_parser(parse, format, &entry);
  if (status == TENON_OK && entry != NULL) {
    parse->format = entry->parser.format;
    counting.error_count = 0; /* what was said while plugins were loaded is no reason */
    const tenon__call_t call = {entry->owner->plugin, "parse", entry->parser.format,
                                parse->parts[0].name};
    const tenon__call_t* outer = tenon__call_enter(&call);
    status = entry->parser.parse(entry->owner->state, parse, &parse_table, network->builder,
                                 tenon__builder_table());
    tenon__call_leave(outer);
  }
  if (parse->has_missing) {
    status = tenon__missing_report(parse);
  } else if (status == TENON_OK) {
    status = tenon__builder_finish(network->builder);
  }
  if (status == TENON_OK) {
    status = check_given(parse);
  }
  if (status == TENON_OK) {
    status = check_settings(parse);
  }
  if (status != TENON_OK && status != TENON_ERROR_OUT_OF_MEMORY && counting.error_count == 0) {
    status = tenon__fail(&network->sink.sink, status,
                         "cannot be parsed: parser '%s' of plugin %s did not say why: %s",
                         entry == NULL ? "" : entry->parser.format,
                         entry == NULL ? "" : entry->owner->plugin, tenon__status_text(status));
  }
  network->sink.next = counting.next;
  return status;
}

static size_t count_texts(const char* const* texts) {
  size_t count = 0;
  while (texts != NULL && texts[count] != NULL) {
    ++count;
  }
  return count;
}

static tenon_status_t parse_parts(tenon_network_t* network, tenon_parse_t* parse,
                                  const tenon_parse_options_t* options) {
  char* prefix = tenon__arena_format(&parse->arena, "%s: ", parse->parts[0].name);
  tenon__given_input_t* given =
      tenon__arena_allocate(&parse->arena, options->values.count + (size_t)1, sizeof(*given));
  bool* asked = tenon__arena_allocate(&parse->arena, count_texts(options->settings) + 1, 1);
  if (prefix == NULL || given == NULL || asked == NULL) {
    return tenon__fail_memory(&network->registry->sink);
  }
  for (uint32_t i = 0; i < options->values.count; ++i) {
    const tenon_input_value_t* value = tenon__list_item(&options->values, i);
    given[i] = (tenon__given_input_t){value->name, value->view, false};
  }
  parse->network = network;
  parse->shapes = options->shapes;
  parse->given = given;
  parse->given_count = options->values.count;
  parse->settings = options->settings;
  parse->asked = asked;
  tenon__builder_give_inputs(network->builder, given, options->values.count);
  network->sink.prefix = prefix;
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status = run_parser(parse, options->format);
  tenon__c_locale_leave(outer);
  tenon__builder_give_inputs(network->builder, NULL, 0);
  network->sink.prefix = "";
  return status;
}

static tenon_status_t check_options(const tenon_network_t* network, const char* function,
                                    const tenon_parse_options_t* options) {
  const tenon_sink_t* sink = &network->registry->sink;
  if (!tenon__network_is_empty(network)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_STATE, "%s: the network is not empty", function);
  }
  TENON_TRY(tenon__check_list(sink, function, "options->shapes", &options->shapes));
  for (uint32_t i = 0; i < options->shapes.count; ++i) {
    const tenon_input_shape_t* shape = tenon__list_item(&options->shapes, i);
    if (shape->name == NULL || shape->rank > 64 || (shape->rank > 0 && shape->dims == NULL)) {
      return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                         "%s: options->shapes[%u] has no name, no dims or too high a rank",
                         function, i);
    }
  }
  return TENON_OK;
}

static tenon_status_t check_values(const tenon_network_t* network, const char* function,
                                   const tenon_parse_options_t* options) {
  const tenon_sink_t* sink = &network->registry->sink;
  TENON_TRY(tenon__check_list(sink, function, "options->values", &options->values));
  for (uint32_t i = 0; i < options->values.count; ++i) {
    const tenon_input_value_t* value = tenon__list_item(&options->values, i);
    if (value->name == NULL || value->view == NULL || value->view->rank > 64 ||
        (value->view->rank > 0 && value->view->dims == NULL)) {
      return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                         "%s: options->values[%u] has no name, no view, no dims or too high a rank",
                         function, i);
    }
  }
  return TENON_OK;
}

static tenon_status_t map_part(tenon_network_t* network, const char* path,
                               tenon__model_part_t* out_part) {
  tenon__mapped_file_t file;
  const tenon__model_file_t* kept = NULL;
  TENON_TRY(tenon__file_map(path, &network->registry->sink, &file));
  const char* slash = strrchr(path, '/');
  TENON_TRY(
      tenon__network_adopt_file(network, path, slash != NULL ? slash + 1 : path, &file, &kept));
  *out_part = (tenon__model_part_t){kept->path, kept->file.data, kept->file.size};
  return TENON_OK;
}

static tenon_status_t parse_files(tenon_network_t* network, const char* path,
                                  const tenon_parse_options_t* options, tenon_parse_t* parse) {
  const size_t more = count_texts(options->parts);
  parse->parts = tenon__arena_allocate(&parse->arena, more + 1, sizeof(*parse->parts));
  if (parse->parts == NULL) {
    return tenon__fail_memory(&network->registry->sink);
  }
  const char* slash = strrchr(path, '/');
  parse->folder =
      slash == NULL
          ? tenon__arena_copy_string(&parse->arena, "")
          : tenon__arena_copy_text(&parse->arena, path, slash == path ? 1 : (size_t)(slash - path));
  if (parse->folder == NULL) {
    return tenon__fail_memory(&network->registry->sink);
  }
  for (size_t i = 0; i <= more; ++i) {
    TENON_TRY(map_part(network, i == 0 ? path : options->parts[i - 1], &parse->parts[i]));
    ++parse->part_count;
  }
  return parse_parts(network, parse, options);
}

static void begin_parse(tenon_parse_t* parse) {
  tenon__arena_initialize(&parse->arena, parse->network->registry->allocator);
  tenon__string_map_initialize(&parse->conversions, parse->network->registry->allocator);
  tenon__description_begin(parse);
}

/* A parse that fails leaves an empty network, and what the file says of itself. */
static tenon_status_t end_parse(tenon_network_t* network, const char* function,
                                tenon_parse_t* parse, tenon_status_t status) {
  tenon__description_end(parse, status != TENON_OK);
  tenon__string_map_deinitialize(&parse->conversions);
  tenon__arena_deinitialize(&parse->arena);
  if (status != TENON_OK) {
    (void)tenon__tell(&network->registry->sink, function, status);
    (void)tenon__network_reset(network);
  }
  return status;
}

tenon_status_t tenon_network_parse_file(tenon_network_t* network, const char* path,
                                        const tenon_parse_options_t* options) {
  tenon_parse_options_t own;
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  const tenon_sink_t* sink = &network->registry->sink;
  TENON_TRY(tenon__need(sink, __func__, "path", path != NULL));
  TENON_TRY(tenon__options_copy(sink, "tenon_parse_options_t", options, &own, sizeof(own)));
  TENON_TRY(check_options(network, __func__, &own));
  TENON_TRY(check_values(network, __func__, &own));
  tenon_parse_t parse = {.network = network};
  begin_parse(&parse);
  return end_parse(network, __func__, &parse, parse_files(network, path, &own, &parse));
}

tenon_status_t tenon_network_parse_memory(tenon_network_t* network, const void* data,
                                          size_t size_bytes, const char* name,
                                          const tenon_parse_options_t* options) {
  tenon_parse_options_t own;
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  const tenon_sink_t* sink = &network->registry->sink;
  TENON_TRY(tenon__need(sink, __func__, "data", data != NULL));
  TENON_TRY(tenon__options_copy(sink, "tenon_parse_options_t", options, &own, sizeof(own)));
  TENON_TRY(check_options(network, __func__, &own));
  TENON_TRY(check_values(network, __func__, &own));
  if (own.parts != NULL) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_network_parse_memory: parts are for files");
  }
  tenon__model_part_t part = {name != NULL ? name : "model", data, size_bytes};
  tenon_parse_t parse = {.network = network, .parts = &part, .part_count = 1};
  begin_parse(&parse);
  return end_parse(network, __func__, &parse, parse_parts(network, &parse, &own));
}
