/* The .weights: a head with a version, then the weights of all layers as floats, one layer after the
 * other. Nothing in the file says whose they are, so each layer takes as many as its section needs,
 * and a file of another length belongs to another network. */
#include <string.h>

#include "darknet.h"

enum { VERSION_LIMIT = 1000, WORD = sizeof(int32_t) };

/* The head: major, minor, revision, and the number of pictures of the training, which has 8 bytes
 * since version 0.2. Versions are small, so that their upper bytes are 0, and a text has no 0. */
bool darknet_is_weights(const void* data, size_t size) {
  const size_t head = 4 * (size_t)WORD;
  return size > 0 && memchr(data, 0, size < head ? size : head) != NULL;
}

tenon_status_t darknet_open_weights(tenon_reader_t* reader, const char* name, const void* data,
                                    size_t size, darknet_weights_t* out_weights) {
  int32_t version[2] = {0, 0};
  if (size >= sizeof(version)) {
    memcpy(version, data, sizeof(version));
  }
  if (version[0] < 0 || version[1] < 0 || version[0] >= VERSION_LIMIT ||
      version[1] >= VERSION_LIMIT) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: the weights have the unknown version %d.%d: give the .weights "
                             "file of the network",
                             name, (int)version[0], (int)version[1]);
  }
  const size_t head = (version[0] * 10 + version[1] >= 2 ? 5 : 4) * (size_t)WORD;
  if (size < head) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: the weights have no head: the file has %zu bytes, and the head "
                             "of version %d.%d %zu: get the file again",
                             name, size, (int)version[0], (int)version[1], head);
  }
  *out_weights = (darknet_weights_t){name, (const uint8_t*)data + head, size - head};
  return TENON_OK;
}

tenon_status_t darknet_close_weights(tenon_reader_t* reader, const darknet_weights_t* weights) {
  return weights->size == 0
             ? TENON_OK
             : TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                                 "%s: the last %zu bytes of the weights belong to no layer: give "
                                 "the .weights file of this .cfg",
                                 weights->name, weights->size);
}

static tenon_status_t take(tenon_source_t* section, uint32_t rank, const int64_t* dims,
                           darknet_weights_t* inout_weights) {
  darknet_blob_t* blob = &section->blobs[section->blob_count++];
  int64_t count = 1;
  blob->rank = rank;
  for (uint32_t k = rank; k-- > 0;) {
    blob->dims[k] = dims[k];
    blob->strides[k] = count;
    if (dims[k] < 1 || dims[k] > DARKNET_MAX_NUMBER || count > TENON_ELEMENT_LIMIT / dims[k]) {
      return DARKNET_FAIL(section, "line %u: [%s] has too many weights: use fewer filters",
                          section->line, section->type);
    }
    count *= dims[k];
  }
  if (inout_weights->size / sizeof(float) < (size_t)count) {
    return DARKNET_FAIL(section,
                        "line %u: [%s] needs %lld weights, and %zu are left in %s: give the "
                        ".weights file of this .cfg",
                        section->line, section->type, (long long)count,
                        inout_weights->size / sizeof(float), inout_weights->name);
  }
  blob->data = inout_weights->data;
  inout_weights->data += (size_t)count * sizeof(float);
  inout_weights->size -= (size_t)count * sizeof(float);
  return TENON_OK;
}

tenon_status_t darknet_take_weights(tenon_source_t* section, int64_t channels,
                                    darknet_weights_t* inout_weights) {
  int64_t filters = 0;
  int64_t size = 0;
  int64_t groups = 0;
  int64_t is_normalized = 0;
  TENON_READER_TRY(darknet_get_count(section, "filters", 1, 1, &filters));
  TENON_READER_TRY(darknet_get_count(section, "size", 1, 1, &size));
  TENON_READER_TRY(darknet_get_count(section, "groups", 1, 1, &groups));
  TENON_READER_TRY(darknet_get_count(section, "batch_normalize", 0, 0, &is_normalized));
  if (channels < 1 || channels % groups != 0 || filters % groups != 0) {
    return DARKNET_FAIL(section,
                        "line %u: [%s] has %lld channels and %lld filters in %lld groups: use "
                        "groups that divide both",
                        section->line, section->type, (long long)channels, (long long)filters,
                        (long long)groups);
  }
  const int64_t dims[] = {filters, channels / groups, size, size};
  /* Biases; of a normalised layer scales, means and variances too; then the filters. */
  for (int k = 0; k < (is_normalized != 0 ? 4 : 1); ++k) {
    TENON_READER_TRY(take(section, 1, dims, inout_weights));
  }
  return take(section, 4, dims, inout_weights);
}
