/* The host. */
#include "tests/support/fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block_t {
  struct block_t* next;
  max_align_t data[];
} block_t;

static tenon__fake_t* fake_of(tenon_parse_t* parse) {
  return (tenon__fake_t*)(void*)parse;
}

__attribute__((format(printf, 2, 3))) static void add_text(char text[TENON__FAKE_TEXT_SIZE],
                                                           const char* format, ...) {
  va_list arguments;
  const size_t used = strlen(text);
  va_start(arguments, format);
  (void)vsnprintf(text + used, TENON__FAKE_TEXT_SIZE - used, format, arguments);
  va_end(arguments);
}

void* tenon__fake_allocate(tenon__fake_t* fake, size_t size_bytes) {
  block_t* block = calloc(1, sizeof(block_t) + size_bytes);
  if (block == NULL) {
    return NULL;
  }
  block->next = fake->blocks;
  fake->blocks = block;
  return block->data;
}

static void* host_allocate(tenon_parse_t* parse, size_t size_bytes) {
  tenon__fake_t* fake = fake_of(parse);
  const bool fails = ++fake->allocation_count == fake->fail_at || size_bytes > ((size_t)1 << 30);
  return fails ? NULL : tenon__fake_allocate(fake, size_bytes);
}

static tenon_status_t host_open_file(tenon_parse_t* parse, const char* path, const void** out_data,
                                     size_t* out_size) {
  const tenon__fake_t* fake = fake_of(parse);
  if (path[0] == '/' || strstr(path, "..") != NULL) {
    return TENON_ERROR_DENIED;
  }
  if (fake->file_path == NULL || strcmp(fake->file_path, path) != 0) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out_data = fake->file_data;
  *out_size = fake->file_size;
  return TENON_OK;
}

static tenon_status_t host_part(tenon_parse_t* parse, uint32_t index, const char** out_name,
                                const void** out_data, size_t* out_size) {
  static const char* const names[TENON__FAKE_PART_LIMIT] = {"part 0", "part 1", "part 2"};
  const tenon__fake_t* fake = fake_of(parse);
  if (index >= fake->part_count) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out_name = names[index];
  *out_data = fake->parts[index].data;
  *out_size = fake->parts[index].size;
  return TENON_OK;
}

static uint32_t host_part_count(tenon_parse_t* parse) {
  return fake_of(parse)->part_count;
}

static const tenon_converter_t* host_find_converter(tenon_parse_t* parse, const char* domain,
                                                    const char* type, int64_t version,
                                                    void** out_state) {
  const tenon__fake_parser_t* parser = fake_of(parse)->parser;
  *out_state = NULL;
  for (size_t i = 0; i < parser->family_count; ++i) {
    for (uint32_t k = 0; k < parser->families[i]->items.count; ++k) {
      const tenon_converter_t* row =
          &((const tenon_make_row_t*)parser->families[i]->items.items)[k].converter;
      if (strcmp(row->type, type) == 0 && strcmp(row->domain, domain) == 0 &&
          version >= row->since && (row->until == 0 || version < row->until)) {
        return row;
      }
    }
  }
  return NULL;
}

static void host_report_missing(tenon_parse_t* parse, const char* domain, const char* type,
                                int64_t version, const char* node) {
  tenon__fake_t* fake = fake_of(parse);
  ++fake->missing_count;
  add_text(fake->missing, "%s:%s:%lld:%s\n", domain, type, (long long)version, node);
}

static tenon_status_t host_input_shape(tenon_parse_t* parse, const char* input, uint32_t* out_rank,
                                       const int64_t** out_dims) {
  const tenon__fake_t* fake = fake_of(parse);
  if (fake->shape_input == NULL || strcmp(fake->shape_input, input) != 0) {
    return TENON_ERROR_NOT_FOUND;
  }
  *out_rank = fake->shape_rank;
  *out_dims = fake->shape_dims;
  return TENON_OK;
}

static const tenon_sink_t* host_sink(tenon_parse_t* parse) {
  return &fake_of(parse)->sink;
}

static const char* host_setting(tenon_parse_t* parse, const char* name) {
  const tenon__fake_t* fake = fake_of(parse);
  const bool is_set = fake->setting_name != NULL && strcmp(fake->setting_name, name) == 0;
  return is_set ? fake->setting_value : NULL;
}

