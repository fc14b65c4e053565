/* Rows follow proto/onnx-ml.proto. */
#include "schema.h"

#include "tenon/reader.h"

enum {
  VARINT = TENON_READER_WIRE_VARINT,
  FIXED64 = TENON_READER_WIRE_FIXED64,
  LENGTH = TENON_READER_WIRE_LENGTH,
  FIXED32 = TENON_READER_WIRE_FIXED32,
  NUMBER_LIMIT = 27
};

#define NUMBER(message, number, wire) \
  { TENON__ONNX_MESSAGE_##message, number, TENON__ONNX_FIELD_NUMBER, 0, wire, 0 }
#define NUMBERS(message, number, wire) \
  { TENON__ONNX_MESSAGE_##message, number, TENON__ONNX_FIELD_NUMBERS, 0, wire, 0 }
#define BYTES(message, number) \
  { TENON__ONNX_MESSAGE_##message, number, TENON__ONNX_FIELD_BYTES, 0, LENGTH, 0 }
#define STRING(message, number) \
  { TENON__ONNX_MESSAGE_##message, number, TENON__ONNX_FIELD_STRING, 0, LENGTH, 0 }
#define MANY(message, number, child)                                                               \
  {                                                                                                \
    TENON__ONNX_MESSAGE_##message, number, TENON__ONNX_FIELD_MESSAGE, TENON__ONNX_MESSAGE_##child, \
        LENGTH, 0                                                                                  \
  }
#define SINGLE(message, number, child, once)                                                      \
  {                                                                                               \
    TENON__ONNX_MESSAGE_##message, number, TENON__ONNX_FIELD_SINGLE, TENON__ONNX_MESSAGE_##child, \
        LENGTH, once                                                                              \
  }
#define CUT(number, wire) \
  { TENON__ONNX_MESSAGE_TENSOR, number, TENON__ONNX_FIELD_CUT, 0, wire, 0 }

static const tenon__onnx_field_t fields[] = {
    NUMBER(MODEL, 1, VARINT),         /* ir_version */
    STRING(MODEL, 2),                 /* producer_name */
    STRING(MODEL, 3),                 /* producer_version */
    SINGLE(MODEL, 7, GRAPH, 0),       /* graph */
    MANY(MODEL, 8, OPERATOR_SET),     /* opset_import */
    MANY(MODEL, 25, FUNCTION),        /* functions */
    MANY(GRAPH, 1, NODE),             /* node */
    STRING(GRAPH, 2),                 /* name */
    MANY(GRAPH, 5, TENSOR),           /* initializer */
    MANY(GRAPH, 15, SPARSE),          /* sparse_initializer */
    MANY(GRAPH, 11, VALUE_INFO),      /* input */
    MANY(GRAPH, 12, VALUE_INFO),      /* output */
    STRING(NODE, 1),                  /* input */
    STRING(NODE, 2),                  /* output */
    STRING(NODE, 3),                  /* name */
    STRING(NODE, 4),                  /* op_type */
    STRING(NODE, 7),                  /* domain */
    STRING(NODE, 8),                  /* overload */
    MANY(NODE, 5, ATTRIBUTE),         /* attribute */
    STRING(ATTRIBUTE, 1),             /* name */
    STRING(ATTRIBUTE, 21),            /* ref_attr_name */
    NUMBER(ATTRIBUTE, 20, VARINT),    /* type */
    NUMBER(ATTRIBUTE, 2, FIXED32),    /* f */
    NUMBER(ATTRIBUTE, 3, VARINT),     /* i */
    BYTES(ATTRIBUTE, 4),              /* s */
    SINGLE(ATTRIBUTE, 5, TENSOR, 0),  /* t */
    SINGLE(ATTRIBUTE, 6, GRAPH, 1),   /* g */
    SINGLE(ATTRIBUTE, 22, SPARSE, 2), /* sparse_tensor */
    SINGLE(ATTRIBUTE, 14, TYPE, 3),   /* tp */
    NUMBERS(ATTRIBUTE, 7, FIXED32),   /* floats */
    NUMBERS(ATTRIBUTE, 8, VARINT),    /* ints */
    BYTES(ATTRIBUTE, 9),              /* strings */
    MANY(ATTRIBUTE, 10, TENSOR),      /* tensors */
    MANY(ATTRIBUTE, 11, GRAPH),       /* graphs */
    MANY(ATTRIBUTE, 23, SPARSE),      /* sparse_tensors */
    MANY(ATTRIBUTE, 15, TYPE),        /* type_protos */
    NUMBERS(TENSOR, 1, VARINT),       /* dims */
    NUMBER(TENSOR, 2, VARINT),        /* data_type */
    {TENON__ONNX_MESSAGE_TENSOR, 3, TENON__ONNX_FIELD_SEGMENT, 0, LENGTH, 0},
    CUT(4, FIXED32),                    /* float_data */
    CUT(5, VARINT),                     /* int32_data */
    CUT(6, LENGTH),                     /* string_data */
    CUT(7, VARINT),                     /* int64_data */
    STRING(TENSOR, 8),                  /* name */
    CUT(9, LENGTH),                     /* raw_data */
    CUT(10, FIXED64),                   /* double_data */
    CUT(11, VARINT),                    /* uint64_data */
    MANY(TENSOR, 13, ENTRY),            /* external_data */
    NUMBER(TENSOR, 14, VARINT),         /* data_location */
    SINGLE(SPARSE, 1, TENSOR, 0),       /* values */
    SINGLE(SPARSE, 2, TENSOR, 1),       /* indices */
    NUMBERS(SPARSE, 3, VARINT),         /* dims */
    STRING(VALUE_INFO, 1),              /* name */
    SINGLE(VALUE_INFO, 2, TYPE, 0),     /* type */
    SINGLE(TYPE, 1, TYPE_TENSOR, 0),    /* tensor_type */
    SINGLE(TYPE, 4, TYPE_CONTAINER, 0), /* sequence_type */
    SINGLE(TYPE, 5, TYPE_MAP, 0),       /* map_type */
    SINGLE(TYPE, 9, TYPE_CONTAINER, 0), /* optional_type */
    SINGLE(TYPE, 8, TYPE_TENSOR, 0),    /* sparse_tensor_type */
    NUMBER(TYPE_TENSOR, 1, VARINT),     /* elem_type */
    SINGLE(TYPE_TENSOR, 2, SHAPE, 0),   /* shape */
    SINGLE(TYPE_CONTAINER, 1, TYPE, 0), /* elem_type */
    NUMBER(TYPE_MAP, 1, VARINT),        /* key_type */
    SINGLE(TYPE_MAP, 2, TYPE, 0),       /* value_type */
    MANY(SHAPE, 1, DIMENSION),          /* dim */
    NUMBER(DIMENSION, 1, VARINT),       /* dim_value */
    STRING(DIMENSION, 2),               /* dim_param */
    STRING(OPERATOR_SET, 1),            /* domain */
    NUMBER(OPERATOR_SET, 2, VARINT),    /* version */
    STRING(FUNCTION, 1),                /* name */
    STRING(FUNCTION, 4),                /* input */
    STRING(FUNCTION, 5),                /* output */
    STRING(FUNCTION, 6),                /* attribute */
    MANY(FUNCTION, 11, ATTRIBUTE),      /* attribute_proto */
    MANY(FUNCTION, 7, NODE),            /* node */
    MANY(FUNCTION, 9, OPERATOR_SET),    /* opset_import */
    STRING(FUNCTION, 10),               /* domain */
    STRING(FUNCTION, 13),               /* overload */
    STRING(ENTRY, 1),                   /* key */
    STRING(ENTRY, 2),                   /* value */
};

const tenon__onnx_field_t* tenon__onnx_schema_field(uint32_t message, uint64_t number) {
  if (number >= NUMBER_LIMIT) {
    return NULL;
  }
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
    if (fields[i].message == message && fields[i].number == number) {
      return &fields[i];
    }
  }
  return NULL;
}

#define MESSAGE_TEXT(name, text) text,
const char* tenon__onnx_schema_name(uint32_t message) {
  static const char* const names[] = {TENON__ONNX_MESSAGES(MESSAGE_TEXT)};
  return names[message];
}
