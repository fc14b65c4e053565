/* Walks the layers in order: each goes to its converter, its tops get names, and what nobody reads
 * in the end is an output. */
#include <string.h>

#include "source.h"

/* What a blob's name stands for now: a layer may replace it ("in place"). */
typedef struct binding_t {
  struct binding_t* next; /* in order of making */
  const char* name;
  tenon_value_t value;
  bool is_read;
  bool is_replaced;
  bool is_input;
} binding_t;

typedef struct walk_t {
  tenon__caffe_program_t* program;
  tenon_reader_names_t bindings;
  tenon_reader_names_t last_makers; /* of each blob: the last layer with that top */
  binding_t* first;
  binding_t* last;
} walk_t;

static tenon_status_t bind(walk_t* walk, const char* name, tenon_value_t value, bool is_input) {
  tenon_reader_t* reader = walk->program->reader;
  binding_t* old = tenon_reader_names_find(&walk->bindings, name);
  binding_t* binding = tenon_reader_allocate(reader, 1, sizeof(*binding));
  if (binding == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  *binding = (binding_t){.name = name, .value = value, .is_input = is_input};
  if (old != NULL) {
    old->is_replaced = true;
  }
  *(walk->last == NULL ? &walk->first : &walk->last->next) = binding;
  walk->last = binding;
  return tenon_reader_names_set(reader, &walk->bindings, name, binding);
}

/* ---- Inputs ---- */

/* Extents that the caller gave replace the file's, with -1 for what varies. -1 for each of them
 * says no more than the rank. */
static tenon_status_t find_extents(tenon_reader_t* reader, const tenon__caffe_input_t* input,
                                   uint32_t* out_rank, const int64_t** out_dims) {
  const tenon_status_t status =
      reader->host->input_shape(reader->parse, input->name, out_rank, out_dims);
  if (status != TENON_OK && status != TENON_ERROR_NOT_FOUND) {
    return status;
  }
  bool says_more = false;
  if (status == TENON_OK) {
    for (uint32_t i = 0; i < *out_rank; ++i) {
      says_more = says_more || (*out_dims)[i] >= 0;
    }
  }
  if (status == TENON_OK && input->dims != NULL && *out_rank != input->rank) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_ARGUMENT,
                             "input '%s' has rank %u in the file, the shape given has %u",
                             input->name, input->rank, *out_rank);
  }
  if (says_more) {
    return TENON_OK;
  }
  *out_rank = input->rank;
  *out_dims = input->dims;
  return input->dims != NULL
             ? TENON_OK
             : TENON_READER_FAIL(
                   reader, TENON_ERROR_INVALID_ARGUMENT,
                   "line %u: input '%s' has no extents in the file: give them, for example "
                   "%s:1x3x224x224, with -1 for what varies",
                   input->line, input->name, input->name);
}

/* value - mean, of pictures as large as the mean or, cut out of its middle, smaller. */
static tenon_status_t subtract_mean(walk_t* walk, const int64_t* dims, tenon_value_t* inout_value) {
  tenon_reader_t* reader = walk->program->reader;
  tenon_tensor_view_t mean;
  TENON_READER_TRY(tenon__caffe_blob_view(reader, walk->program->mean, "the mean", &mean));
  const uint32_t extra = mean.rank == 4 ? 1 : 0; /* a batch of one before channels, rows, columns */
  int64_t strides[4] = {0};
  int64_t offset = 0;
  bool fits = mean.rank == 3 + extra && (extra == 0 || mean.dims[0] == 1);
  const int64_t* extents = mean.dims + extra;
  const int64_t steps[3] = {fits ? extents[1] * extents[2] : 0, fits ? extents[2] : 0, 1};
  fits = fits && (extents[0] == dims[1]) && dims[2] >= 0 && dims[3] >= 0;
  for (uint32_t i = 0; fits && i < 3; ++i) {
    fits = extents[i] >= dims[i + 1];
    offset += (extents[i] - dims[i + 1]) / 2 * steps[i];
    strides[i + 1] = steps[i];
  }
  if (!fits) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "the mean's extents do not cover those of the pictures that go in");
  }
  const int64_t width = mean.dtype == TENON_DTYPE_FLOAT64   ? 8
                        : mean.dtype == TENON_DTYPE_FLOAT16 ? 2
                                                            : 4;
  const int64_t cut_dims[4] = {1, dims[1], dims[2], dims[3]};
  const tenon_tensor_view_t cut = {.data = (uint8_t*)mean.data + offset * width,
                                   .dims = cut_dims,
                                   .strides = strides,
                                   .rank = 4,
                                   .dtype = mean.dtype,
                                   .layout = TENON_NONE};
  static const char* const names[2] = {"x", "mean"};
  tenon_value_t inputs[2] = {*inout_value, {0}};
  TENON_READER_TRY(reader->build->constant(reader->builder, "mean", &cut, 0, &inputs[1]));
  return reader->build->expression(reader->builder, "y = x - cast(mean, f32)", names, inputs, 2,
                                   "mean", inout_value);
}

