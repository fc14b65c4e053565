/*
 * A model on its way into a network. A block is a graph or the nodes of a function; a scope is one
 * conversion of a block, in which names stand for values; a frame is one call of a function (or the
 * model itself), with the attributes that it was called with.
 */
#ifndef TENON_PARSER_ONNX_PROGRAM_H_
#define TENON_PARSER_ONNX_PROGRAM_H_

#include "model.h"
#include "tenon/reader.h"

enum {
  TENON__ONNX_CALL_LIMIT = 64,        /* functions called by functions */
  TENON__ONNX_NODE_LIMIT = 512 * 1024 /* nodes converted, functions expanded */
};

/* A name that a block uses and does not define, and the node that uses it (NULL: the block's
 * output). */
typedef struct tenon__onnx_capture_t {
  const char* name;
  const Onnx__NodeProto* node;
} tenon__onnx_capture_t;

typedef struct tenon__onnx_block_t {
  const Onnx__GraphProto* graph; /* NULL: of a function */
  const Onnx__FunctionProto* function;
  Onnx__NodeProto* const* nodes;
  size_t node_count;
  size_t* order; /* in which nodes are converted */
  tenon__onnx_capture_t* captures;
  size_t capture_count;
  size_t capture_capacity;
  tenon_reader_names_t used; /* names that its nodes, their subgraphs and its outputs read */
  uint32_t state;            /* of a walk over functions: 0 new, 1 on the way, 2 done */
  bool lacks;                /* it needs a node that no converter takes */
  bool is_told;              /* of a function: such nodes were told */
} tenon__onnx_block_t;

/* Elements that stand in the file: of one of these. */
typedef struct tenon__onnx_literal_t {
  const Onnx__TensorProto* tensor;
  const Onnx__SparseTensorProto* sparse;
  const Onnx__AttributeProto* attribute; /* of a Constant */
} tenon__onnx_literal_t;

/* What a name stands for. A literal becomes a value when first used, once in each graph of the
 * network. */
typedef struct tenon__onnx_binding_t {
  tenon_value_t value;
  bool is_literal;
  bool is_built;
  tenon__onnx_literal_t literal;
} tenon__onnx_binding_t;

/* One graph of the network, while it is built. */
typedef struct tenon__onnx_target_t {
  uint8_t* named; /* of each value's id: 1 when it has the file's name */
  size_t capacity;
} tenon__onnx_target_t;

typedef struct tenon__onnx_frame_t {
  const char* prefix;                  /* of names: "call/" */
  const Onnx__FunctionProto* function; /* NULL: the model */
  tenon_reader_names_t attributes;     /* name -> AttributeProto; of the model: empty */
  uint32_t depth;
} tenon__onnx_frame_t;

typedef struct tenon__onnx_scope_t {
  const struct tenon__onnx_scope_t* outer; /* NULL: the model's graph, or a function's nodes */
  tenon__onnx_frame_t* frame;
  tenon__onnx_target_t* target;
  tenon__onnx_block_t* block;
  tenon_reader_names_t bindings;
  size_t position; /* of the node that is being converted, in the block's order */
  bool is_done;    /* that node took in all that follows it: see branch.h */
} tenon__onnx_scope_t;

typedef struct tenon__onnx_program_t {
  tenon_reader_t* reader;
  const tenon__onnx_model_t* model;
  tenon_reader_names_t functions; /* "domain:name:overload" -> block */
  tenon_reader_names_t blocks;    /* GraphProto -> block */
  size_t node_count;              /* converted so far */
  size_t tried_count;             /* converted in vain: see attempt.h */
  uint32_t attempt_depth;
} tenon__onnx_program_t;

/* The function that a node calls, NULL if it is an operator. */
tenon__onnx_block_t* tenon__onnx_program_function(const tenon__onnx_program_t* program,
                                                  const Onnx__NodeProto* node);
tenon__onnx_block_t* tenon__onnx_program_block(const tenon__onnx_program_t* program,
                                               const Onnx__GraphProto* graph);

/* The version of the operator set that a node of `function` (NULL: of the model) is of. */
int64_t tenon__onnx_program_version(const tenon__onnx_program_t* program,
                                    const Onnx__FunctionProto* function, const char* domain);

/* True for a node whose value stands in the file: ONNX's Constant. */
bool tenon__onnx_node_is_constant(const Onnx__NodeProto* node);

/* "Conv 'stem'", or "Conv (output 'x')" for a node without a name. */
const char* tenon__onnx_node_text(tenon_reader_t* reader, const Onnx__NodeProto* node);

/* describe.c: tells the host of inputs and outputs. */
tenon_status_t tenon__onnx_program_describe(tenon__onnx_program_t* program);

/* block.c: finds all blocks, resolves their names, orders their nodes. Refuses names that nothing
 * defines or two nodes define, and cycles. */
tenon_status_t tenon__onnx_program_resolve(tenon__onnx_program_t* program);

/* check.c: tells the host of every node, reports those that no converter takes, and refuses
 * functions that call themselves. */
tenon_status_t tenon__onnx_program_check(tenon__onnx_program_t* program);

/* map_columns.c: of the tensor that stands for input `name`, a map, as its readers in the main
 * graph have it; -1 where none says. Refuses readers of other kinds, and those that contradict. */
tenon_status_t tenon__onnx_map_columns(tenon__onnx_program_t* program,
                                       const Onnx__GraphProto* graph, const char* name,
                                       int64_t* out_columns);

/* convert.c: builds the network. */
tenon_status_t tenon__onnx_program_convert(tenon__onnx_program_t* program);

#endif
