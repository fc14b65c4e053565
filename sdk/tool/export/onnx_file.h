/* The messages of an ONNX file: nodes, constants, what goes in and comes out. Field numbers are
 * those of onnx.proto, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. */
#ifndef TOOL_EXPORT_ONNX_FILE_H_
#define TOOL_EXPORT_ONNX_FILE_H_

#include "data/pieces.h"
#include "data/wire.h"
#include "tenon/tenon.h"

/* A tensor of the file. Small ones are copied; of large ones the bytes are lent. */
typedef struct tool_onnx_tensor_t {
  char* name;
  tool_wire_writer_t message; /* but for what is lent */
  const void* borrowed;
  size_t borrowed_size;
} tool_onnx_tensor_t;

typedef struct tool_onnx_file_t {
  tool_wire_writer_t* nodes; /* in an order in which they can be computed */
  size_t node_count;
  size_t node_capacity;
  tool_onnx_tensor_t* tensors;
  size_t tensor_count;
  size_t tensor_capacity;
  tool_wire_writer_t ends; /* fields of the graph: inputs and outputs */
  uint32_t opset;          /* the least in which all nodes are what they are to be */
} tool_onnx_file_t;

/* The file begins at this operator set, which most runtimes know. */
enum { TOOL_ONNX_OPSET = 21 };

/* ONNX's number of the type; 0 when it has none. */
uint32_t tool_onnx_dtype(tenon_dtype_t dtype);

/* A node is begun; inputs, outputs and attributes follow. The pointer is good until the next one is
 * begun. `since`: the operator set in which it came. */
tool_wire_writer_t* tool_onnx_node(tool_onnx_file_t* file, const char* type, uint32_t since);
void tool_onnx_name(tool_wire_writer_t* node, const char* name);
void tool_onnx_input(tool_wire_writer_t* node, const char* name); /* "": absent */
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

/* The graph is freed. */
void tool_onnx_graph(tool_wire_writer_t* node, const char* name, tool_wire_writer_t* graph);

/* A constant of that type, which ONNX has. The bytes live until the file is freed. */
void tool_onnx_tensor(tool_onnx_file_t* file, const char* name, const tenon_value_type_t* type,
                      size_t size_bytes);

/* An input or an output of the graph, of that type: its name, element type, and extents where the
 * rank is one. */
void tool_onnx_end(tool_onnx_file_t* file, bool is_input, const tenon_io_info_t* info);
/* What the network takes and gives, as it says of itself. */
void tool_onnx_ends(tool_onnx_file_t* file, const tenon_network_t* network);

/* The file's bytes, without nodes and constants that no output needs. UNSUPPORTED when they are too
 * many for one message. */
tenon_status_t tool_onnx_finish(tool_onnx_file_t* file, tool_pieces_t* out_pieces);
/* The same as the message of a graph, for a node of `outer`. */
tool_wire_writer_t tool_onnx_finish_body(tool_onnx_file_t* file, const char* name,
                                         tool_onnx_file_t* outer);
void tool_onnx_free(tool_onnx_file_t* file);

#endif
