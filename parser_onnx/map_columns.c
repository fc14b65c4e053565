/* How many columns the tensor has that stands for a map (see converters/maps.c): the nodes that
 * read it know. */
#include <inttypes.h>
#include <string.h>

#include "program.h"

static const Onnx__AttributeProto* find_attribute(const Onnx__NodeProto* node, const char* name) {
  for (size_t i = 0; i < node->n_attribute; ++i) {
    if (strcmp(tenon__onnx_text(node->attribute[i]->name), name) == 0) {
      return node->attribute[i];
    }
  }
  return NULL;
}

static bool reads(const Onnx__NodeProto* node, const char* name) {
  for (size_t i = 0; i < node->n_input; ++i) {
    if (strcmp(tenon__onnx_text(node->input[i]), name) == 0) {
      return true;
    }
  }
  return false;
}

/* False: it does not read maps. -1: any number. */
static bool columns_of(const Onnx__NodeProto* node, int64_t* out_columns) {
  const char* type = tenon__onnx_text(node->op_type);
  if (strcmp(tenon__onnx_domain(node->domain), "ai.onnx.ml") != 0) {
    return false;
  }
  if (strcmp(type, "DictVectorizer") == 0) {
    const Onnx__AttributeProto* integers = find_attribute(node, "int64_vocabulary");
    const Onnx__AttributeProto* strings = find_attribute(node, "string_vocabulary");
    *out_columns = (int64_t)((integers != NULL ? integers->n_ints : 0) +
                             (strings != NULL ? strings->n_strings : 0));
    return true;
  }
  if (strcmp(type, "CastMap") == 0) {
    const Onnx__AttributeProto* form = find_attribute(node, "map_form");
    const Onnx__AttributeProto* columns = find_attribute(node, "max_map");
    const bool is_sparse = form != NULL && form->s.len == strlen("SPARSE") &&
                           memcmp(form->s.data, "SPARSE", form->s.len) == 0;
    *out_columns = !is_sparse ? -1 : columns != NULL ? columns->i : 1;
    return true;
  }
  return false;
}

tenon_status_t tenon__onnx_map_columns(tenon__onnx_program_t* program,
                                       const Onnx__GraphProto* graph, const char* name,
                                       int64_t* out_columns) {
  int64_t columns = -1;
  for (size_t i = 0; i < graph->n_node; ++i) {
    const Onnx__NodeProto* node = graph->node[i];
    int64_t wanted = -1;
    if (!reads(node, name)) {
      continue;
    }
    if (!columns_of(node, &wanted)) {
      return TENON_READER_FAIL(
          program->reader, TENON_ERROR_UNSUPPORTED,
          "%s reads input '%s', a map: only DictVectorizer and CastMap say which tensor "
          "can stand for it; export the model from behind it",
          tenon__onnx_node_text(program->reader, node), name);
    }
    if (columns >= 0 && wanted >= 0 && wanted != columns) {
      return TENON_READER_FAIL(program->reader, TENON_ERROR_UNSUPPORTED,
                               "%s reads input '%s', a map, with %" PRId64
                               " keys, another node with %" PRId64
                               ": no one tensor can stand for it",
                               tenon__onnx_node_text(program->reader, node), name, wanted, columns);
    }
    columns = wanted >= 0 ? wanted : columns;
  }
  *out_columns = columns;
  return TENON_OK;
}