static tenon_status_t bind_inputs(walk_t* walk) {
  tenon_reader_t* reader = walk->program->reader;
  const tenon__caffe_net_t* net = &walk->program->net;
  bool wants_mean = walk->program->mean != NULL;
  for (uint32_t i = 0; i < net->input_count; ++i) {
    const tenon__caffe_input_t* input = &net->inputs[i];
    uint32_t rank = 0;
    const int64_t* dims = NULL;
    tenon_value_t value = {0};
    if (tenon_reader_names_find(&walk->bindings, input->name) != NULL) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "line %u: there are two inputs '%s'", input->line, input->name);
    }
    TENON_READER_TRY(find_extents(reader, input, &rank, &dims));
    const char** symbols = tenon_reader_allocate(reader, rank, sizeof(*symbols));
    if (symbols == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    TENON_READER_TRY(reader->build->input(reader->builder, input->name, TENON_DTYPE_FLOAT32, rank,
                                          dims, symbols, &value));
    if (wants_mean && rank == 4) {
      wants_mean = false;
      TENON_READER_TRY(subtract_mean(walk, dims, &value));
    }
    TENON_READER_TRY(bind(walk, input->name, value, true));
  }
  return wants_mean
             ? TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                                 "there is a mean, but no input of pictures to subtract it from")
             : TENON_OK;
}

/* ---- Layers ---- */

static tenon_status_t find_bottoms(walk_t* walk, const tenon__caffe_layer_t* layer,
                                   tenon_value_t* out_values) {
  tenon_reader_t* reader = walk->program->reader;
  for (uint32_t i = 0; i < layer->bottom_count; ++i) {
    binding_t* binding = tenon_reader_names_find(&walk->bindings, layer->bottoms[i].data);
    if (binding == NULL) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "%s: its bottom '%s' is no input, and no top of a layer before it",
                               tenon__caffe_layer_text(reader, layer), layer->bottoms[i].data);
    }
    binding->is_read = true;
    out_values[i] = binding->value;
  }
  return TENON_OK;
}

/* A blob's name is that of its last value; earlier ones are named for their layers too. */
static tenon_status_t bind_top(walk_t* walk, const tenon__caffe_layer_t* layer, uint32_t index,
                               tenon_value_t value, bool is_bottom) {
  tenon_reader_t* reader = walk->program->reader;
  const char* name = layer->tops[index].data;
  const binding_t* old = tenon_reader_names_find(&walk->bindings, name);
  const bool is_last = tenon_reader_names_find(&walk->last_makers, name) == layer;
  const bool is_plain = is_last && (old == NULL || !old->is_input);
  const char* full = is_plain ? name : tenon_reader_format(reader, "%s/%s", layer->name, name);
  if (value.id == 0) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                             "%s: its top %u ('%s') cannot be made",
                             tenon__caffe_layer_text(reader, layer), index, name);
  }
  if (full == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  if (!is_bottom) { /* else it has a name */
    TENON_READER_TRY(reader->build->set_name(reader->builder, value, full));
  }
  return bind(walk, name, value, false);
}

static tenon_status_t convert_layer(walk_t* walk, tenon__caffe_layer_t* layer) {
  tenon_reader_t* reader = walk->program->reader;
  tenon_source_t* source = tenon_reader_allocate(reader, 1, sizeof(*source));
  tenon_value_t* inputs = tenon_reader_allocate(reader, layer->bottom_count, sizeof(*inputs));
  tenon_value_t* outputs = tenon_reader_allocate(reader, layer->top_count, sizeof(*outputs));
  if (source == NULL || inputs == NULL || outputs == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  *source = (tenon_source_t){walk->program, layer, layer->node};
  TENON_READER_TRY(find_bottoms(walk, layer, inputs));
  void* state = NULL;
  const tenon_converter_t* converter =
      reader->host->find_converter(reader->parse, layer->domain, layer->type, 1, &state);
  if (converter == NULL) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED, "%s: no converter takes it",
                             tenon__caffe_layer_text(reader, layer));
  }
  const tenon_conversion_t conversion = {.size = sizeof(conversion),
                                         .state = state,
                                         .source = source,
                                         .table = tenon__caffe_source_table(),
                                         .builder = reader->builder,
                                         .build = reader->build,
                                         .inputs = inputs,
                                         .outputs = outputs,
                                         .input_count = layer->bottom_count,
                                         .output_count = layer->top_count};
  TENON_READER_TRY(converter->convert(&conversion));
  for (uint32_t i = 0; i < layer->top_count; ++i) {
    bool is_bottom = false;
    for (uint32_t k = 0; k < layer->bottom_count; ++k) {
      is_bottom = is_bottom || inputs[k].id == outputs[i].id;
    }
    TENON_READER_TRY(bind_top(walk, layer, i, outputs[i], is_bottom));
  }
  return tenon__caffe_source_tell_unread(source);
}

/* ---- The whole ---- */

static tenon_status_t add_outputs(walk_t* walk) {
  tenon_reader_t* reader = walk->program->reader;
  uint32_t count = 0;
  for (const binding_t* binding = walk->first; binding != NULL; binding = binding->next) {
    if (!binding->is_read && !binding->is_replaced && !binding->is_input) {
      TENON_READER_TRY(reader->build->output(reader->builder, binding->value, binding->name));
      ++count;
    }
  }
  return count > 0
             ? TENON_OK
             : TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                                 "it has no outputs: each layer's tops are read by another layer");
}

tenon_status_t tenon__caffe_program_convert(tenon__caffe_program_t* program) {
  walk_t walk = {.program = program};
  const tenon__caffe_net_t* net = &program->net;
  for (uint32_t i = 0; i < net->layer_count; ++i) {
    for (uint32_t k = 0; k < net->layers[i].top_count; ++k) {
      TENON_READER_TRY(tenon_reader_names_set(program->reader, &walk.last_makers,
                                              net->layers[i].tops[k].data, &net->layers[i]));
    }
  }
  TENON_READER_TRY(bind_inputs(&walk));
  for (uint32_t i = 0; i < net->layer_count; ++i) {
    TENON_READER_TRY(convert_layer(&walk, &net->layers[i]));
  }
  TENON_READER_TRY(tenon__caffe_program_tell_lacking(program));
  return add_outputs(&walk);
}
