/*
 * A model on its way into a network. A block is a graph or the nodes of a function; a scope is one
 * conversion of a block, in which names stand for values; a frame is one call of a function (or the
 * model itself), with the attributes that it was called with.
 *
 * A block is made once and converted as often as it is called or tried; so what is known of names
 * lies with the block, and what they stand for with the scope. Everything here is the reader's
 * memory and lives until the parse ends; strings are those of the decoded skeleton, UTF-8.
 */
#ifndef TENON_PARSER_ONNX_PROGRAM_H_
#define TENON_PARSER_ONNX_PROGRAM_H_

#include "model.h"
#include "tenon/reader.h"

enum {
  /* Functions called by functions: bounds the recursion of check.c and convert.c. */
  TENON__ONNX_CALL_LIMIT = 64,
  /* Nodes converted, functions expanded: a few functions that call one another twice would
   * otherwise make 2^64 nodes of a file of one page. */
  TENON__ONNX_NODE_LIMIT = 512 * 1024
};

/* A name that a block uses and does not define, and the first node that uses it (NULL: the
 * block's output), for the message when nothing around defines it either. */
typedef struct tenon__onnx_capture_t {
  const char* name;
  const Onnx__NodeProto* node;
} tenon__onnx_capture_t;

/* Exactly one of `graph` and `function` is there. block.c fills it from the model, check.c the
 * last four; after that it does not change. */
typedef struct tenon__onnx_block_t {
  const Onnx__GraphProto* graph; /* NULL: of a function */
  const Onnx__FunctionProto* function;
  Onnx__NodeProto* const* nodes;
  size_t node_count;
  /* [node_count]: the indices into `nodes` in the order of conversion, each behind what it
   * reads. The file's own order where that is one, as ONNX demands. */
  size_t* order;
  /* In the order of first use, each name once; those of subgraphs that this block does not
   * define among them. */
  tenon__onnx_capture_t* captures;
  size_t capture_count;
  size_t capture_capacity;
  /* Names that its nodes, their subgraphs and its outputs read: whether a node's output is
   * wanted. */
  tenon_reader_names_t used;
  /* Of check.c's walk over functions: 0 new, 1 on the way (met again, it calls itself), 2 done. */
  uint32_t state;
  /* It needs a node that no converter takes, itself or below; a branch of an If whose other
   * branch lacks nothing does not count. */
  bool lacks;
  /* Of a function: such nodes were reported, so that a second call does not do it again. */
  bool is_told;
  /* The least number of nodes that a conversion of it converts, functions expanded and branches of
   * Ifs left out; at most TENON__ONNX_NODE_LIMIT + 1. */
  size_t expanded_count;
} tenon__onnx_block_t;

/* Elements that stand in the file, of one of these three: the others are NULL, save that of a
 * Constant the attribute is there too. literal.h reads it. */
typedef struct tenon__onnx_literal_t {
  const Onnx__TensorProto* tensor;
  const Onnx__SparseTensorProto* sparse;
  const Onnx__AttributeProto* attribute; /* of a Constant */
} tenon__onnx_literal_t;

/* What a name stands for. A literal becomes a value when first used, once in each graph of the
 * network: is_built says whether `value` is there. Without is_literal it always is; a built
 * value of id 0 is an optional input that the caller of a function left out. A function's
 * parameter shares the binding of its caller's argument. */
typedef struct tenon__onnx_binding_t {
  tenon_value_t value;
  bool is_literal;
  bool is_built;
  tenon__onnx_literal_t literal;
} tenon__onnx_binding_t;

/* One graph of the network, while it is built: shared by the scopes that build into it (a
 * function's nodes are inlined), a new one for each body. It keeps which values have a name of
 * the file already, since a value that passes through (Identity, an If that is its branch) is to
 * keep the first one. */
typedef struct tenon__onnx_target_t {
  /* [capacity], by a value's id: 1 when it has the file's name. Ids beyond have none. */
  uint8_t* named;
  size_t capacity;
} tenon__onnx_target_t;

/* One call. Node "conv" of a function that node "block1" calls is named "block1/conv"; so are
 * its values. `attributes` has the function's defaults, and over them what the call gives. */
typedef struct tenon__onnx_frame_t {
  /* "" for the model, else the call's full name and "/". */
  const char* prefix;
  /* NULL: the model. Decides which operator sets a node's version is looked up in. */
  const Onnx__FunctionProto* function;
  /* Name to Onnx__AttributeProto, for attributes that refer to these (ref_attr_name). */
  tenon_reader_names_t attributes;
  uint32_t depth; /* calls around this one */
} tenon__onnx_frame_t;

/* One conversion of a block. A subgraph sees the names of the scopes around it (`outer`), values
 * only as far as they were captured; a function's nodes see their parameters alone. */
