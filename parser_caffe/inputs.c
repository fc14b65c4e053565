/* A network's inputs: `input` of the net itself, with one of two kinds of extents, and layers of
 * the types Input and MemoryData. Layers that read databases have no place here. */
#include <string.h>

#include "net.h"

static tenon_status_t add(tenon_reader_t* reader, tenon__caffe_net_t* net,
                          const tenon__caffe_input_t* input) {
  if (net->input_count == net->input_capacity) {
    const uint32_t capacity = net->input_capacity == 0 ? 4 : net->input_capacity * 2;
    tenon__caffe_input_t* larger =
        tenon_reader_enlarge(reader, net->inputs, net->input_count, capacity, sizeof(*larger));
    if (larger == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    net->inputs = larger;
    net->input_capacity = capacity;
  }
  net->inputs[net->input_count++] = *input;
  return TENON_OK;
}

static tenon_status_t check_dims(tenon_reader_t* reader, const tenon__caffe_input_t* input) {
  if (input->rank > TENON__CAFFE_BLOB_RANK_LIMIT) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "line %u: input '%s' has %u axes, more than 32", input->line,
                             input->name, input->rank);
  }
  for (uint32_t i = 0; i < input->rank; ++i) {
    if (input->dims[i] < 0) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "line %u: input '%s' has a negative extent", input->line,
                               input->name);
    }
  }
  return TENON_OK;
}

/* The extents of a BlobShape. */
static tenon_status_t read_shape(tenon_reader_t* reader, const tenon__caffe_field_t* field,
                                 tenon__caffe_input_t* input) {
  tenon__caffe_node_t shape;
  size_t count = 0;
  TENON_READER_TRY(tenon__caffe_field_node(reader, field, &shape));
  const tenon_status_t status =
      tenon__caffe_fields_ints(reader, &shape, "dim", &input->dims, &count);
  static const int64_t none = 0;
  if (status == TENON_ERROR_NOT_FOUND) {
    input->dims = &none; /* a scalar */
  } else if (status != TENON_OK) {
    return status;
  }
  input->rank = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
  return check_dims(reader, input);
}

/* ---- The net's own ---- */

tenon_status_t tenon__caffe_inputs_of_net(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                          tenon__caffe_net_t* net) {
  const tenon_string_view_t* names = NULL;
  const int64_t* dims = NULL;
  size_t name_count = 0;
  size_t dim_count = 0;
  tenon_status_t status = tenon__caffe_fields_strings(reader, node, "input", &names, &name_count);
  if (status == TENON_OK || status == TENON_ERROR_NOT_FOUND) {
    status = tenon__caffe_fields_ints(reader, node, "input_dim", &dims, &dim_count);
  }
  if (status != TENON_OK && status != TENON_ERROR_NOT_FOUND) {
    return status;
  }
  const tenon__caffe_field_t* field = tenon__caffe_field_find(node->message->first, "input");
  const tenon__caffe_field_t* shape = tenon__caffe_field_find(node->message->first, "input_shape");
  const uint32_t shape_count = tenon__caffe_fields_count(node, "input_shape");
  const bool fits = shape != NULL ? shape_count == name_count && dim_count == 0
                                  : dim_count == 4 * name_count || dim_count == 0;
  if (!fits) {
    return TENON_READER_FAIL(
        reader, TENON_ERROR_INVALID_DATA,
        "%zu inputs with %u input_shape and %zu input_dim: each input has one shape, "
        "or four dims",
        name_count, shape_count, dim_count);
  }
  for (size_t i = 0; i < name_count; ++i) {
    tenon__caffe_input_t input = {.name = names[i].data, .line = field->line};
    if (shape != NULL) {
      TENON_READER_TRY(read_shape(reader, shape, &input));
      shape = tenon__caffe_field_find(shape->next, "input_shape");
    } else if (dim_count > 0) {
      input.dims = dims + 4 * i;
      input.rank = 4;
      TENON_READER_TRY(check_dims(reader, &input));
    }
    TENON_READER_TRY(add(reader, net, &input));
    field = tenon__caffe_field_find(field->next, "input");
  }
  return TENON_OK;
}

/* ---- Layers ---- */

/* input_param { shape { dim: 1 ... } }: one shape for all tops, or one for each; none: the caller
 * gives it. */
