/*
 * The messages of an ONNX file: nodes, constants, what goes in and comes out. Field numbers are
 * those of onnx.proto, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. Knows nothing of
 * networks but types: what becomes of a node is onnx_node.h's affair.
 */
#ifndef TOOL_EXPORT_ONNX_FILE_H_
#define TOOL_EXPORT_ONNX_FILE_H_

#include "data/pieces.h"
#include "data/tensor_proto.h"
#include "data/wire.h"
#include "tenon/tenon.h"

/* An initialiser. Small ones are copied; of those of 4 KiB and more the bytes are lent, and go
 * into the file from where they are. */
typedef struct tool_onnx_tensor_t {
  char* name;
  /* The TensorProto, but for what is lent: that follows as its last field. */
  tool_wire_writer_t message;
  const void* borrowed;
  size_t borrowed_size;
} tool_onnx_tensor_t;

/* All zeros is an empty file. Freed by tool_onnx_free, finished or not. */
typedef struct tool_onnx_file_t {
  /* NodeProtos in an order in which they can be computed. */
  tool_wire_writer_t* nodes;
  size_t node_count;
  size_t node_capacity;
  tool_onnx_tensor_t* tensors;
  size_t tensor_count;
  size_t tensor_capacity;
  /* Fields of the graph: inputs and outputs. */
  tool_wire_writer_t ends;
  /* The least in which all nodes are what they are to be. */
  uint32_t opset;
} tool_onnx_file_t;

/* The file says this operator set at least, which most runtimes know; more only where a node
 * needs it. */
enum { TOOL_ONNX_OPSET = 21 };

/* A node is begun; inputs, outputs and attributes follow, in any order between them. The pointer
 * is good until the next one is begun. `since`: the operator set in which it came; 0: an early
 * one. */
tool_wire_writer_t* tool_onnx_node(tool_onnx_file_t* file, const char* type, uint32_t since);
/* A node Identity: `name` is another name of `source`. */
void tool_onnx_alias(tool_onnx_file_t* file, const char* name, const char* source);
void tool_onnx_name(tool_wire_writer_t* node, const char* name);
/* "" for one that is absent before one that is there. */
void tool_onnx_input(tool_wire_writer_t* node, const char* name);
void tool_onnx_output(tool_wire_writer_t* node, const char* name);
void tool_onnx_int(tool_wire_writer_t* node, const char* name, int64_t value);
void tool_onnx_float(tool_wire_writer_t* node, const char* name, double value);
void tool_onnx_text(tool_wire_writer_t* node, const char* name, const char* value);
void tool_onnx_ints(tool_wire_writer_t* node, const char* name, const int64_t* values,
                    size_t count);
void tool_onnx_floats(tool_wire_writer_t* node, const char* name, const double* values,
                      size_t count);
void tool_onnx_texts(tool_wire_writer_t* node, const char* name, const char* const* values,
                     size_t count);
/* The type of such a value. */
void tool_onnx_type(tool_wire_writer_t* node, const char* name, const tenon_io_info_t* info);

/* The graph is freed. */
void tool_onnx_graph(tool_wire_writer_t* node, const char* name, tool_wire_writer_t* graph);

/* A constant of that type, which ONNX has, of known extents. The bytes live until the pieces are
 * freed. */
void tool_onnx_tensor(tool_onnx_file_t* file, const char* name, const tenon_value_type_t* type,
                      size_t size_bytes);

/* An input or an output of the graph, of that type: its name, element type, and extents where the
 * rank is one. */
void tool_onnx_end(tool_onnx_file_t* file, bool is_input, const tenon_io_info_t* info);
/* What the network takes and gives, as it says of itself: types, extents, symbols of open ones. */
void tool_onnx_ends(tool_onnx_file_t* file, const tenon_network_t* network);

/* The file's bytes, without nodes and constants that no output needs: converting leaves such
 * behind nodes that were refused. UNSUPPORTED when they are 2 GiB or more, which no reader of
 * one message takes. */
tenon_status_t tool_onnx_finish(tool_onnx_file_t* file, tool_pieces_t* out_pieces);
/* The same as the message of a graph, for a node of `outer`. */
tool_wire_writer_t tool_onnx_finish_body(tool_onnx_file_t* file, const char* name,
                                         tool_onnx_file_t* outer);
void tool_onnx_free(tool_onnx_file_t* file);

#endif
