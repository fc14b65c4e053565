/*
 * Control forms. Their bodies take captured values as last parameters. A Scan is a repetition whose
 * length is that of its scanned inputs.
 */
#include <inttypes.h>

#include "branch.h"
#include "families.h"

static void add_captures(tenon_make_t* make, const tenon__onnx_captures_t* captures) {
  for (uint32_t i = 0; i < captures->count; ++i) {
    tenon_make_add(make, captures->values[i]);
  }
}

/* A condition or count of one element, as the scalar that control forms take. */
static tenon_value_t scalar(tenon_make_t* make, tenon_value_t value, tenon_dtype_t dtype) {
  if (!tenon_make_present(value)) {
    return value;
  }
  const tenon_value_t flat =
      tenon_make_rank(make, value) == 0 ? value : tenon_make_reshape(make, value, NULL, 0);
  return tenon_make_cast(make, flat, dtype);
}

static const char* const branch_names[2] = {"then_branch", "else_branch"};

/* A condition that is known now: that branch's nodes take the place of the node. The other may not
 * even fit: writers use this form for "squeeze where the extent is 1". */
static bool known_branch(tenon_make_t* make) {
  int64_t taken = 0;
  uint32_t count = 0;
  tenon__onnx_captures_t captures;
  if (!tenon_make_known_ints(make, tenon_make_input(make, 0), &taken, 1, &count) || count != 1) {
    return false;
  }
  make->status = tenon__onnx_find_captures(make->source, &captures);
  if (make->status == TENON_OK) {
    const tenon__onnx_inlining_t inlining = {.attribute = branch_names[taken != 0 ? 0 : 1],
                                             .result_count = make->output_count,
                                             .captures = &captures,
                                             .captured = captures.values};
    make->status = tenon__onnx_inline_body(make->source, &inlining, make->outputs);
  }
  return true;
}

/* What the branches are is known: the node. */
static void finish_branch(tenon_make_t* make, tenon_value_t condition,
                          const tenon__onnx_choice_t* choice) {
  const uint32_t output_count = make->output_count;
  tenon_value_t* outputs = make->outputs;
  tenon_make_begin(make, "branch");
  tenon_make_add(make, condition);
  add_captures(make, &choice->captures);
  tenon_make_add_body(make, choice->bodies[0]);
  tenon_make_add_body(make, choice->bodies[1]);
  tenon_make_set_output_count(make, choice->output_count);
  const bool is_whole = tenon_make_ok(make);
  if (choice->rest != NULL) { /* it gives what the block gives */
    make->output_count = choice->output_count;
    make->outputs = tenon_make_memory(make, choice->output_count, sizeof(*outputs));
  }
  tenon_make_end_outputs(make);
  if (choice->rest != NULL && tenon_make_ok(make)) {
    make->status = tenon__onnx_bind_rest(make->source, choice, make->outputs);
  }
  make->output_count = output_count;
  make->outputs = outputs;
  if (is_whole && !tenon_make_ok(make)) {
    tenon_reader_say(
        make->source->program->reader, TENON_SEVERITY_INFO,
        "%s: if its condition follows from the extents of inputs, give these: then one "
        "branch is left",
        make->table->name(make->source));
  }
}

static void branch(tenon_make_t* make) {
  tenon__onnx_choice_t choice;
  if (known_branch(make)) {
    return;
  }
  const tenon_value_t condition = scalar(make, tenon_make_input(make, 0), TENON_DTYPE_BOOL);
  if (tenon_make_ok(make)) {
    make->status = tenon__onnx_convert_choice(make->source, branch_names, &choice);
  }
  if (tenon_make_ok(make)) {
    finish_branch(make, condition, &choice);
  }
}

/* What a repetition is made of, besides its values. */
typedef struct repetition_t {
  tenon_value_t trip_count;
  tenon_value_t condition;
  uint32_t first_value; /* of the node's inputs: carried, then scanned */
  uint32_t carried_count;
  uint32_t scanned_count;
  int64_t* axes; /* of scanned inputs, then of collected outputs */
  int64_t* directions;
} repetition_t;

