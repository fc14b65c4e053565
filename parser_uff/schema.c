/* Tables of messages, each sorted as in its .proto file. */
#include "schema.h"

#include <string.h>

#define SCHEMA(variable, title) \
  { title, (variable), sizeof(variable) / sizeof(*(variable)) }
#define INT(name, number) \
  { name, number, TENON__UFF_KIND_INT, NULL }
#define BOOL(name, number) \
  { name, number, TENON__UFF_KIND_BOOL, NULL }
#define ENUM(name, number) \
  { name, number, TENON__UFF_KIND_ENUM, NULL }
#define FLOAT(name, number) \
  { name, number, TENON__UFF_KIND_FLOAT, NULL }
#define DOUBLE(name, number) \
  { name, number, TENON__UFF_KIND_DOUBLE, NULL }
#define BYTES(name, number) \
  { name, number, TENON__UFF_KIND_BYTES, NULL }
#define MESSAGE(name, number, inner) \
  { name, number, TENON__UFF_KIND_MESSAGE, inner }
#define IGNORED(name, number) \
  { name, number, TENON__UFF_KIND_IGNORED, NULL }

/* ---- UFF ---- */

static const tenon__uff_entry_t string_list_entries[] = {BYTES("val", 1)};
static const tenon__uff_schema_t string_list = SCHEMA(string_list_entries, "ListString");
static const tenon__uff_entry_t double_list_entries[] = {DOUBLE("val", 1)};
static const tenon__uff_schema_t double_list = SCHEMA(double_list_entries, "ListDouble");
static const tenon__uff_entry_t bool_list_entries[] = {BOOL("val", 1)};
static const tenon__uff_schema_t bool_list = SCHEMA(bool_list_entries, "ListBool");
static const tenon__uff_entry_t int_list_entries[] = {INT("val", 1)};
static const tenon__uff_schema_t int_list = SCHEMA(int_list_entries, "ListINT64");
static const tenon__uff_entry_t type_list_entries[] = {ENUM("val", 1)};
static const tenon__uff_schema_t type_list = SCHEMA(type_list_entries, "ListDataType");
static const tenon__uff_entry_t order_entries[] = {INT("key", 1), MESSAGE("value", 2, &int_list)};
static const tenon__uff_schema_t order = SCHEMA(order_entries, "OrdersEntry");
static const tenon__uff_entry_t orders_entries[] = {MESSAGE("orders", 1, &order)};
static const tenon__uff_schema_t orders = SCHEMA(orders_entries, "DimensionOrders");
static const tenon__uff_entry_t orders_list_entries[] = {MESSAGE("val", 1, &orders)};
static const tenon__uff_schema_t orders_list = SCHEMA(orders_list_entries, "ListDimensionOrders");

static const tenon__uff_entry_t data_entries[] = {
    BYTES("s", 1),
    MESSAGE("s_list", 2, &string_list),
    DOUBLE("d", 3),
    MESSAGE("d_list", 4, &double_list),
    BOOL("b", 5),
    MESSAGE("b_list", 6, &bool_list),
    INT("i", 7),
    MESSAGE("i_list", 8, &int_list),
    BYTES("blob", 9),
    BYTES("ref", 100),
    ENUM("dtype", 101),
    MESSAGE("dtype_list", 102, &type_list),
    MESSAGE("dim_orders", 103, &orders),
    MESSAGE("dim_orders_list", 104, &orders_list),
};
static const tenon__uff_schema_t data = SCHEMA(data_entries, "Data");
static const tenon__uff_entry_t data_map_entries[] = {BYTES("key", 1), MESSAGE("value", 2, &data)};
static const tenon__uff_schema_t data_map = SCHEMA(data_map_entries, "DataEntry");
static const tenon__uff_entry_t uff_node_entries[] = {
    BYTES("id", 1), BYTES("inputs", 2), BYTES("operation", 3), MESSAGE("fields", 4, &data_map),
    MESSAGE("extra_fields", 100, &data_map)};
static const tenon__uff_schema_t uff_node = SCHEMA(uff_node_entries, "Node");
static const tenon__uff_entry_t graph_entries[] = {BYTES("id", 1), MESSAGE("nodes", 2, &uff_node),
                                                   IGNORED("extra_fields", 100)};
static const tenon__uff_schema_t graph = SCHEMA(graph_entries, "Graph");
static const tenon__uff_entry_t meta_graph_entries[] = {INT("version", 1),
                                                        INT("descriptor_core_version", 2),
                                                        IGNORED("descriptors", 3),
                                                        MESSAGE("graphs", 4, &graph),
                                                        MESSAGE("referenced_data", 5, &data_map),
                                                        IGNORED("extra_fields", 100)};
const tenon__uff_schema_t tenon__uff_meta_graph = SCHEMA(meta_graph_entries, "MetaGraph");

