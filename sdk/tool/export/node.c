/* Attributes and operands of a node, each marked when it is read. A node with an unread attribute
 * is refused. */
#include "export/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/memory.h"

bool tool_export_refuse(const tool_export_node_t* node, const char* reason) {
  node->network->reason = reason;
  return false;
}

/* ---- Attributes ---- */

const tenon_attribute_t* tool_export_attribute(const tool_export_node_t* node, const char* name) {
  const tenon_attribute_t* attributes = node->item->attributes.items;
  for (uint32_t i = 0; i < node->item->attributes.count; ++i) {
    if (strcmp(attributes[i].name, name) == 0) {
      return &attributes[i];
    }
  }
  return NULL;
}

int64_t tool_export_attribute_int(const tool_export_node_t* node, const char* name) {
  const tenon_attribute_t* attribute = tool_export_attribute(node, name);
  return attribute == NULL ? 0 : attribute->integer;
}

double tool_export_attribute_float(const tool_export_node_t* node, const char* name) {
  const tenon_attribute_t* attribute = tool_export_attribute(node, name);
  return attribute == NULL ? 0 : attribute->number;
}

bool tool_export_attribute_is(const tool_export_node_t* node, const char* name, const char* value) {
  const tenon_attribute_t* attribute = tool_export_attribute(node, name);
  return attribute != NULL && attribute->string != NULL && strcmp(attribute->string, value) == 0;
}

void tool_export_attribute_list(const tool_export_node_t* node, const char* name, uint32_t count,
                                int64_t otherwise, int64_t* out_values) {
  const tenon_attribute_t* attribute = tool_export_attribute(node, name);
  for (uint32_t i = 0; i < count; ++i) {
    out_values[i] =
        attribute != NULL && attribute->count == count ? attribute->integers[i] : otherwise;
  }
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

const char* tool_export_find_word(const char* understood, const char* name) {
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

bool tool_export_understands(const tool_export_node_t* node, const char* understood) {
  const tenon_attribute_t* attributes = node->item->attributes.items;
  for (uint32_t i = 0; i < node->item->attributes.count; ++i) {
    const tenon_attribute_t* attribute = &attributes[i];
    const char* word = tool_export_find_word(understood, attribute->name);
    if (word != NULL && (word[0] != '=' || has_value(attribute, word + 1))) {
      continue;
    }
    char* message = node->network->message;
    const char* format = node->network->language->name;
    if (word == NULL) {
      (void)snprintf(message, TOOL_EXPORT_REASON_SIZE, "%s has no %s", format, attribute->name);
    } else {
      (void)snprintf(message, TOOL_EXPORT_REASON_SIZE, "%s has no %s but %.*s", format,
                     attribute->name, (int)strcspn(word + 1, " "), word + 1);
    }
    return tool_export_refuse(node, message);
  }
  return true;
}

/* ---- Inputs ---- */

uint32_t tool_export_rank(const tool_export_node_t* node, uint32_t index) {
  const tenon_value_type_t type =
      index < node->item->input_count
          ? tool_export_type_of(node->network, node->item->inputs[index])
          : (tenon_value_type_t){.rank = TENON_NONE};
  return type.kind == TENON_ARGUMENT_TENSOR && type.rank != TENON_NONE &&
                 type.rank <= TENON_RANK_LIMIT
             ? type.rank
             : 0;
}

int64_t tool_export_axis(int64_t axis, uint32_t rank) {
  return axis < 0 ? axis + rank : axis;
}

bool tool_export_operand(const tool_export_node_t* node, uint32_t index, const char* fixed,
                         int64_t* out_values, uint32_t* out_count) {
  const tenon_attribute_t* attribute = fixed == NULL ? NULL : tool_export_attribute(node, fixed);
  if (index < node->item->input_count && node->item->inputs[index].id != 0) {
    return tool_export_contents(node->network, node->item->inputs[index], out_values, out_count) ||
           tool_export_refuse(node, "a list that is needed is not constant");
  }
  if (attribute != NULL && attribute->count > TENON_RANK_LIMIT) {
    return tool_export_refuse(node, "a list has more than 64 entries");
  }
  *out_count = attribute == NULL ? 0 : (uint32_t)attribute->count;
  for (uint32_t i = 0; i < *out_count; ++i) {
    out_values[i] = attribute->integers[i];
  }
  return true;
}