static void host_declare_value(tenon_parse_t* parse, int32_t is_output, const char* name,
                               const tenon_value_type_t* type, const char* const* symbols) {
  char* text = fake_of(parse)->declared;
  add_text(text, "%s %s %u:%u%s", is_output != 0 ? "output" : "input", name, type->kind,
           type->dtype, type->rank == TENON_NONE ? " ?" : "");
  for (uint32_t i = 0; type->rank != TENON_NONE && i < type->rank; ++i) {
    const char* symbol = symbols == NULL ? NULL : symbols[i];
    add_text(text, " %lld%s%s", (long long)type->dims[i], symbol == NULL ? "" : "=",
             symbol == NULL ? "" : symbol);
  }
  add_text(text, "\n");
}

static void host_declare_node(tenon_parse_t* parse, const char* domain, const char* type,
                              int64_t version, const char* node) {
  add_text(fake_of(parse)->declared, "%s:%s:%lld:%s\n", domain, type, (long long)version, node);
}

static void report(void* user, int32_t severity, const char* message) {
  tenon__fake_t* fake = user;
  fake->error_count += severity == TENON_SEVERITY_ERROR ? 1u : 0u;
  add_text(fake->messages, "%s\n", message);
}

static void pass_on(void* user, int32_t severity, const char* message) {
  const tenon__fake_t* fake = user;
  fake->next_sink->report(fake->next_sink->user, severity, message);
}

void tenon__fake_initialize(tenon__fake_t* out_fake, const tenon__fake_parser_t* parser) {
  memset(out_fake, 0, offsetof(tenon__fake_t, values));
  out_fake->parser = parser;
  out_fake->sink = (tenon_sink_t){out_fake, pass_on};
  out_fake->last_sink = (tenon_sink_t){out_fake, report};
  out_fake->next_sink = &out_fake->last_sink;
  out_fake->host = (tenon_parse_table_t){.size = sizeof(tenon_parse_table_t),
                                         .open_file = host_open_file,
                                         .part = host_part,
                                         .part_count = host_part_count,
                                         .find_converter = host_find_converter,
                                         .allocate = host_allocate,
                                         .report_missing = host_report_missing,
                                         .input_shape = host_input_shape,
                                         .sink = host_sink,
                                         .setting = host_setting,
                                         .declare_value = host_declare_value,
                                         .declare_node = host_declare_node};
  tenon__fake_initialize_builder(out_fake);
}

void tenon__fake_deinitialize(tenon__fake_t* fake) {
  block_t* block = fake->blocks;
  while (block != NULL) {
    block_t* next = block->next;
    free(block);
    block = next;
  }
  fake->blocks = NULL;
}

void tenon__fake_add_part(tenon__fake_t* fake, const void* data, size_t size) {
  fake->parts[fake->part_count].data = data;
  fake->parts[fake->part_count].size = size;
  ++fake->part_count;
}

tenon_parse_t* tenon__fake_handle(tenon__fake_t* fake) {
  return (tenon_parse_t*)(void*)fake;
}

void tenon__fake_reader(tenon__fake_t* fake, tenon_reader_t* out_reader) {
  tenon_reader_initialize(out_reader, tenon__fake_handle(fake), &fake->host,
                          (tenon_builder_t*)(void*)fake, &fake->build);
}

tenon_status_t tenon__fake_parse(tenon__fake_t* fake) {
  return fake->parser->parse(NULL, tenon__fake_handle(fake), &fake->host,
                             (tenon_builder_t*)(void*)fake, &fake->build);
}

tenon_status_t tenon__fake_parse_file(tenon__fake_t* out_fake, const tenon__fake_parser_t* parser,
                                      const void* data, size_t size) {
  tenon__fake_initialize(out_fake, parser);
  tenon__fake_add_part(out_fake, data, size);
  return tenon__fake_parse(out_fake);
}

void tenon__fake_parse_alone(const tenon__fake_parser_t* parser, const uint8_t* data, size_t size) {
  static tenon__fake_t fake;
  (void)tenon__fake_parse_file(&fake, parser, data, size);
  tenon__fake_deinitialize(&fake);
}
