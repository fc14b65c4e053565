/* The functions of the source-node table for a layer. */
#include "source.h"

#include <string.h>

static const char* source_type(const tenon_source_t* source) {
  return source->layer->type;
}

static const char* source_domain(const tenon_source_t* source) {
  return source->layer->domain;
}

static const char* source_name(const tenon_source_t* source) {
  return source->layer->name;
}

static int64_t source_version(const tenon_source_t* source) {
  (void)source;
  return 1;
}

static uint32_t source_input_count(const tenon_source_t* source) {
  return source->layer->bottom_count;
}

static uint32_t source_output_count(const tenon_source_t* source) {
  return source->layer->top_count;
}

static const char* source_input_name(const tenon_source_t* source, uint32_t index) {
  return index < source->layer->bottom_count ? source->layer->bottoms[index].data : "";
}

static const char* source_output_name(const tenon_source_t* source, uint32_t index) {
  return index < source->layer->top_count ? source->layer->tops[index].data : "";
}

/* ---- Fields: each name once ---- */

static const tenon__caffe_field_t* next_new(const tenon_source_t* source,
                                            const tenon__caffe_field_t* field) {
  while (field != NULL &&
         tenon__caffe_field_find(source->node.message->first, field->name) != field) {
    field = field->next;
  }
  return field;
}

static uint32_t source_field_count(const tenon_source_t* source) {
  uint32_t count = 0;
  for (const tenon__caffe_field_t* field = next_new(source, source->node.message->first);
       field != NULL; field = next_new(source, field->next)) {
    ++count;
  }
  return count;
}

static const char* source_field_name(const tenon_source_t* source, uint32_t index) {
  const tenon__caffe_field_t* field = next_new(source, source->node.message->first);
  for (; field != NULL && index > 0; --index) {
    field = next_new(source, field->next);
  }
  return field == NULL ? "" : field->name;
}

static uint32_t source_field_kind(const tenon_source_t* source, const char* name) {
  return tenon__caffe_fields_kind(&source->node, name);
}

static tenon_status_t source_get_int(const tenon_source_t* source, const char* name,
                                     int64_t* out_value) {
  return tenon__caffe_fields_int(source->program->reader, &source->node, name, out_value);
}

static tenon_status_t source_get_float(const tenon_source_t* source, const char* name,
                                       double* out_value) {
  return tenon__caffe_fields_float(source->program->reader, &source->node, name, out_value);
}

static tenon_status_t source_get_string(const tenon_source_t* source, const char* name,
                                        tenon_string_view_t* out_value) {
  const char* text = NULL;
  TENON_READER_TRY(tenon__caffe_fields_string(source->program->reader, &source->node, name, &text));
  *out_value = (tenon_string_view_t){text, strlen(text)};
  return TENON_OK;
}

static tenon_status_t source_get_ints(const tenon_source_t* source, const char* name,
                                      const int64_t** out_values, size_t* out_count) {
  return tenon__caffe_fields_ints(source->program->reader, &source->node, name, out_values,
                                  out_count);
}

static tenon_status_t source_get_floats(const tenon_source_t* source, const char* name,
                                        const double** out_values, size_t* out_count) {
  return tenon__caffe_fields_floats(source->program->reader, &source->node, name, out_values,
                                    out_count);
}

static tenon_status_t source_get_strings(const tenon_source_t* source, const char* name,
                                         const tenon_string_view_t** out_values,
                                         size_t* out_count) {
  return tenon__caffe_fields_strings(source->program->reader, &source->node, name, out_values,
                                     out_count);
}

static tenon_status_t source_get_tree(const tenon_source_t* source, const char* name,
                                      uint32_t index, const tenon_source_t** out_value) {
  tenon_reader_t* reader = source->program->reader;
  tenon__caffe_node_t node;
  TENON_READER_TRY(tenon__caffe_fields_node(reader, &source->node, name, index, &node));
  tenon_source_t* tree = tenon_reader_allocate(reader, 1, sizeof(*tree));
  if (tree == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  *tree = (tenon_source_t){source->program, source->layer, node};
  *out_value = tree;
  return TENON_OK;
}

static uint32_t source_tree_count(const tenon_source_t* source, const char* name) {
  return tenon__caffe_fields_count(&source->node, name);
}

/* ---- Weights ---- */

static uint32_t source_blob_count(const tenon_source_t* source) {
  return source->layer->blobs == NULL ? 0 : source->layer->blobs->count;
}

static tenon_status_t source_get_blob(const tenon_source_t* source, uint32_t index,
                                      tenon_tensor_view_t* out_value) {
  tenon_reader_t* reader = source->program->reader;
  if (index >= source_blob_count(source)) {
    return TENON_ERROR_NOT_FOUND;
  }
  const char* what = tenon_reader_format(reader, "%s: its blob %u",
                                         tenon__caffe_layer_text(reader, source->layer), index);
  return what == NULL
             ? tenon_reader_fail_memory(reader)
             : tenon__caffe_blob_view(reader, &source->layer->blobs->blobs[index], what, out_value);
}

static int32_t source_can_borrow(const tenon_source_t* source, const void* data) {
  for (uint32_t i = 0; i < source_blob_count(source); ++i) {
    const tenon__caffe_blob_t* blob = &source->layer->blobs->blobs[i];
    if (blob->is_borrowed && blob->view.data == data) {
      return 1;
    }
  }
  return 0;
}

const tenon_source_table_t* tenon__caffe_source_table(void) {
  static const tenon_source_table_t table = {
      .size = sizeof(table),
      .type = source_type,
      .domain = source_domain,
      .name = source_name,
      .version = source_version,
      .input_count = source_input_count,
      .output_count = source_output_count,
      .input_name = source_input_name,
      .output_name = source_output_name,
      .field_count = source_field_count,
      .field_name = source_field_name,
      .field_kind = source_field_kind,
      .get_int = source_get_int,
      .get_float = source_get_float,
      .get_string = source_get_string,
      .get_ints = source_get_ints,
      .get_floats = source_get_floats,
      .get_strings = source_get_strings,
      .get_tensor = tenon_reader_no_tensor,
      .get_tree = source_get_tree,
      .tree_count = source_tree_count,
      .convert_body = tenon_reader_no_body,
      .blob_count = source_blob_count,
      .get_blob = source_get_blob,
      .can_borrow = source_can_borrow,
      .make_blob = tenon__caffe_source_make_blob,
  };
  return &table;
}