typedef struct tenon__onnx_scope_t {
  /* NULL: the model's graph, or a function's nodes. */
  const struct tenon__onnx_scope_t* outer;
  tenon__onnx_frame_t* frame;
  tenon__onnx_target_t* target;
  tenon__onnx_block_t* block;
  /* Name to binding. The map must not move while it holds something: scopes lie in the parse's
   * memory. */
  tenon_reader_names_t bindings;
  /* Of the node that is being converted, in the block's order. */
  size_t position;
  /* That node took in all that follows it: see branch.h. */
  bool is_done;
} tenon__onnx_scope_t;

struct tenon__onnx_body_request_t;
struct tenon__onnx_body_t;

/* The one of a parse; parser.c has it on its stack. */
typedef struct tenon__onnx_program_t {
  tenon_reader_t* reader;
  const tenon__onnx_model_t* model;
  /* "domain:name:overload" to block, the domain as tenon__onnx_domain writes it. */
  tenon_reader_names_t functions;
  /* Address of a GraphProto to block: the model's graph and every subgraph of attributes. */
  tenon_reader_names_t blocks;
  /* "TYPE.ATTRIBUTE" of each unknown attribute that a warning named. */
  tenon_reader_names_t warned;
  size_t node_count;      /* converted so far, that stay */
  size_t tried_count;     /* converted in vain: see attempt.h */
  uint32_t attempt_depth; /* attempts open now */
  /* tenon__onnx_convert_body: nodes hold bodies, and bodies nodes. */
  tenon_status_t (*convert_body)(const tenon_source_t* source,
                                 const struct tenon__onnx_body_request_t* request,
                                 struct tenon__onnx_body_t* out_body);
} tenon__onnx_program_t;

/* The function that a node calls, NULL if it is an operator. A model's function hides an
 * operator of that domain and name, Constant too. */
tenon__onnx_block_t* tenon__onnx_program_function(const tenon__onnx_program_t* program,
                                                  const Onnx__NodeProto* node);
/* Of a graph of this model: never NULL once names are resolved. */
tenon__onnx_block_t* tenon__onnx_program_block(const tenon__onnx_program_t* program,
                                               const Onnx__GraphProto* graph);

/* The version of the operator set that a node of `function` (NULL: of the model) is of: the
 * function's own imports where it has any, else the model's; 1 when neither imports the domain. */
int64_t tenon__onnx_program_version(const tenon__onnx_program_t* program,
                                    const Onnx__FunctionProto* function, const char* domain);

/* True for ONNX's Constant, by domain and type alone; see tenon__onnx_program_function for what
 * may hide it. */
bool tenon__onnx_node_is_constant(const Onnx__NodeProto* node);

/* How messages name a node: "Conv 'stem'", or "Conv (output 'x')" for a node without a name.
 * Just the type when memory is out; never NULL. */
const char* tenon__onnx_node_text(tenon_reader_t* reader, const Onnx__NodeProto* node);

/* describe.c: tells the host of inputs (those that no initialiser gives a value) and outputs
 * with their declared types, symbols included, before anything can fail for another reason. A
 * type that cannot be read is told as none. Nothing is done for a host that does not want to
 * know. */
tenon_status_t tenon__onnx_program_describe(tenon__onnx_program_t* program);

/* block.c: finds all blocks, resolves their names, orders their nodes. INVALID_DATA for a name
 * that nothing around defines or that two nodes of a block define (an initialiser may share an
 * input's name: its default), for cycles, and for a function that is defined twice or reads what
 * it is not given. */
tenon_status_t tenon__onnx_program_resolve(tenon__onnx_program_t* program);

/* check.c: tells the host of every node, reports those that no converter takes, each function's
 * once, and refuses functions that call themselves. UNSUPPORTED, and nothing is built, when
 * something is missing that no If can do without, or for too many nodes. */
tenon_status_t tenon__onnx_program_check(tenon__onnx_program_t* program);

/* Refuses a count of nodes above TENON__ONNX_NODE_LIMIT. */
tenon_status_t tenon__onnx_program_limit(const tenon__onnx_program_t* program, size_t node_count);

/* map_columns.c: how many columns the tensor has that stands for input `name`, a map, as its
 * readers among the nodes of `graph` have it: the vocabulary of a DictVectorizer, max_map of a
 * sparse CastMap; -1 where none says. UNSUPPORTED for readers of other kinds, and for two that
 * contradict. */
tenon_status_t tenon__onnx_map_columns(tenon__onnx_program_t* program,
                                       const Onnx__GraphProto* graph, const char* name,
                                       int64_t* out_columns);

/* convert.c: builds the network: initialisers are bound, inputs made, nodes converted, outputs
 * declared. An input that an initialiser has too is that constant, and no input, unless the caller
 * gives it a shape or a value (since IR version 4). INVALID_DATA for a graph without outputs. */
tenon_status_t tenon__onnx_program_convert(tenon__onnx_program_t* program);

#endif
