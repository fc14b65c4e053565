/* What a prototxt says and nobody asked for: fields of forks, options that no converter knows. Each
 * is named once, with the first place. */
#include <string.h>

#include "schema.h"
#include "source.h"

static bool is_ignored(const char* message, const char* field) {
  const tenon__caffe_entry_t* entry = tenon__caffe_schema_find(message, field);
  return entry != NULL && entry->type == TENON__CAFFE_TYPE_IGNORED;
}

static tenon_status_t tell(tenon__caffe_program_t* program, const tenon__caffe_layer_t* layer,
                           const char* path, const tenon__caffe_field_t* field) {
  tenon_reader_t* reader = program->reader;
  const char* key =
      tenon_reader_format(reader, "%s:%s:%s%s", layer->domain, layer->type, path, field->name);
  if (key == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  if (tenon_reader_names_find(&program->told, key) == NULL) {
    tenon_reader_say(reader, TENON_SEVERITY_WARNING,
                     "line %u, column %u: %s '%s': its field '%s%s' is not known and ignored",
                     field->line, field->column, layer->type, layer->name, path, field->name);
    TENON_READER_TRY(tenon_reader_names_set(reader, &program->told, key, program));
  }
  return TENON_OK;
}

static tenon_status_t tell_message(tenon__caffe_program_t* program,
                                   const tenon__caffe_layer_t* layer,
                                   const tenon__caffe_node_t* node, const char* path) {
  for (const tenon__caffe_field_t* field = node->message->first; field != NULL;
       field = field->next) {
    if (is_ignored(node->name, field->name)) {
      continue;
    }
    if (!field->is_read) {
      TENON_READER_TRY(tell(program, layer, path, field));
    } else if (field->kind == TENON__CAFFE_VALUE_MESSAGE) {
      const tenon__caffe_node_t inner = {field->name, field->message};
      const char* longer = tenon_reader_format(program->reader, "%s%s.", path, field->name);
      if (longer == NULL) {
        return tenon_reader_fail_memory(program->reader);
      }
      TENON_READER_TRY(tell_message(program, layer, &inner, longer));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__caffe_source_tell_unread(const tenon_source_t* source) {
  return tell_message(source->program, source->layer, &source->node, "");
}