static void make_repetition(tenon_make_t* make, const repetition_t* loop,
                            const tenon__onnx_body_request_t* request) {
  const uint32_t collected = make->output_count - loop->carried_count;
  tenon__onnx_body_t body = {0};
  if (!tenon_make_ok(make) ||
      !tenon_make_keep(make, tenon__onnx_convert_body(make->source, request, &body))) {
    return;
  }
  tenon_make_begin(make, "repetition");
  tenon_make_set_int(make, "carried_count", loop->carried_count);
  tenon_make_set_int(make, "scanned_count", loop->scanned_count);
  tenon_make_set_ints(make, "axes", loop->axes, loop->scanned_count + collected);
  tenon_make_set_ints(make, "directions", loop->directions, loop->scanned_count + collected);
  tenon_make_add(make, loop->trip_count);
  tenon_make_add(make, loop->condition);
  for (uint32_t i = 0; i < loop->carried_count + loop->scanned_count; ++i) {
    tenon_make_add(make, tenon_make_input(make, loop->first_value + i));
  }
  add_captures(make, &body.captures);
  tenon_make_add_body(make, body.body);
  tenon_make_set_output_count(make, make->output_count);
  tenon_make_end_outputs(make);
  for (uint32_t i = 0; i < loop->carried_count; ++i) {
    if (body.is_wrapped[i]) {
      tenon_make_output(make, i, tenon__onnx_optional_get(make, make->outputs[i]));
    }
  }
}

static bool allocate_lists(tenon_make_t* make, repetition_t* loop) {
  if (loop->carried_count > make->output_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%u values are carried, it has %u outputs",
                    loop->carried_count, make->output_count);
    return false;
  }
  const size_t count = loop->scanned_count + make->output_count;
  loop->axes = tenon_make_memory(make, count, sizeof(int64_t));
  loop->directions = tenon_make_memory(make, count, sizeof(int64_t));
  return loop->axes != NULL && loop->directions != NULL;
}

static void loop_node(tenon_make_t* make) {
  repetition_t loop = {.first_value = 2,
                       .carried_count = make->input_count < 2 ? 0 : make->input_count - 2};
  loop.trip_count = scalar(make, tenon_make_input(make, 0), TENON_DTYPE_INT64);
  loop.condition = scalar(make, tenon_make_input(make, 1), TENON_DTYPE_BOOL);
  if (!allocate_lists(make, &loop)) {
    return;
  }
  tenon_value_t* types = tenon_make_memory(make, 2 + loop.carried_count, sizeof(*types));
  if (types != NULL) {
    for (uint32_t i = 0; i < loop.carried_count; ++i) {
      types[2 + i] = tenon_make_input(make, 2 + i);
    }
  }
  const tenon__onnx_body_request_t request = {.attribute = "body",
                                              .form = TENON__ONNX_BODY_LOOP,
                                              .parameter_types = types,
                                              .parameter_type_count = 2 + loop.carried_count,
                                              .carried_input = 2,
                                              .carried_output = 1,
                                              .carried_count = loop.carried_count};
  make_repetition(make, &loop, &request);
}

/* A list of a Scan with an entry for each of `count` values, whose ranks are `rank + extra`. */
static void scan_list(tenon_make_t* make, const char* name, uint32_t count, int64_t* out_list) {
  const int64_t* values = NULL;
  size_t found = 0;
  if (!tenon_make_get_ints(make, name, &values, &found)) {
    return;
  }
  if (found != count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%s has %zu entries, %u are needed", name,
                    found, count);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    out_list[i] = values[i];
  }
}

/* One slice along an axis, made only so that the body's parameter can have its type. */
static tenon_value_t slice_type(tenon_make_t* make, tenon_value_t value, int64_t axis) {
  return tenon_make_gather(make, value, tenon_make_int64(make, 0), axis);
}