static tenon_status_t read_input(tenon_reader_t* reader, const tenon__caffe_layer_t* layer,
                                 tenon__caffe_net_t* net) {
  const tenon__caffe_field_t* shape = NULL;
  tenon__caffe_node_t parameters = {0};
  uint32_t count = 0;
  const tenon_status_t status =
      tenon__caffe_fields_node(reader, &layer->node, "input_param", 0, &parameters);
  if (status == TENON_OK) {
    count = tenon__caffe_fields_count(&parameters, "shape");
    shape = tenon__caffe_field_find(parameters.message->first, "shape");
  } else if (status != TENON_ERROR_NOT_FOUND) {
    return status;
  }
  if (count > 1 && count != layer->top_count) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s has %u tops and %u shapes",
                             tenon__caffe_layer_text(reader, layer), layer->top_count, count);
  }
  for (uint32_t i = 0; i < layer->top_count; ++i) {
    tenon__caffe_input_t input = {.name = layer->tops[i].data, .line = layer->line};
    if (shape != NULL) {
      TENON_READER_TRY(read_shape(reader, shape, &input));
      shape = count > 1 ? tenon__caffe_field_find(shape->next, "shape") : shape;
    }
    TENON_READER_TRY(add(reader, net, &input));
  }
  return TENON_OK;
}

/* Pictures and, as a second top, their labels. */
static tenon_status_t read_memory_data(tenon_reader_t* reader, const tenon__caffe_layer_t* layer,
                                       tenon__caffe_net_t* net) {
  static const char* const names[4] = {"batch_size", "channels", "height", "width"};
  tenon__caffe_node_t parameters = {0};
  int64_t* dims = tenon_reader_allocate(reader, 4, sizeof(*dims));
  tenon_status_t status =
      tenon__caffe_fields_node(reader, &layer->node, "memory_data_param", 0, &parameters);
  if (dims == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (uint32_t i = 0; status == TENON_OK && i < 4; ++i) {
    status = tenon__caffe_fields_int(reader, &parameters, names[i], &dims[i]);
  }
  if (status == TENON_ERROR_NOT_FOUND) {
    return TENON_READER_FAIL(
        reader, TENON_ERROR_INVALID_DATA,
        "%s needs memory_data_param with batch_size, channels, height and width",
        tenon__caffe_layer_text(reader, layer));
  }
  TENON_READER_TRY(status);
  for (uint32_t i = 0; i < layer->top_count; ++i) {
    const tenon__caffe_input_t input = {
        .name = layer->tops[i].data, .dims = dims, .rank = i == 0 ? 4 : 1, .line = layer->line};
    TENON_READER_TRY(check_dims(reader, &input));
    TENON_READER_TRY(add(reader, net, &input));
  }
  return TENON_OK;
}

tenon_status_t tenon__caffe_inputs_of_layer(tenon_reader_t* reader,
                                            const tenon__caffe_layer_t* layer,
                                            tenon__caffe_net_t* net, bool* out_is_input) {
  static const char* const stored[] = {"AnnotatedData", "Data",      "HDF5Data",
                                       "ImageData",     "VideoData", "WindowData"};
  const bool is_input = strcmp(layer->type, "Input") == 0;
  const bool is_memory = strcmp(layer->type, "MemoryData") == 0;
  *out_is_input = is_input || is_memory;
  for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); ++i) {
    if (strcmp(layer->type, stored[i]) == 0) {
      return TENON_READER_FAIL(
          reader, TENON_ERROR_UNSUPPORTED,
          "%s reads stored data: put a layer of type Input with the shape of its "
          "tops in its place, or use the network's deploy.prototxt",
          tenon__caffe_layer_text(reader, layer));
    }
  }
  if (*out_is_input && tenon__caffe_fields_count(&layer->node, "transform_param") > 0) {
    tenon_reader_say(reader, TENON_SEVERITY_WARNING,
                     "%s: its transform_param is left to the caller: scale pictures and subtract "
                     "means before they go in",
                     tenon__caffe_layer_text(reader, layer));
  }
  return is_input    ? read_input(reader, layer, net)
         : is_memory ? read_memory_data(reader, layer, net)
                     : TENON_OK;
}
