/* Layers of a prototxt, filtered by state, with types and fields of both versions. */
#include "net.h"

#include <stdlib.h>
#include <string.h>

enum { LAYER_LIMIT = 1000 * 1000 };

/* Version 1's types, and what they are called since. */
static const char* const types[][2] = {
    {"ABSVAL", "AbsVal"},
    {"ACCURACY", "Accuracy"},
    {"ARGMAX", "ArgMax"},
    {"BNLL", "BNLL"},
    {"CONCAT", "Concat"},
    {"CONTRASTIVE_LOSS", "ContrastiveLoss"},
    {"CONVOLUTION", "Convolution"},
    {"DATA", "Data"},
    {"DECONVOLUTION", "Deconvolution"},
    {"DROPOUT", "Dropout"},
    {"DUMMY_DATA", "DummyData"},
    {"ELTWISE", "Eltwise"},
    {"EUCLIDEAN_LOSS", "EuclideanLoss"},
    {"EXP", "Exp"},
    {"FLATTEN", "Flatten"},
    {"HDF5_DATA", "HDF5Data"},
    {"HDF5_OUTPUT", "HDF5Output"},
    {"HINGE_LOSS", "HingeLoss"},
    {"IM2COL", "Im2col"},
    {"IMAGE_DATA", "ImageData"},
    {"INFOGAIN_LOSS", "InfogainLoss"},
    {"INNER_PRODUCT", "InnerProduct"},
    {"LRN", "LRN"},
    {"MEMORY_DATA", "MemoryData"},
    {"MULTINOMIAL_LOGISTIC_LOSS", "MultinomialLogisticLoss"},
    {"MVN", "MVN"},
    {"POOLING", "Pooling"},
    {"POWER", "Power"},
    {"RELU", "ReLU"},
    {"SIGMOID", "Sigmoid"},
    {"SIGMOID_CROSS_ENTROPY_LOSS", "SigmoidCrossEntropyLoss"},
    {"SILENCE", "Silence"},
    {"SLICE", "Slice"},
    {"SOFTMAX", "Softmax"},
    {"SOFTMAX_LOSS", "SoftmaxWithLoss"},
    {"SPLIT", "Split"},
    {"TANH", "TanH"},
    {"THRESHOLD", "Threshold"},
    {"WINDOW_DATA", "WindowData"},
};

static const char* type_name(const char* type) {
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
    if (strcmp(types[i][0], type) == 0) {
      return types[i][1];
    }
  }
  return type;
}

/* Absent is no failure. */
static tenon_status_t optional(tenon_status_t status) {
  return status == TENON_ERROR_NOT_FOUND ? TENON_OK : status;
}

/* "deploy,other": names between commas. */
static tenon_status_t split_stages(tenon_reader_t* reader, const char* text,
                                   tenon__caffe_state_t* state) {
  tenon_string_view_t* stages =
      tenon_reader_allocate(reader, strlen(text) + 1, sizeof(tenon_string_view_t));
  size_t count = 0;
  if (stages != NULL) {
    for (const char* at = text; *at != '\0';) {
      const size_t length = strcspn(at, ",");
      const char* name = tenon_reader_readable(reader, at, length);
      if (name == NULL) {
        return tenon_reader_fail_memory(reader);
      }
      stages[count++] = (tenon_string_view_t){name, strlen(name)};
      at += length + (at[length] == ',' ? 1 : 0);
    }
  }
  state->stages = stages;
  state->stage_count = count;
  return stages == NULL ? tenon_reader_fail_memory(reader) : TENON_OK;
}

/* What the caller sets counts more than what the network says. */
static tenon_status_t set_state(tenon_reader_t* reader, tenon__caffe_state_t* state) {
  const char* level = tenon_reader_setting(reader, "level");
  const char* stage = tenon_reader_setting(reader, "stage");
  if (level != NULL) {
    char* end = NULL;
    state->level = strtol(level, &end, 10);
    if (end == level || *end != '\0') {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_ARGUMENT, "level=%s is no whole number",
                               level);
    }
  }
  return stage == NULL ? TENON_OK : split_stages(reader, stage, state);
}

