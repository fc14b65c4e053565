/* The messages of a UFF file: nodes with fields, and the data that they refer to. Numbers of
 * fields as NVIDIA's converter writes them; parser_uff/schema.c has the same table for reading. */
#ifndef TOOL_EXPORT_UFF_FILE_H_
#define TOOL_EXPORT_UFF_FILE_H_

#include "data/wire.h"
#include "export/names.h"
#include "tenon/tenon.h"

/* All zeros is an empty file. Freed by tool_uff_free, or by tool_uff_finish. */
typedef struct tool_uff_file_t {
  /* Nodes in an order in which they can be computed, then marks of outputs. */
  tool_wire_writer_t* nodes;
  size_t node_count;
  /* Set before the marks of outputs are written: only what is before it is reversed. */
  size_t first_mark;
  size_t node_capacity;
  /* Operations that are not UFF's own ("_Op"): the file then names a second descriptor. */
  bool has_extensions;
  /* Entries of referenced_data: weights and dimension orders. */
  tool_wire_writer_t referenced;
  /* Keys of dimension orders that are there: each is kept once. */
  tool_names_t orders;
} tool_uff_file_t;

/* A node is begun; inputs and fields follow. The pointer is good until the next one is begun. */
tool_wire_writer_t* tool_uff_node(tool_uff_file_t* file, const char* id, const char* operation);
void tool_uff_input(tool_wire_writer_t* node, const char* id);
void tool_uff_text(tool_wire_writer_t* node, const char* name, const char* value);
void tool_uff_int(tool_wire_writer_t* node, const char* name, int64_t value);
void tool_uff_bool(tool_wire_writer_t* node, const char* name, bool value);
void tool_uff_double(tool_wire_writer_t* node, const char* name, double value);
void tool_uff_ints(tool_wire_writer_t* node, const char* name, const int64_t* values, size_t count);
/* Kind and bits: 0x20020 is f32. 0 when UFF has no such type. */
uint32_t tool_uff_dtype(tenon_dtype_t dtype);
void tool_uff_type(tool_wire_writer_t* node, const char* name, tenon_dtype_t dtype);
/* Field inputs_orders: an order an input, "NC+ KC+"; + stands for the spatial axes, K for
 * outputs of weights. */
void tool_uff_orders(tool_uff_file_t* file, tool_wire_writer_t* node, const char* orders);
/* A whole Const: node, shape, type and the constant's bytes, which are copied. */
void tool_uff_const(tool_uff_file_t* file, const char* id, const tenon_value_type_t* type,
                    size_t size_bytes);
/* The file's bytes: nodes in reverse and then marks in order, as UFF's converter wrote them, and
 * some readers want them. Frees what was written. */
void tool_uff_finish(tool_uff_file_t* file, tool_wire_writer_t* out_bytes);
void tool_uff_free(tool_uff_file_t* file);

#endif
