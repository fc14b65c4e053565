/*
 * A node as converters see it: the contract's source-node table over NodeProto and TypeProto.
 * convert.c makes one for each node; a converter of this parser may look inside, a strange one only
 * has the table.
 */
#ifndef TENON_PARSER_ONNX_SOURCE_H_
#define TENON_PARSER_ONNX_SOURCE_H_

#include "program.h"

/* A node, or (as a tree) a type. Attributes that refer to those of a function are resolved: what
 * the caller did not give is absent. It lives until the parse ends, and so does whatever the
 * table hands out of it. */
struct tenon_source_t {
  tenon__onnx_program_t* program;
  tenon__onnx_scope_t* scope;
  /* NULL of a type; the table then has no inputs, outputs or domain, and type "". */
  const Onnx__NodeProto* node;
  /* Of a tree; fields "kind", "elem_type", "shape" and "elem". NULL of a node. */
  const Onnx__TypeProto* type;
  /* With the frame's prefix; made of type and first output for a node that has none. Of a type:
   * its node's. */
  const char* name;
  /* [attribute_count] in step with `attributes`: the node's own name for each, which a
   * reference's target may not share. */
  const char** attribute_names;
  const Onnx__AttributeProto** attributes; /* what each name stands for */
  bool* is_read;                           /* [attribute_count]: a converter asked for it */
  size_t attribute_count;
};

/* Constant, for every source of this parser. Getters follow the contract: NOT_FOUND, in silence,
 * for what is absent; INVALID_DATA, told, for an attribute of another kind. Floats widen to
 * double, tensors come aligned and dense. */
const tenon_source_table_t* tenon__onnx_source_table(void);

/* NULL when absent, of a type always. */
const Onnx__AttributeProto* tenon__onnx_source_attribute(const tenon_source_t* source,
                                                         const char* name);

/* One of TENON_FIELD_*, by the declared type; by the content where none is declared, as in files
 * of IR version 1. NONE for kinds that no converter reads (graphs, sparse tensors, types as
 * lists). */
uint32_t tenon__onnx_attribute_kind(const Onnx__AttributeProto* attribute);

#endif