static tenon_status_t read_state(tenon_reader_t* reader, const tenon__caffe_node_t* net,
                                 tenon__caffe_state_t* out_state) {
  tenon__caffe_node_t state = {0};
  *out_state = (tenon__caffe_state_t){.phase = "TEST"};
  const tenon_status_t status = tenon__caffe_fields_node(reader, net, "state", 0, &state);
  TENON_READER_TRY(optional(status));
  if (status == TENON_OK) {
    TENON_READER_TRY(optional(tenon__caffe_fields_int(reader, &state, "level", &out_state->level)));
    TENON_READER_TRY(optional(tenon__caffe_fields_strings(
        reader, &state, "stage", &out_state->stages, &out_state->stage_count)));
  }
  return set_state(reader, out_state);
}

/* ---- One layer ---- */

static tenon_status_t read_blobs_list(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                      tenon__caffe_blob_t* blob) {
  const double* numbers = NULL;
  size_t count = 0;
  tenon_status_t status = tenon__caffe_fields_floats(reader, node, "data", &numbers, &count);
  if (status == TENON_ERROR_NOT_FOUND) {
    status = tenon__caffe_fields_floats(reader, node, "double_data", &numbers, &count);
  }
  TENON_READER_TRY(optional(status));
  float* values = tenon_reader_allocate(reader, count, sizeof(*values));
  if (values == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (size_t i = 0; i < count; ++i) {
    values[i] = (float)numbers[i];
  }
  blob->values = values;
  blob->value_count = count;
  return TENON_OK;
}

static tenon_status_t read_text_blob(tenon_reader_t* reader, const tenon__caffe_field_t* field,
                                     tenon__caffe_blob_t* blob) {
  static const char* const legacy[4] = {"num", "channels", "height", "width"};
  tenon__caffe_node_t node = {0};
  tenon__caffe_node_t shape = {0};
  const int64_t* dims = NULL;
  int64_t numbers[4] = {0};
  size_t count = 0;
  TENON_READER_TRY(tenon__caffe_field_node(reader, field, &node));
  TENON_READER_TRY(read_blobs_list(reader, &node, blob));
  tenon_status_t status = tenon__caffe_fields_node(reader, &node, "shape", 0, &shape);
  if (status == TENON_OK) {
    TENON_READER_TRY(optional(tenon__caffe_fields_ints(reader, &shape, "dim", &dims, &count)));
    blob->has_dims = true;
  }
  if (status == TENON_ERROR_NOT_FOUND) {
    for (uint32_t i = 0; i < 4; ++i) {
      const tenon_status_t found = tenon__caffe_fields_int(reader, &node, legacy[i], &numbers[i]);
      TENON_READER_TRY(optional(found));
      blob->has_dims = blob->has_dims || found == TENON_OK;
      dims = numbers;
      count = blob->has_dims ? 4 : 0;
    }
  }
  TENON_READER_TRY(optional(status));
  if (count > TENON__CAFFE_BLOB_RANK_LIMIT) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "line %u: a blob has more than 32 axes", field->line);
  }
  for (size_t i = 0; i < count; ++i) {
    if (dims[i] < 0) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "line %u: a blob has a negative extent", field->line);
    }
    blob->dims[blob->rank++] = dims[i];
  }
  return TENON_OK;
}

