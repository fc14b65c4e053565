/* A node as converters see it: the contract's source-node table over NodeProto and TypeProto. */
#ifndef TENON_PARSER_ONNX_SOURCE_H_
#define TENON_PARSER_ONNX_SOURCE_H_

#include "program.h"

/* A node, or (as a tree) a type. Attributes that refer to those of a function are resolved. */
struct tenon_source_t {
  tenon__onnx_program_t* program;
  tenon__onnx_scope_t* scope;
  const Onnx__NodeProto* node;
  const Onnx__TypeProto* type; /* of a tree; node is NULL */
  const char* name;
  const char** attribute_names;
  const Onnx__AttributeProto** attributes; /* what each name stands for */
  size_t attribute_count;
};

const tenon_source_table_t* tenon__onnx_source_table(void);

/* NULL when absent. */
const Onnx__AttributeProto* tenon__onnx_source_attribute(const tenon_source_t* source,
                                                         const char* name);

/* One of TENON_FIELD_*. */
uint32_t tenon__onnx_attribute_kind(const Onnx__AttributeProto* attribute);

#endif
