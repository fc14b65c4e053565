/* Sequences and optionals. */
#include "convert.h"
#include "families.h"
#include "types.h"

static void sequence_empty(tenon_make_t* make) {
  tenon_make_begin(make, "sequence_empty");
  tenon_make_set_dtype(make, "to", tenon__onnx_get_dtype(make, "dtype", TENON_DTYPE_FLOAT32));
  tenon_make_end_outputs(make);
}

/* The element type of the tensor, or of the tensors of the sequence, that an Optional declares. */
static tenon_dtype_t declared_dtype(tenon_make_t* make, bool* out_is_sequence) {
  const tenon_source_t* type = NULL;
  const tenon_source_t* element = NULL;
  int64_t number = 0;
  tenon_status_t status = make->table->get_tree(make->source, "type", 0, &type);
  *out_is_sequence =
      status == TENON_OK && make->table->get_tree(type, "elem", 0, &element) == TENON_OK;
  type = *out_is_sequence ? element : type;
  if (status == TENON_OK) {
    status = make->table->get_int(type, "elem_type", &number);
  }
  const tenon_dtype_t dtype = tenon__onnx_dtype(number);
  if (status != TENON_OK || dtype == TENON_DTYPE_UNDEFINED) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "attribute 'type' names no element type");
  }
  return dtype;
}

static void optional_make(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const bool is_present = tenon_make_present(x);
  bool is_sequence = is_present && tenon_make_type(make, x).kind == TENON_ARGUMENT_SEQUENCE;
  const tenon_dtype_t dtype =
      is_present ? tenon_make_dtype(make, x) : declared_dtype(make, &is_sequence);
  tenon_make_begin(make, is_sequence ? "optional_make_sequence" : "optional_make");
  tenon_make_set_dtype(make, "to", dtype);
  tenon_make_add(make, x);
  tenon_make_end_outputs(make);
}

/* Which of two operators takes the optional; NULL where it is none. */
static const char* optional_op(tenon_make_t* make, tenon_value_t o, const char* of_tensor,
                               const char* of_sequence) {
  const uint32_t kind = tenon_make_type(make, o).kind;
  return kind == TENON_ARGUMENT_OPTIONAL            ? of_tensor
         : kind == TENON_ARGUMENT_OPTIONAL_SEQUENCE ? of_sequence
                                                    : NULL;
}

tenon_value_t tenon__onnx_optional_get(tenon_make_t* make, tenon_value_t o) {
  const char* get = optional_op(make, o, "optional_get", "optional_get_sequence");
  return get == NULL ? o : tenon_make_1(make, get, o);
}

/* What an optional holds. Since opset 18 what is none stands for itself. */
static void optional_get(tenon_make_t* make) {
  const tenon_value_t o = tenon_make_input(make, 0);
  tenon_make_output(make, 0, tenon__onnx_optional_get(make, o));
}

static void optional_has(tenon_make_t* make) {
  const tenon_value_t o = tenon_make_input(make, 0);
  const uint8_t present = tenon_make_present(o);
  const char* has =
      present == 0 ? NULL : optional_op(make, o, "optional_has", "optional_has_sequence");
  if (has != NULL) {
    tenon_make_output(make, 0, tenon_make_1(make, has, o));
  } else {
    tenon_make_output(make, 0, tenon_make_tensor(make, TENON_DTYPE_BOOL, 0, NULL, &present));
  }
}

/* SequenceMap: a repetition over the length of the first sequence. Its body takes items out of the
 * sequences, does what the graph says, and appends to the results. */
typedef struct map_t {
  tenon_make_t* make;
  tenon__onnx_captures_t captures;
  uint32_t input_count;
  uint32_t output_count;
  tenon_value_t* carried; /* the empty results */
  uint32_t body;
} map_t;

static tenon_status_t parameter_like(map_t* map, tenon_value_t like, tenon_value_t* out_value) {
  tenon_make_t* make = map->make;
  return make->build->body_parameter_like(make->builder, make->table->name(make->source), like,
                                          out_value);
}

/* The results of one pass: each carried sequence with one more item. */
static void pass_results(map_t* map, tenon_value_t condition, const tenon_value_t* items,
                         const tenon_value_t* carried) {
  tenon_make_t* make = map->make;
  make->status = make->build->body_result(make->builder, condition);
  for (uint32_t i = 0; i < map->output_count; ++i) {
    const tenon_value_t more = tenon_make_2(make, "sequence_insert", carried[i], items[i]);
    if (make->status == TENON_OK) {
      make->status = make->build->body_result(make->builder, more);
    }
  }
}

