/* The decoder gets memory from the reader. The raw data of a tensor in the skeleton have the number
 * of its payload. */
#include "model.h"

#include <string.h>

/* The decoder gives NULL for bad bytes and for want of memory alike. */
typedef struct decoder_t {
  tenon_reader_t* reader;
  bool out_of_memory;
} decoder_t;

static void* decoder_allocate(void* user, size_t size) {
  decoder_t* decoder = user;
  void* block = tenon_reader_allocate(decoder->reader, size, 1);
  decoder->out_of_memory = decoder->out_of_memory || block == NULL;
  return block;
}

static void decoder_free(void* user, void* block) {
  (void)user;
  (void)block;
}

tenon_status_t tenon__onnx_model_read(tenon_reader_t* reader, const void* data, size_t size_bytes,
                                      tenon__onnx_model_t* out_model) {
  memset(out_model, 0, sizeof(*out_model));
  TENON_READER_TRY(tenon__onnx_scan(reader, data, size_bytes, &out_model->scan));
  decoder_t decoder = {reader, false};
  ProtobufCAllocator allocator = {decoder_allocate, decoder_free, &decoder};
  out_model->proto = onnx__model_proto__unpack(&allocator, out_model->scan.skeleton_size,
                                               out_model->scan.skeleton);
  if (decoder.out_of_memory) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (out_model->proto == NULL) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "not a readable ONNX model: its graph cannot be decoded");
  }
  if (out_model->proto->graph == NULL) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "not a readable ONNX model: it holds no graph");
  }
  return TENON_OK;
}

const tenon__onnx_payload_t* tenon__onnx_model_payload(const tenon__onnx_model_t* model,
                                                       const Onnx__TensorProto* tensor) {
  static const tenon__onnx_payload_t none = {0};
  if (!tensor->has_raw_data || tensor->raw_data.len != 4) {
    return &none;
  }
  const uint8_t* bytes = tensor->raw_data.data;
  const uint32_t number = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
  return number < model->scan.payload_count ? model->scan.payloads[number] : &none;
}

const char* tenon__onnx_text(const char* text) {
  return text == NULL ? "" : text;
}

const char* tenon__onnx_domain(const char* domain) {
  return domain == NULL || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

int64_t tenon__onnx_version(Onnx__OperatorSetIdProto* const* sets, size_t count,
                            const char* domain) {
  int64_t version = 1;
  for (size_t i = 0; i < count; ++i) {
    const bool is_its =
        strcmp(tenon__onnx_domain(sets[i]->domain), tenon__onnx_domain(domain)) == 0;
    version = is_its && sets[i]->version > version ? sets[i]->version : version;
  }
  return version;
}
