/* A caffemodel: one walk over the wire format collects the blobs of each layer. */
#include "weights.h"

#include <string.h>

/* The fields that matter, of NetParameter, and of layers of each version. */
enum {
  NET_LAYERS_V1 = 2,
  NET_LAYER = 100,
  LAYER_NAME = 1,
  LAYER_BLOBS = 7,
  V1_NAME = 4,
  V1_BLOBS = 6,
  V1_V0 = 1 /* a layer of version 0 inside */
};

typedef struct walk_t {
  tenon_reader_t* reader;
  tenon__caffe_weights_t* weights;
  const uint8_t* file;
} walk_t;

static tenon_status_t broken(const walk_t* walk, const uint8_t* where, const char* reason) {
  return TENON_READER_FAIL(walk->reader, TENON_ERROR_INVALID_DATA,
                           "not a readable caffemodel: byte %zu: %s", (size_t)(where - walk->file),
                           reason);
}

tenon_status_t tenon__caffe_blobs_add(tenon_reader_t* reader, tenon__caffe_blobs_t* blobs,
                                      tenon__caffe_blob_t** out_blob) {
  if (blobs->count == blobs->capacity) {
    const uint32_t capacity = blobs->capacity == 0 ? 2 : blobs->capacity * 2;
    tenon__caffe_blob_t* larger =
        tenon_reader_enlarge(reader, blobs->blobs, blobs->count, capacity, sizeof(*larger));
    if (larger == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    blobs->blobs = larger;
    blobs->capacity = capacity;
  }
  *out_blob = &blobs->blobs[blobs->count++];
  return TENON_OK;
}

static tenon_status_t add_blob(walk_t* walk, tenon__caffe_blobs_t* blobs,
                               const tenon_reader_record_t* record) {
  tenon__caffe_blob_t* blob = NULL;
  if (++walk->weights->blob_count > TENON__CAFFE_BLOB_LIMIT) {
    return TENON_READER_FAIL(walk->reader, TENON_ERROR_UNSUPPORTED,
                             "the caffemodel has more than %d blobs", TENON__CAFFE_BLOB_LIMIT);
  }
  TENON_READER_TRY(tenon__caffe_blobs_add(walk->reader, blobs, &blob));
  return tenon__caffe_blob_read(walk->reader, walk->file, record->data, record->size, blob);
}

static tenon_status_t read_layer(walk_t* walk, const tenon_reader_record_t* layer, bool is_v1,
                                 tenon__caffe_blobs_t* blobs) {
  const uint64_t name_field = is_v1 ? V1_NAME : LAYER_NAME;
  const uint64_t blobs_field = is_v1 ? V1_BLOBS : LAYER_BLOBS;
  const uint8_t* data = layer->data;
  const uint8_t* end = data + layer->size;
  while (data < end) {
    const uint8_t* where = data;
    tenon_reader_record_t record;
    if (!tenon_reader_read_record(&data, end, &record)) {
      return broken(walk, where, "a layer's field is cut off or malformed");
    }
    const bool is_length = record.wire == TENON_READER_WIRE_LENGTH;
    if ((record.number == name_field || record.number == blobs_field) && !is_length) {
      return broken(walk, where, "a layer's field has the wrong wire type");
    }
    if (record.number == name_field) {
      blobs->layer = tenon_reader_readable(walk->reader, record.data, record.size);
      if (blobs->layer == NULL) {
        return tenon_reader_fail_memory(walk->reader);
      }
    } else if (record.number == blobs_field) {
      TENON_READER_TRY(add_blob(walk, blobs, &record));
    } else if (is_v1 && record.number == V1_V0 && is_length) {
      return TENON_READER_FAIL(walk->reader, TENON_ERROR_UNSUPPORTED,
                               "the caffemodel is of Caffe's version 0: convert it with Caffe's "
                               "upgrade_net_proto_binary");
    }
  }
  return TENON_OK;
}

/* Layers without blobs are of no interest. */
static tenon_status_t add_layer(walk_t* walk, const tenon_reader_record_t* record) {
  tenon__caffe_weights_t* weights = walk->weights;
  tenon__caffe_blobs_t found = {.layer = ""};
  TENON_READER_TRY(read_layer(walk, record, record->number == NET_LAYERS_V1, &found));
  if (found.count == 0) {
    return TENON_OK;
  }
  tenon__caffe_blobs_t* blobs = tenon_reader_allocate(walk->reader, 1, sizeof(*blobs));
  if (blobs == NULL) {
    return tenon_reader_fail_memory(walk->reader);
  }
  *blobs = found;
  *(weights->last == NULL ? &weights->first : &weights->last->next) = blobs;
  weights->last = blobs;
  return tenon_reader_names_set(walk->reader, &weights->layers, blobs->layer, blobs);
}

tenon_status_t tenon__caffe_weights_read(tenon_reader_t* reader, const void* data,
                                         size_t size_bytes, tenon__caffe_weights_t* weights) {
  walk_t walk = {.reader = reader, .weights = weights, .file = data};
  const uint8_t* at = data;
  const uint8_t* end = at + size_bytes;
  while (at < end) {
    const uint8_t* where = at;
    tenon_reader_record_t record;
    if (!tenon_reader_read_record(&at, end, &record)) {
      return broken(&walk, where, "a field is cut off or malformed");
    }
    if (record.number != NET_LAYER && record.number != NET_LAYERS_V1) {
      continue;
    }
    if (record.wire != TENON_READER_WIRE_LENGTH) {
      return broken(&walk, where, "a layer has the wrong wire type");
    }
    TENON_READER_TRY(add_layer(&walk, &record));
  }
  return TENON_OK;
}

/* NetParameter has a text (1), layers (2), texts (3), a shape (8), layers (100); BlobProto numbers
 * (1 to 4), elements (5, 8, 12) and a shape (7). What is cut off by the end of `data` ends the
 * look. */
tenon__caffe_content_t tenon__caffe_content(const void* data, size_t size_bytes) {
  const uint8_t* at = data;
  const uint8_t* end = size_bytes == 0 ? at : at + size_bytes;
  uint64_t tag = 0;
  uint64_t value = 0;
  while (at < end && tenon_reader_read_varint(&at, end, &tag)) {
    const uint64_t number = tag >> 3;
    const bool is_length = (tag & 7u) == TENON_READER_WIRE_LENGTH;
    const bool is_number = (tag & 7u) == TENON_READER_WIRE_VARINT;
    if (is_length && (number <= 3 || number == NET_LAYER) && number > 0) {
      return TENON__CAFFE_CONTENT_NET;
    }
    if ((is_number && number >= 1 && number <= 3) || (is_length && (number == 5 || number == 7)) ||
        (!is_length && !is_number && number == 5)) {
      return TENON__CAFFE_CONTENT_BLOB;
    }
    /* What both have: an extent or input_dim (4), doubles or a shape (8), a flag or a type. */
    const bool is_shared = (number >= 4 && number <= 13) && (is_length || is_number);
    if (!is_shared || !tenon_reader_read_varint(&at, end, &value) ||
        (is_length && value > (uint64_t)(end - at))) {
      break;
    }
    at += is_length ? value : 0;
  }
  return TENON__CAFFE_CONTENT_NONE;
}