/* Weights that stand in the prototxt itself. */
static tenon_status_t read_text_blobs(tenon_reader_t* reader, tenon__caffe_layer_t* layer) {
  tenon__caffe_field_t* field = tenon__caffe_field_find(layer->node.message->first, "blobs");
  if (field == NULL) {
    return TENON_OK;
  }
  layer->blobs = tenon_reader_allocate(reader, 1, sizeof(*layer->blobs));
  if (layer->blobs == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (; field != NULL; field = tenon__caffe_field_find(field->next, "blobs")) {
    tenon__caffe_blob_t* blob = NULL;
    field->is_read = true;
    TENON_READER_TRY(tenon__caffe_blobs_add(reader, layer->blobs, &blob));
    TENON_READER_TRY(read_text_blob(reader, field, blob));
  }
  return TENON_OK;
}

/* A Python layer is the class that it names, in the domain of its module. */
static tenon_status_t read_python(tenon_reader_t* reader, tenon__caffe_layer_t* layer) {
  tenon__caffe_node_t parameters = {0};
  const tenon_status_t status =
      tenon__caffe_fields_node(reader, &layer->node, "python_param", 0, &parameters);
  if (status != TENON_OK) {
    return optional(status);
  }
  TENON_READER_TRY(
      optional(tenon__caffe_fields_string(reader, &parameters, "module", &layer->domain)));
  return optional(tenon__caffe_fields_string(reader, &parameters, "layer", &layer->type));
}

static tenon_status_t read_names(tenon_reader_t* reader, tenon__caffe_layer_t* layer) {
  size_t bottom_count = 0;
  size_t top_count = 0;
  TENON_READER_TRY(optional(
      tenon__caffe_fields_strings(reader, &layer->node, "bottom", &layer->bottoms, &bottom_count)));
  TENON_READER_TRY(
      optional(tenon__caffe_fields_strings(reader, &layer->node, "top", &layer->tops, &top_count)));
  layer->bottom_count = (uint32_t)bottom_count;
  layer->top_count = (uint32_t)top_count;
  if (layer->name[0] != '\0') {
    return TENON_OK;
  }
  layer->name =
      tenon_reader_format(reader, "%s_%s", layer->type, top_count > 0 ? layer->tops[0].data : "");
  return layer->name == NULL ? tenon_reader_fail_memory(reader) : TENON_OK;
}

static tenon_status_t read_layer(tenon_reader_t* reader, const tenon__caffe_field_t* field,
                                 tenon__caffe_layer_t* layer) {
  *layer = (tenon__caffe_layer_t){.name = "", .domain = "", .type = "", .line = field->line};
  TENON_READER_TRY(tenon__caffe_field_node(reader, field, &layer->node));
  layer->node.name = "layer"; /* both versions' */
  TENON_READER_TRY(
      optional(tenon__caffe_fields_string(reader, &layer->node, "type", &layer->type)));
  TENON_READER_TRY(
      optional(tenon__caffe_fields_string(reader, &layer->node, "name", &layer->name)));
  layer->type = type_name(layer->type);
  if (layer->type[0] == '\0') {
    const bool is_old = tenon__caffe_fields_count(&layer->node, "layer") > 0;
    return TENON_READER_FAIL(reader, is_old ? TENON_ERROR_UNSUPPORTED : TENON_ERROR_INVALID_DATA,
                             "line %u: layer '%s' %s", layer->line, layer->name,
                             is_old ? "is of Caffe's version 0: convert the file with Caffe's "
                                      "upgrade_net_proto_text"
                                    : "has no type");
  }
  TENON_READER_TRY(read_names(reader, layer));
  if (strcmp(layer->type, "Python") == 0) {
    TENON_READER_TRY(read_python(reader, layer));
  }
  return read_text_blobs(reader, layer);
}

/* ---- The net ---- */

static tenon_status_t add_layer(tenon_reader_t* reader, const tenon__caffe_field_t* field,
                                tenon__caffe_net_t* net) {
  tenon__caffe_layer_t* layer = &net->layers[net->layer_count];
  tenon__caffe_node_t node = {0};
  bool holds = false;
  bool is_input = false;
  TENON_READER_TRY(tenon__caffe_field_node(reader, field, &node));
  TENON_READER_TRY(tenon__caffe_rules_hold(reader, &node, &net->state, &holds));
  if (!holds) {
    return TENON_OK;
  }
  TENON_READER_TRY(read_layer(reader, field, layer));
  TENON_READER_TRY(tenon__caffe_inputs_of_layer(reader, layer, net, &is_input));
  net->layer_count += is_input ? 0 : 1;
  return TENON_OK;
}

static bool is_layer(const tenon__caffe_field_t* field) {
  return strcmp(field->name, "layer") == 0 || strcmp(field->name, "layers") == 0;
}

tenon_status_t tenon__caffe_net_read(tenon_reader_t* reader, tenon__caffe_message_t* message,
                                     tenon__caffe_net_t* out_net) {
  const tenon__caffe_node_t node = {"net", message};
  size_t count = 0;
  memset(out_net, 0, sizeof(*out_net));
  for (const tenon__caffe_field_t* field = message->first; field != NULL; field = field->next) {
    count += is_layer(field) ? 1 : 0;
  }
  if (count == 0 || count > LAYER_LIMIT) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "it has %zu layers%s", count,
                             count == 0 ? ": is it a network's prototxt (and not a solver's)?"
                                        : ", more than a million");
  }
  TENON_READER_TRY(read_state(reader, &node, &out_net->state));
  TENON_READER_TRY(tenon__caffe_inputs_of_net(reader, &node, out_net));
  out_net->layers = tenon_reader_allocate(reader, count, sizeof(*out_net->layers));
  if (out_net->layers == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (tenon__caffe_field_t* field = message->first; field != NULL; field = field->next) {
    if (is_layer(field)) {
      field->is_read = true;
      TENON_READER_TRY(add_layer(reader, field, out_net));
    }
  }
  return TENON_OK;
}
