/*
 * Which attributes each operator of ONNX has in which versions of its operator set. A node's
 * attribute that its converter did not read is judged by this table.
 */
#ifndef TENON_PARSER_ONNX_ATTRIBUTES_H_
#define TENON_PARSER_ONNX_ATTRIBUTES_H_

#include "source.h"

typedef enum tenon__onnx_attribute_state_t {
  TENON__ONNX_ATTRIBUTE_KNOWN,   /* the operator has it, or the table does not list the operator */
  TENON__ONNX_ATTRIBUTE_FOREIGN, /* another version of the operator has it */
  TENON__ONNX_ATTRIBUTE_UNKNOWN  /* no version has it */
} tenon__onnx_attribute_state_t;

/* `domain` is "" for ONNX's own. If FOREIGN, out_since and out_until are the versions of the
 * operator set that have the attribute: from since to until - 1; until 0: all later ones. */
tenon__onnx_attribute_state_t tenon__onnx_attribute_find(const char* domain, const char* type,
                                                         int64_t version, const char* name,
                                                         int64_t* out_since, int64_t* out_until);

/* After the node's converter has succeeded. An attribute that the converter did not read and that
 * no version has: a warning, once for each operator and name. One that another version has:
 * INVALID_DATA with the node, the attribute and the versions. */
tenon_status_t tenon__onnx_attributes_check(const tenon_source_t* source);

#endif