static void one_pass(map_t* map) {
  tenon_make_t* make = map->make;
  const uint32_t captured_count = map->captures.count;
  tenon_value_t loop[2] = {{0}, {0}};
  tenon_value_t* carried = tenon_make_memory(make, map->output_count, sizeof(*carried));
  tenon_value_t* inputs = tenon_make_memory(make, map->input_count, sizeof(*inputs));
  tenon_value_t* captured = tenon_make_memory(make, captured_count, sizeof(*captured));
  tenon_value_t* items = tenon_make_memory(make, map->output_count, sizeof(*items));
  const char* name = make->table->name(make->source);
  static const tenon_dtype_t dtypes[2] = {TENON_DTYPE_INT64, TENON_DTYPE_BOOL};
  for (uint32_t i = 0; i < 2 && make->status == TENON_OK; ++i) {
    make->status = make->build->body_parameter(make->builder, name, TENON_ARGUMENT_TENSOR,
                                               dtypes[i], 0, NULL, &loop[i]);
  }
  for (uint32_t i = 0; i < map->output_count && make->status == TENON_OK; ++i) {
    make->status = parameter_like(map, map->carried[i], &carried[i]);
  }
  for (uint32_t i = 0; i < map->input_count && make->status == TENON_OK; ++i) {
    make->status = parameter_like(map, tenon_make_input(make, i), &inputs[i]);
  }
  for (uint32_t i = 0; i < captured_count && make->status == TENON_OK; ++i) {
    make->status = parameter_like(map, map->captures.values[i], &captured[i]);
  }
  for (uint32_t i = 0; i < map->input_count; ++i) {
    if (tenon_make_type(make, inputs[i]).kind == TENON_ARGUMENT_SEQUENCE) {
      inputs[i] = tenon_make_2(make, "sequence_at", inputs[i], loop[0]);
    }
  }
  if (make->status == TENON_OK) {
    const tenon__onnx_inlining_t inlining = {.attribute = "body",
                                             .inputs = inputs,
                                             .input_count = map->input_count,
                                             .result_count = map->output_count,
                                             .captures = &map->captures,
                                             .captured = captured};
    make->status = tenon__onnx_inline_body(make->source, &inlining, items);
  }
  if (make->status == TENON_OK) {
    pass_results(map, loop[1], items, carried);
  }
}

static void build_pass(map_t* map) {
  tenon_make_t* make = map->make;
  if (make->status == TENON_OK) {
    make->status = make->build->begin_body(make->builder, make->table->name(make->source));
  }
  if (make->status != TENON_OK) {
    return;
  }
  one_pass(map);
  if (make->status == TENON_OK) {
    make->status = make->build->end_body(make->builder, &map->body);
  } else {
    make->build->cancel_body(make->builder);
  }
}

static void sequence_map(tenon_make_t* make) {
  map_t map = {.make = make, .input_count = make->input_count, .output_count = make->output_count};
  const Onnx__GraphProto* graph = tenon__onnx_body_graph(make->source, "body");
  map.carried = tenon_make_memory(make, map.output_count, sizeof(*map.carried));
  if (graph == NULL || map.carried == NULL || graph->n_output < map.output_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its graph does not fit its outputs");
    return;
  }
  make->status = tenon__onnx_find_captures(make->source, &map.captures);
  const tenon_value_t length = tenon_make_1(make, "sequence_length", tenon_make_input(make, 0));
  for (uint32_t i = 0; i < map.output_count; ++i) {
    const Onnx__TypeProto* type = graph->output[i]->type;
    const bool is_tensor = type != NULL && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    tenon_make_begin(make, "sequence_empty");
    tenon_make_set_dtype(make, "to",
                         is_tensor ? tenon__onnx_dtype(type->tensor_type->elem_type)
                                   : (tenon_dtype_t)TENON_DTYPE_FLOAT32);
    map.carried[i] = tenon_make_end(make);
  }
  build_pass(&map);
  tenon_make_begin(make, "repetition");
  tenon_make_set_int(make, "carried_count", map.output_count);
  tenon_make_add(make, length);
  tenon_make_add(make, (tenon_value_t){0});
  for (uint32_t i = 0; i < map.output_count; ++i) {
    tenon_make_add(make, map.carried[i]);
  }
  tenon_make_add_inputs(make, 0);
  for (uint32_t i = 0; i < map.captures.count; ++i) {
    tenon_make_add(make, map.captures.values[i]);
  }
  tenon_make_add_body(make, map.body);
  tenon_make_set_output_count(make, make->output_count);
  tenon_make_end_outputs(make);
}

#define ROW(type, function, op, attributes) \
  TENON__ONNX_ROW("", type, 1, 0, function, op, attributes)
#define SAME(type, op, attributes) ROW(type, tenon_make_same, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    SAME("ConcatFromSequence", "concat_from_sequence", "axis new_axis"),
    ROW("Optional", optional_make, NULL, NULL),
    ROW("OptionalGetElement", optional_get, "optional_get", NULL),
    ROW("OptionalHasElement", optional_has, "optional_has", NULL),
    SAME("SequenceAt", "sequence_at", NULL),
    SAME("SequenceConstruct", "sequence_make", NULL),
    ROW("SequenceEmpty", sequence_empty, NULL, NULL),
    SAME("SequenceErase", "sequence_erase", NULL),
    SAME("SequenceInsert", "sequence_insert", NULL),
    SAME("SequenceLength", "sequence_length", NULL),
    ROW("SequenceMap", sequence_map, NULL, NULL),
    SAME("SplitToSequence", "split_to_sequence", "axis keepdims"),
};
TENON__ONNX_FAMILY(sequence);