static void scan(tenon_make_t* make) {
  const int64_t scanned = tenon_make_get_int(make, "num_scan_inputs", 0);
  if (scanned < 1 || scanned > make->input_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "num_scan_inputs is %" PRId64, scanned);
    return;
  }
  repetition_t loop = {.scanned_count = (uint32_t)scanned,
                       .carried_count = make->input_count - (uint32_t)scanned};
  if (!allocate_lists(make, &loop)) {
    return;
  }
  const uint32_t collected = make->output_count - loop.carried_count;
  scan_list(make, "scan_input_axes", loop.scanned_count, loop.axes);
  scan_list(make, "scan_output_axes", collected, loop.axes + loop.scanned_count);
  scan_list(make, "scan_input_directions", loop.scanned_count, loop.directions);
  scan_list(make, "scan_output_directions", collected, loop.directions + loop.scanned_count);
  tenon_value_t* types = tenon_make_memory(make, make->input_count, sizeof(*types));
  if (types != NULL) {
    for (uint32_t i = 0; i < make->input_count; ++i) {
      const tenon_value_t value = tenon_make_input(make, i);
      types[i] = i < loop.carried_count
                     ? value
                     : slice_type(make, value, loop.axes[i - loop.carried_count]);
    }
  }
  const tenon__onnx_body_request_t request = {.attribute = "body",
                                              .form = TENON__ONNX_BODY_SCAN,
                                              .parameter_types = types,
                                              .parameter_type_count = make->input_count,
                                              .carried_count = loop.carried_count};
  make_repetition(make, &loop, &request);
}

/* Item `index` of a batch. */
static tenon_value_t batch_item(tenon_make_t* make, tenon_value_t value, int64_t index) {
  const tenon_value_t place = tenon_make_int64(make, index);
  return tenon_make_2(make, "gather", value, place);
}

/* Opset 8: one scan for each item of the batch, which is axis 0 of everything; lengths cannot be
 * given. */
static void scan_8(tenon_make_t* make) {
  enum { BATCH_LIMIT = 64, INPUT_LIMIT = 32 };
  const int64_t scanned = tenon_make_get_int(make, "num_scan_inputs", 0);
  const int64_t batch = tenon_make_dim(make, tenon_make_input(make, 1), 0);
  if (tenon_make_has_input(make, 0) || batch < 1 || batch > BATCH_LIMIT || scanned < 1 ||
      scanned >= make->input_count || make->input_count > INPUT_LIMIT ||
      make->output_count > INPUT_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "opset 8 needs a known batch of at most %d and no sequence lengths",
                    BATCH_LIMIT);
    return;
  }
  const tenon_value_t* inputs = make->inputs;
  const uint32_t input_count = make->input_count;
  tenon_value_t* outputs = make->outputs;
  tenon_value_t items[INPUT_LIMIT];
  tenon_value_t results[INPUT_LIMIT][BATCH_LIMIT];
  for (int64_t b = 0; b < batch; ++b) {
    tenon_value_t made[INPUT_LIMIT] = {{0}};
    for (uint32_t i = 1; i < input_count; ++i) {
      items[i - 1] = batch_item(make, inputs[i], b);
    }
    make->inputs = items;
    make->input_count = input_count - 1;
    make->outputs = made;
    scan(make);
    make->inputs = inputs;
    make->input_count = input_count;
    make->outputs = outputs;
    for (uint32_t i = 0; i < make->output_count; ++i) {
      const int64_t axis = 0;
      results[i][b] = tenon_make_unsqueeze(make, made[i], &axis, 1);
    }
  }
  for (uint32_t i = 0; i < make->output_count; ++i) {
    tenon_make_output(make, i, tenon_make_concat(make, 0, (uint32_t)batch, results[i]));
  }
}

#define MADE(type, since, function) TENON__ONNX_ROW("", type, since, 0, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("If", 1, branch),
    MADE("Loop", 1, loop_node),
    TENON__ONNX_ROW("", "Scan", 8, 9, scan_8, NULL, NULL),
    MADE("Scan", 9, scan),
};
TENON__ONNX_FAMILY(control);
