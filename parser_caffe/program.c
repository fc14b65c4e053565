#include "program.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_SIZE = 256 };

/* Names the first few. */
static void tell_unused(const tenon__caffe_program_t* program) {
  char names[NAMES_SIZE] = "";
  size_t used = 0;
  uint32_t count = 0;
  for (const tenon__caffe_blobs_t* blobs = program->weights.first; blobs != NULL;
       blobs = blobs->next) {
    if (blobs->is_used) {
      continue;
    }
    ++count;
    if (used + strlen(blobs->layer) + sizeof(" ''") < sizeof(names)) {
      used += (size_t)snprintf(names + used, sizeof(names) - used, " '%s'", blobs->layer);
    }
  }
  if (count > 0) {
    tenon__caffe_say(program->context, TENON_SEVERITY_INFO,
                     "the caffemodel has weights of %u layers that the network lacks:%s", count,
                     names);
  }
}

/* By name, as Caffe does. A caffemodel counts more than weights in the prototxt. */
void tenon__caffe_program_match(tenon__caffe_program_t* program) {
  for (uint32_t i = 0; i < program->net.layer_count; ++i) {
    tenon__caffe_layer_t* layer = &program->net.layers[i];
    tenon__caffe_blobs_t* blobs = tenon__caffe_names_find(&program->weights.layers, layer->name);
    if (blobs != NULL) {
      blobs->is_used = true;
      layer->blobs = blobs;
    }
  }
  tell_unused(program);
}

static void declare(const tenon__caffe_program_t* program, int32_t is_output, const char* name,
                    uint32_t rank, const int64_t* dims) {
  const tenon__caffe_context_t* context = program->context;
  const tenon_value_type_t type = {
      .kind = TENON_ARGUMENT_TENSOR, .dtype = TENON_DTYPE_FLOAT32, .rank = rank, .dims = dims};
  context->host->declare_value(context->parse, is_output, name, &type, NULL);
}

/* A blob's name as far as the layers were walked. */
typedef struct blob_name_t {
  const char* name; /* NULL: another layer gave it away again */
  bool is_read;
} blob_name_t;

/* The tops that nobody reads, in order. Of those only the names are known. */
static tenon_status_t declare_outputs(tenon__caffe_program_t* program) {
  tenon__caffe_context_t* context = program->context;
  const tenon__caffe_net_t* net = &program->net;
  tenon__caffe_names_t names = {0};
  size_t count = 0;
  for (uint32_t i = 0; i < net->layer_count; ++i) {
    count += net->layers[i].top_count;
  }
  blob_name_t* tops = tenon__caffe_allocate(context, count, sizeof(*tops));
  if (tops == NULL) {
    return CAFFE_FAIL_MEMORY(context);
  }
  count = 0;
  for (uint32_t i = 0; i < net->layer_count; ++i) {
    const tenon__caffe_layer_t* layer = &net->layers[i];
    for (uint32_t k = 0; k < layer->bottom_count; ++k) {
      blob_name_t* read = tenon__caffe_names_find(&names, layer->bottoms[k].data);
      if (read != NULL) {
        read->is_read = true;
      }
    }
    for (uint32_t k = 0; k < layer->top_count; ++k, ++count) {
      blob_name_t* old = tenon__caffe_names_find(&names, layer->tops[k].data);
      if (old != NULL) {
        old->name = NULL;
      }
      tops[count].name = layer->tops[k].data;
      CAFFE_TRY(tenon__caffe_names_set(context, &names, tops[count].name, &tops[count]));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (tops[i].name != NULL && !tops[i].is_read) {
      declare(program, 1, tops[i].name, TENON_NONE, NULL);
    }
  }
  return TENON_OK;
}

static tenon_status_t declare_values(tenon__caffe_program_t* program) {
  for (uint32_t i = 0; i < program->net.input_count; ++i) {
    const tenon__caffe_input_t* input = &program->net.inputs[i];
    declare(program, 0, input->name, input->dims != NULL ? input->rank : TENON_NONE, input->dims);
  }
  return declare_outputs(program);
}

/* Tells of inputs, outputs and layers on the way. */
tenon_status_t tenon__caffe_program_check(tenon__caffe_program_t* program) {
  tenon__caffe_context_t* context = program->context;
  const bool tells = TENON_HAS(context->host, tenon_parse_table_t, declare_node) &&
                     context->host->declare_node != NULL;
  bool is_complete = true;
  if (tells) {
    CAFFE_TRY(declare_values(program));
  }
  for (uint32_t i = 0; i < program->net.layer_count; ++i) {
    const tenon__caffe_layer_t* layer = &program->net.layers[i];
    void* state = NULL;
    if (tells) {
      context->host->declare_node(context->parse, layer->domain, layer->type, 1, layer->name);
    }
    if (context->host->find_converter(context->parse, layer->domain, layer->type, 1, &state) ==
        NULL) {
      context->host->report_missing(context->parse, layer->domain, layer->type, 1, layer->name);
      is_complete = false;
    }
  }
  return is_complete ? TENON_OK : TENON_ERROR_UNSUPPORTED;
}

tenon_status_t tenon__caffe_program_tell_lacking(const tenon__caffe_program_t* program) {
  if (program->lacking_count == 0) {
    return TENON_OK;
  }
  return CAFFE_FAIL(program->context, TENON_ERROR_INVALID_DATA,
                    "%s weights for %s%u of its layers: %s%s%s",
                    program->has_weights ? "the caffemodel has no" : "there are no",
                    program->left_off ? "at least " : "", program->lacking_count, program->lacking,
                    program->lacking_count > 20 ? " and others" : "",
                    program->has_weights ? "" : "; give its caffemodel (--weights FILE)");
}
