/*
 * A file is read as a tree of fields by a table of those messages that ONNX has. Fields are counted
 * in the order in which they stand; one of them is changed while all are written again.
 */
#include "tests/engine/model_edits.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_DEPTH = 24, MOST_TEXT = 32, MOST_FIELDS = 1 << 14, MOST_FILE = 1 << 16 };

/* ---- Messages ---- */

typedef enum message_t {
  OPAQUE, /* numbers, texts, data */
  TEXT,
  PACKED, /* numbers, one after the other */
  MODEL,
  OPERATOR_SET,
  GRAPH,
  NODE,
  ATTRIBUTE,
  TENSOR,
  SPARSE,
  VALUE,
  TYPE,
  TENSOR_TYPE,
  SHAPE,
  EXTENT,
  ELEMENT_TYPE,
  FUNCTION
} message_t;

/* What a field of a message holds. */
typedef struct member_t {
  message_t message;
  uint32_t field;
  message_t holds;
} member_t;

static const member_t members[] = {{MODEL, 7, GRAPH},
                                   {MODEL, 8, OPERATOR_SET},
                                   {MODEL, 25, FUNCTION},
                                   {OPERATOR_SET, 1, TEXT},
                                   {GRAPH, 1, NODE},
                                   {GRAPH, 2, TEXT},
                                   {GRAPH, 5, TENSOR},
                                   {GRAPH, 11, VALUE},
                                   {GRAPH, 12, VALUE},
                                   {GRAPH, 13, VALUE},
                                   {GRAPH, 15, SPARSE},
                                   {NODE, 1, TEXT},
                                   {NODE, 2, TEXT},
                                   {NODE, 3, TEXT},
                                   {NODE, 4, TEXT},
                                   {NODE, 5, ATTRIBUTE},
                                   {NODE, 7, TEXT},
                                   {ATTRIBUTE, 1, TEXT},
                                   {ATTRIBUTE, 4, TEXT},
                                   {ATTRIBUTE, 5, TENSOR},
                                   {ATTRIBUTE, 6, GRAPH},
                                   {ATTRIBUTE, 8, PACKED},
                                   {ATTRIBUTE, 9, TEXT},
                                   {ATTRIBUTE, 10, TENSOR},
                                   {ATTRIBUTE, 11, GRAPH},
                                   {ATTRIBUTE, 22, SPARSE},
                                   {TENSOR, 1, PACKED},
                                   {TENSOR, 5, PACKED},
                                   {TENSOR, 7, PACKED},
                                   {TENSOR, 8, TEXT},
                                   {SPARSE, 1, TENSOR},
                                   {SPARSE, 2, TENSOR},
                                   {SPARSE, 3, PACKED},
                                   {VALUE, 1, TEXT},
                                   {VALUE, 2, TYPE},
                                   {TYPE, 1, TENSOR_TYPE},
                                   {TYPE, 4, ELEMENT_TYPE},
                                   {TYPE, 9, ELEMENT_TYPE},
                                   {TENSOR_TYPE, 2, SHAPE},
                                   {SHAPE, 1, EXTENT},
                                   {EXTENT, 2, TEXT},
                                   {ELEMENT_TYPE, 1, TYPE},
                                   {FUNCTION, 1, TEXT},
                                   {FUNCTION, 4, TEXT},
                                   {FUNCTION, 5, TEXT},
                                   {FUNCTION, 7, NODE},
                                   {FUNCTION, 9, OPERATOR_SET}};

static message_t held_by(message_t message, uint32_t field) {
  for (size_t k = 0; k < sizeof members / sizeof *members; ++k) {
    if (members[k].message == message && members[k].field == field) {
      return members[k].holds;
    }
  }
  return OPAQUE;
}

static const char* const operators[] = {"Add",
                                        "ArgMax",
                                        "AveragePool",
                                        "BatchNormalization",
                                        "Cast",
                                        "Ceil",
                                        "Clip",
                                        "Concat",
                                        "ConstantOfShape",
                                        "Conv",
                                        "ConvTranspose",
                                        "CumSum",
                                        "DepthToSpace",
                                        "DequantizeLinear",
                                        "Div",
                                        "Einsum",
                                        "Equal",
                                        "Expand",
                                        "Flatten",
                                        "GRU",
                                        "Gather",
                                        "GatherElements",
                                        "GatherND",
                                        "Gemm",
                                        "GlobalAveragePool",
                                        "GridSample",
                                        "Identity",
                                        "InstanceNormalization",
                                        "LSTM",
                                        "LayerNormalization",
                                        "LogSoftmax",
                                        "MatMul",
                                        "MatMulInteger",
                                        "MaxPool",
                                        "Mod",
                                        "Mul",
                                        "NonMaxSuppression",
                                        "NonZero",
                                        "OneHot",
                                        "Pad",
                                        "Pow",
                                        "QuantizeLinear",
                                        "Range",
                                        "ReduceMax",
                                        "ReduceMean",
                                        "ReduceSum",
                                        "Relu",
                                        "Reshape",
                                        "Resize",
                                        "ReverseSequence",
                                        "RoiAlign",
                                        "ScatterElements",
                                        "ScatterND",
                                        "SequenceAt",
                                        "SequenceInsert",
                                        "Shape",
                                        "Size",
                                        "Slice",
                                        "Softmax",
                                        "SpaceToDepth",
                                        "Split",
                                        "SplitToSequence",
                                        "Squeeze",
                                        "Sub",
                                        "Tile",
                                        "TopK",
                                        "Transpose",
                                        "Trilu",
                                        "Unique",
                                        "Unsqueeze",
                                        "Where",
                                        "Xor"};