/* ---- TensorFlow ---- */

static const tenon__uff_entry_t dim_entries[] = {INT("size", 1), IGNORED("name", 2)};
static const tenon__uff_schema_t dim = SCHEMA(dim_entries, "Dim");
static const tenon__uff_entry_t shape_entries[] = {MESSAGE("dim", 2, &dim),
                                                   BOOL("unknown_rank", 3)};
static const tenon__uff_schema_t shape = SCHEMA(shape_entries, "TensorShapeProto");
static const tenon__uff_entry_t tensor_entries[] = {
    ENUM("dtype", 1),
    MESSAGE("tensor_shape", 2, &shape),
    IGNORED("version_number", 3),
    BYTES("tensor_content", 4),
    FLOAT("float_val", 5),
    DOUBLE("double_val", 6),
    INT("int_val", 7),
    BYTES("string_val", 8),
    FLOAT("scomplex_val", 9),
    INT("int64_val", 10),
    BOOL("bool_val", 11),
    DOUBLE("dcomplex_val", 12),
    INT("half_val", 13),
    IGNORED("resource_handle_val", 14),
    IGNORED("variant_val", 15),
    INT("uint32_val", 16),
    INT("uint64_val", 17),
};
static const tenon__uff_schema_t tensor = SCHEMA(tensor_entries, "TensorProto");
static const tenon__uff_entry_t function_name_entries[] = {BYTES("name", 1), IGNORED("attr", 2)};
static const tenon__uff_schema_t function_name = SCHEMA(function_name_entries, "NameAttrList");
static const tenon__uff_entry_t list_entries[] = {BYTES("s", 2),
                                                  INT("i", 3),
                                                  FLOAT("f", 4),
                                                  BOOL("b", 5),
                                                  ENUM("type", 6),
                                                  MESSAGE("shape", 7, &shape),
                                                  MESSAGE("tensor", 8, &tensor),
                                                  MESSAGE("func", 9, &function_name)};
static const tenon__uff_schema_t list = SCHEMA(list_entries, "ListValue");
static const tenon__uff_entry_t attribute_entries[] = {MESSAGE("list", 1, &list),
                                                       BYTES("s", 2),
                                                       INT("i", 3),
                                                       FLOAT("f", 4),
                                                       BOOL("b", 5),
                                                       ENUM("type", 6),
                                                       MESSAGE("shape", 7, &shape),
                                                       MESSAGE("tensor", 8, &tensor),
                                                       IGNORED("placeholder", 9),
                                                       MESSAGE("func", 10, &function_name)};
static const tenon__uff_schema_t attribute = SCHEMA(attribute_entries, "AttrValue");
static const tenon__uff_entry_t attribute_map_entries[] = {BYTES("key", 1),
                                                           MESSAGE("value", 2, &attribute)};
static const tenon__uff_schema_t attribute_map = SCHEMA(attribute_map_entries, "AttrEntry");
static const tenon__uff_entry_t node_def_entries[] = {BYTES("name", 1),
                                                      BYTES("op", 2),
                                                      BYTES("input", 3),
                                                      IGNORED("device", 4),
                                                      MESSAGE("attr", 5, &attribute_map),
                                                      IGNORED("experimental_debug_info", 6),
                                                      IGNORED("experimental_type", 7)};
static const tenon__uff_schema_t node_def = SCHEMA(node_def_entries, "NodeDef");
static const tenon__uff_entry_t versions_entries[] = {
    INT("producer", 1), IGNORED("min_consumer", 2), IGNORED("bad_consumers", 3)};
static const tenon__uff_schema_t versions = SCHEMA(versions_entries, "VersionDef");
static const tenon__uff_entry_t graph_def_entries[] = {
    MESSAGE("node", 1, &node_def), IGNORED("library", 2), IGNORED("version", 3),
    MESSAGE("versions", 4, &versions), IGNORED("debug_info", 5)};
const tenon__uff_schema_t tenon__uff_graph_def = SCHEMA(graph_def_entries, "GraphDef");

/* ---- Looking up ---- */

const tenon__uff_entry_t* tenon__uff_schema_number(const tenon__uff_schema_t* schema,
                                                   uint64_t number) {
  for (size_t i = 0; i < schema->count; ++i) {
    if (schema->entries[i].number == number) {
      return &schema->entries[i];
    }
  }
  return NULL;
}

const tenon__uff_entry_t* tenon__uff_schema_name(const tenon__uff_schema_t* schema,
                                                 const char* name, size_t length) {
  for (size_t i = 0; i < schema->count; ++i) {
    if (strlen(schema->entries[i].name) == length &&
        memcmp(schema->entries[i].name, name, length) == 0) {
      return &schema->entries[i];
    }
  }
  return NULL;
}
