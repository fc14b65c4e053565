/* The messages of a UFF file: nodes with fields, and the data that they refer to. */
#ifndef TOOL_EXPORT_UFF_FILE_H_
#define TOOL_EXPORT_UFF_FILE_H_

#include "data/wire.h"
#include "export/names.h"
#include "tenon/tenon.h"

typedef struct tool_uff_file_t {
  tool_wire_writer_t* nodes; /* in an order in which they can be computed, then marks */
  size_t node_count;
  size_t first_mark; /* set before the marks of outputs are written */
  size_t node_capacity;
  bool has_extensions;           /* operations that are not UFF's own */
  tool_wire_writer_t referenced; /* entries of referenced_data */
  tool_names_t orders;           /* keys of those that are there */
} tool_uff_file_t;

/* A node is begun; inputs and fields follow. The pointer is good until the next one is begun. */
tool_wire_writer_t* tool_uff_node(tool_uff_file_t* file, const char* id, const char* operation);
void tool_uff_input(tool_wire_writer_t* node, const char* id);
void tool_uff_text(tool_wire_writer_t* node, const char* name, const char* value);
void tool_uff_int(tool_wire_writer_t* node, const char* name, int64_t value);
void tool_uff_bool(tool_wire_writer_t* node, const char* name, bool value);
void tool_uff_double(tool_wire_writer_t* node, const char* name, double value);
void tool_uff_ints(tool_wire_writer_t* node, const char* name, const int64_t* values, size_t count);
/* 0 when UFF has no such type. */
uint32_t tool_uff_dtype(tenon_dtype_t dtype);
void tool_uff_type(tool_wire_writer_t* node, const char* name, tenon_dtype_t dtype);
/* inputs_orders: "NC+ KC+"; kept once in the file. */
void tool_uff_orders(tool_uff_file_t* file, tool_wire_writer_t* node, const char* orders);
/* A whole Const. */
void tool_uff_const(tool_uff_file_t* file, const char* id, const tenon_value_type_t* type,
                    size_t size_bytes);
/* The file's bytes: nodes in reverse and then marks in order, as UFF's converter wrote them. Frees
 * what was written. */
void tool_uff_finish(tool_uff_file_t* file, tool_wire_writer_t* out_bytes);
void tool_uff_free(tool_uff_file_t* file);

#endif