/* ---- Reading ---- */

typedef struct span_t {
  const uint8_t* data;
  size_t size;
} span_t;

static bool take_number(span_t* rest, uint64_t* out_number) {
  *out_number = 0;
  for (uint32_t shift = 0; shift < 64; shift += 7) {
    if (rest->size == 0) {
      return false;
    }
    const uint8_t byte = *rest->data++;
    rest->size -= 1;
    *out_number |= (uint64_t)(byte & 127u) << shift;
    if (byte < 128) {
      return true;
    }
  }
  return false;
}

typedef struct field_t {
  span_t whole; /* with its key */
  span_t bytes; /* of length-delimited and fixed ones */
  uint64_t number;
  uint32_t id;
  uint32_t wire; /* 0: number, 1: 8 bytes, 2: bytes, 5: 4 bytes */
} field_t;

static bool take_field(span_t* rest, field_t* out_field) {
  uint64_t key = 0;
  uint64_t size = 0;
  const uint8_t* const begin = rest->data;
  if (!take_number(rest, &key)) {
    return false;
  }
  *out_field = (field_t){.id = (uint32_t)(key >> 3), .wire = (uint32_t)(key & 7u)};
  if (out_field->wire == 0) {
    if (!take_number(rest, &out_field->number)) {
      return false;
    }
  } else if (out_field->wire == 2) {
    if (!take_number(rest, &size)) {
      return false;
    }
  } else if (out_field->wire == 1 || out_field->wire == 5) {
    size = out_field->wire == 1 ? 8 : 4;
  } else {
    return false;
  }
  if (size > rest->size) {
    return false;
  }
  out_field->bytes = (span_t){rest->data, (size_t)size};
  rest->data += size;
  rest->size -= (size_t)size;
  out_field->whole = (span_t){begin, (size_t)(rest->data - begin)};
  return true;
}

/* ---- Writing ---- */

typedef struct text_t {
  uint8_t* data;
  size_t size;
  size_t capacity;
  bool failed;
} text_t;

static void put(text_t* text, const void* bytes, size_t size) {
  if (text->failed || size > text->capacity - text->size) {
    text->failed = true;
  } else if (size > 0) {
    memmove(text->data + text->size, bytes, size);
    text->size += size;
  }
}

static void put_number(text_t* text, uint64_t number) {
  do {
    const uint8_t byte = (uint8_t)((number & 127u) | (number > 127 ? 128u : 0u));
    put(text, &byte, 1);
    number >>= 7;
  } while (number > 0);
}

static void put_bytes(text_t* text, uint32_t id, const void* bytes, size_t size) {
  put_number(text, (uint64_t)id << 3 | 2u);
  put_number(text, size);
  put(text, bytes, size);
}

/* ---- Changing ---- */

typedef struct editing_t {
  uint64_t* random;
  uint32_t count;  /* of fields, in the order in which they stand */
  uint32_t target; /* the one that is changed */
  span_t texts[MOST_TEXT];
  uint32_t text_count; /* of all; those kept are spread over them */
  field_t donor;       /* stands in for the target; of the same message */
  message_t donor_of;
} editing_t;

static uint64_t draw(editing_t* e, uint64_t below) {
  *e->random = *e->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return below == 0 ? 0 : (*e->random >> 33) % below;
}

static uint64_t other_number(editing_t* e, uint64_t number) {
  static const uint64_t telling[] = {0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     7,
                                     8,
                                     16,
                                     64,
                                     255,
                                     65536,
                                     UINT64_MAX,
                                     UINT64_MAX - 1,
                                     UINT64_MAX - 2,
                                     INT64_MAX,
                                     UINT64_C(1) << 63,
                                     UINT64_C(1) << 31,
                                     UINT64_C(1) << 40};
  switch (draw(e, 4)) {
    case 0:
      return number + 1;
    case 1:
      return number - 1;
    case 2:
      return number ^ UINT64_C(1) << draw(e, 8);
    default:
      return telling[draw(e, sizeof telling / sizeof *telling)];
  }
}

static void put_other_numbers(editing_t* e, const field_t* field, text_t* text) {
  uint8_t room[512];
  text_t packed = {.data = room, .capacity = sizeof room};
  span_t rest = field->bytes;
  uint64_t number = 0;
  const uint64_t at = draw(e, field->bytes.size + 1);
  for (uint64_t k = 0; take_number(&rest, &number); ++k) {
    put_number(&packed, k == at ? other_number(e, number) : number);
  }
  if (at == field->bytes.size) {
    put_number(&packed, other_number(e, number));
  }
  put_bytes(text, field->id, packed.data, packed.size);
}

