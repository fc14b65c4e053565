/* The network during conversion: blobs are matched with layers, values are declared, unused parts
 * are reported. */
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
    tenon_reader_say(program->reader, TENON_SEVERITY_INFO,
                     "the caffemodel has weights of %u layers that the network lacks:%s", count,
                     names);
  }
}

/* By name, as Caffe does. A caffemodel counts more than weights in the prototxt. */
void tenon__caffe_program_match(tenon__caffe_program_t* program) {
  for (uint32_t i = 0; i < program->net.layer_count; ++i) {
    tenon__caffe_layer_t* layer = &program->net.layers[i];
    tenon__caffe_blobs_t* blobs = tenon_reader_names_find(&program->weights.layers, layer->name);
    if (blobs != NULL) {
      blobs->is_used = true;
      layer->blobs = blobs;
    }
  }
  tell_unused(program);
}

static void declare(const tenon__caffe_program_t* program, int32_t is_output, const char* name,
                    uint32_t rank, const int64_t* dims) {
  const tenon_reader_t* reader = program->reader;
  const tenon_value_type_t type = {.size = sizeof(type),
                                   .kind = TENON_ARGUMENT_TENSOR,
                                   .dtype = TENON_DTYPE_FLOAT32,
                                   .rank = rank,
                                   .dims = dims};
  reader->host->declare_value(reader->parse, is_output, name, &type, NULL);
}

/* A blob's name as far as the layers were walked. */
typedef struct blob_name_t {
  const char* name; /* NULL: another layer gave it away again */
  bool is_read;
} blob_name_t;

/* The tops that nobody reads, in order. Of those only the names are known. */
static tenon_status_t declare_outputs(tenon__caffe_program_t* program) {
  tenon_reader_t* reader = program->reader;
  const tenon__caffe_net_t* net = &program->net;
  tenon_reader_names_t names = {0};
  size_t count = 0;
  for (uint32_t i = 0; i < net->layer_count; ++i) {
    count += net->layers[i].top_count;
  }
  blob_name_t* tops = tenon_reader_allocate(reader, count, sizeof(*tops));
  if (tops == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  count = 0;
  for (uint32_t i = 0; i < net->layer_count; ++i) {
    const tenon__caffe_layer_t* layer = &net->layers[i];
    for (uint32_t k = 0; k < layer->bottom_count; ++k) {
      blob_name_t* read = tenon_reader_names_find(&names, layer->bottoms[k].data);
      if (read != NULL) {
        read->is_read = true;
      }
    }
    for (uint32_t k = 0; k < layer->top_count; ++k, ++count) {
      blob_name_t* old = tenon_reader_names_find(&names, layer->tops[k].data);
      if (old != NULL) {
        old->name = NULL;
      }
      tops[count].name = layer->tops[k].data;
      TENON_READER_TRY(tenon_reader_names_set(reader, &names, tops[count].name, &tops[count]));
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
  tenon_reader_t* reader = program->reader;
  const bool tells = tenon_reader_can_declare(reader);
  bool is_complete = true;
  if (tells) {
    TENON_READER_TRY(declare_values(program));
  }
  for (uint32_t i = 0; i < program->net.layer_count; ++i) {
    const tenon__caffe_layer_t* layer = &program->net.layers[i];
    void* state = NULL;
    if (tells) {
      reader->host->declare_node(reader->parse, layer->domain, layer->type, 1, layer->name);
    }
    if (reader->host->find_converter(reader->parse, layer->domain, layer->type, 1, &state) ==
        NULL) {
      reader->host->report_missing(reader->parse, layer->domain, layer->type, 1, layer->name);
      is_complete = false;
    }
  }
  return is_complete ? TENON_OK : TENON_ERROR_UNSUPPORTED;
}

tenon_status_t tenon__caffe_program_tell_lacking(const tenon__caffe_program_t* program) {
  if (program->lacking_count == 0) {
    return TENON_OK;
  }
  return TENON_READER_FAIL(program->reader, TENON_ERROR_INVALID_DATA,
                           "%s weights for %s%u of its layers: %s%s%s",
                           program->has_weights ? "the caffemodel has no" : "there are no",
                           program->left_off ? "at least " : "", program->lacking_count,
                           program->lacking, program->lacking_count > 20 ? " and others" : "",
                           program->has_weights ? "" : "; give its caffemodel (--weights FILE)");
}
