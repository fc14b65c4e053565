/* See node.h. */
#include "export/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tool_onnx_refuse(const tool_onnx_node_t* node, const char* reason) {
  node->network->reason = reason;
  return false;
}

/* ---- Attributes ---- */

const tenon_attribute_t* tool_onnx_attribute(const tool_onnx_node_t* node, const char* name) {
  const tenon_attribute_t* attributes = node->item->attributes.items;
  for (uint32_t i = 0; i < node->item->attributes.count; ++i) {
    if (strcmp(attributes[i].name, name) == 0) {
      return &attributes[i];
    }
  }
  return NULL;
}

int64_t tool_onnx_attribute_int(const tool_onnx_node_t* node, const char* name) {
  const tenon_attribute_t* attribute = tool_onnx_attribute(node, name);
  return attribute == NULL ? 0 : attribute->integer;
}

double tool_onnx_attribute_float(const tool_onnx_node_t* node, const char* name) {
  const tenon_attribute_t* attribute = tool_onnx_attribute(node, name);
  return attribute == NULL ? 0 : attribute->number;
}

bool tool_onnx_attribute_is(const tool_onnx_node_t* node, const char* name, const char* value) {
  const tenon_attribute_t* attribute = tool_onnx_attribute(node, name);
  return attribute != NULL && attribute->string != NULL && strcmp(attribute->string, value) == 0;
}

/* Whether an attribute has the one value that the format has; singles are compared as f32. */
static bool has_value(const tenon_attribute_t* attribute, const char* value) {
  const int64_t integer = strtoll(value, NULL, 10);
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_FLOAT:
      return (float)attribute->number == strtof(value, NULL);
    case TENON_ATTRIBUTE_INT:
      return attribute->integer == integer;
    case TENON_ATTRIBUTE_INTS:
      for (size_t i = 0; i < attribute->count; ++i) {
        if (attribute->integers[i] != integer) {
          return false;
        }
      }
      return true;
    case TENON_ATTRIBUTE_STRING:
      return attribute->string != NULL && strlen(attribute->string) == strcspn(value, " ") &&
             strncmp(attribute->string, value, strlen(attribute->string)) == 0;
    default:
      return false;
  }
}

const char* tool_onnx_find_word(const char* understood, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = understood; *at != '\0';) {
    if (strncmp(at, name, length) == 0 && strchr("= >^-", at[length]) != NULL) {
      return at + length;
    }
    at += strcspn(at, " ");
    at += strspn(at, " ");
  }
  return NULL;
}

bool tool_onnx_understands(const tool_onnx_node_t* node, const char* understood) {
  const tenon_attribute_t* attributes = node->item->attributes.items;
  for (uint32_t i = 0; i < node->item->attributes.count; ++i) {
    const tenon_attribute_t* attribute = &attributes[i];
    const char* word = tool_onnx_find_word(understood, attribute->name);
    if (word != NULL && (word[0] != '=' || has_value(attribute, word + 1))) {
      continue;
    }
    char* message = node->network->message;
    if (word == NULL) {
      (void)snprintf(message, TOOL_EXPORT_REASON_SIZE, "ONNX has no %s", attribute->name);
    } else {
      (void)snprintf(message, TOOL_EXPORT_REASON_SIZE, "ONNX has no %s but %.*s", attribute->name,
                     (int)strcspn(word + 1, " "), word + 1);
    }
    return tool_onnx_refuse(node, message);
  }
  return true;
}

/* ---- Inputs ---- */

uint32_t tool_onnx_rank(const tool_onnx_node_t* node, uint32_t index) {
  const tenon_value_type_t type =
      index < node->item->input_count
          ? tool_export_type_of(node->network, node->item->inputs[index])
          : (tenon_value_type_t){.rank = TENON_NONE};
  return type.kind == TENON_ARGUMENT_TENSOR && type.rank != TENON_NONE &&
                 type.rank <= TENON_RANK_LIMIT
             ? type.rank
             : 0;
}

int64_t tool_onnx_axis(int64_t axis, uint32_t rank) {
  return axis < 0 ? axis + rank : axis;
}

bool tool_onnx_operand(const tool_onnx_node_t* node, uint32_t index, int64_t* out_values,
                       uint32_t* out_count) {
  *out_count = 0;
  return index >= node->item->input_count || node->item->inputs[index].id == 0 ||
         tool_export_contents(node->network, node->item->inputs[index], out_values, out_count) ||
         tool_onnx_refuse(node, "a list that is needed is not constant");
}