static void put_other_text(editing_t* e, message_t message, const field_t* field, text_t* text) {
  const uint32_t kept = e->text_count < MOST_TEXT ? e->text_count : MOST_TEXT;
  if (message == NODE && field->id == 4 && draw(e, 4) != 0) {
    const char* name = operators[draw(e, sizeof operators / sizeof *operators)];
    put_bytes(text, field->id, name, strlen(name));
  } else if (kept > 0 && draw(e, 8) != 0) {
    const span_t other = e->texts[draw(e, kept)];
    put_bytes(text, field->id, other.data, other.size);
  } else {
    put_bytes(text, field->id, "", 0);
  }
}

static void put_other_data(editing_t* e, const field_t* field, text_t* text) {
  uint8_t room[4096];
  const size_t size = field->bytes.size < sizeof room ? field->bytes.size : sizeof room;
  memcpy(room, field->bytes.data, size);
  if (size > 0) {
    room[draw(e, size)] = (uint8_t)draw(e, 256);
  }
  const size_t cut = draw(e, 4) == 0 ? (size_t)draw(e, size + 1) : 0;
  if (field->wire == 2) {
    put_bytes(text, field->id, room, size - cut);
  } else {
    put_number(text, (uint64_t)field->id << 3 | field->wire);
    put(text, room, size);
  }
}

static void put_changed(editing_t* e, message_t message, const field_t* field, text_t* text) {
  const message_t holds = held_by(message, field->id);
  const uint64_t how = draw(e, 10);
  if (how == 0) {
    return; /* dropped */
  }
  if (how == 1) {
    put(text, field->whole.data, field->whole.size); /* twice, or with one from elsewhere */
  }
  if (how <= 2 && e->donor_of == message) {
    put(text, e->donor.whole.data, e->donor.whole.size);
  } else if (how == 1 || (field->wire == 2 && holds >= MODEL)) {
    put(text, field->whole.data, field->whole.size);
  } else if (field->wire == 0) {
    put_number(text, (uint64_t)field->id << 3);
    put_number(text, other_number(e, field->number));
  } else if (field->wire == 2 && holds == PACKED) {
    put_other_numbers(e, field, text);
  } else if (field->wire == 2 && holds == TEXT) {
    put_other_text(e, message, field, text);
  } else {
    put_other_data(e, field, text);
  }
}

static void note_text(editing_t* e, const field_t* field) {
  const uint32_t at = e->text_count < MOST_TEXT ? e->text_count : (uint32_t)draw(e, MOST_TEXT);
  e->texts[at] = field->bytes;
  e->text_count += 1;
}

/* Counts fields and gathers texts; with `text`, writes them with the target changed. */
static void walk(editing_t* e, message_t message, span_t rest, uint32_t depth, text_t* text) {
  field_t field;
  while (rest.size > 0) {
    const span_t before = rest;
    if (e->count > MOST_FIELDS || !take_field(&rest, &field)) {
      if (text != NULL) {
        put(text, before.data, before.size); /* no message from here on */
      }
      return;
    }
    const message_t holds = field.wire == 2 ? held_by(message, field.id) : OPAQUE;
    const uint32_t number = e->count++;
    if (text == NULL) {
      if (holds == TEXT) {
        note_text(e, &field);
      }
      if (draw(e, e->count) == 0) {
        e->donor = field;
        e->donor_of = message;
      }
    }
    if (text != NULL && number == e->target) {
      put_changed(e, message, &field, text);
    } else if (holds >= MODEL && depth < MOST_DEPTH) {
      if (text == NULL) {
        walk(e, holds, field.bytes, depth + 1, NULL);
        continue;
      }
      /* Its length stands before it: it is written in a room of its own. */
      static uint8_t rooms[MOST_DEPTH][MOST_FILE];
      text_t inner = {.data = rooms[depth], .capacity = MOST_FILE};
      walk(e, holds, field.bytes, depth + 1, &inner);
      text->failed = text->failed || inner.failed;
      put_bytes(text, field.id, inner.data, inner.size);
    } else if (text != NULL) {
      put(text, field.whole.data, field.whole.size);
    }
  }
}

size_t model_edits_mutate(uint8_t* data, size_t size, size_t capacity, uint64_t* random) {
  static uint8_t room[MOST_FILE];
  editing_t e = {.random = random};
  text_t text = {.data = room, .capacity = capacity < sizeof room ? capacity : sizeof room};
  const span_t file = {data, size};
  walk(&e, MODEL, file, 0, NULL);
  e.target = (uint32_t)draw(&e, e.count);
  e.count = 0;
  walk(&e, MODEL, file, 0, &text);
  if (text.failed || text.size == 0) {
    return size;
  }
  memcpy(data, text.data, text.size);
  return text.size;
}
