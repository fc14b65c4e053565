/* What a decoder asks for, from memory of the test's. */
#ifndef PLUGINS_IMAGE_FAKE_HOST_H_
#define PLUGINS_IMAGE_FAKE_HOST_H_

#include <stdlib.h>

#include "picture.h"

typedef struct fake_host_t {
  uint8_t* pixels;
  int64_t dims[3];
  bool is_out_of_memory;
  bool is_cancelled;
  uint32_t asked; /* how often whether it is cancelled */
} fake_host_t;

static inline tenon_status_t fake_allocate(void* user, const int64_t dims[3], void** out_data) {
  fake_host_t* host = user;
  if (host->is_out_of_memory || host->pixels != NULL) {
    return host->pixels != NULL ? TENON_ERROR_INTERNAL : TENON_ERROR_OUT_OF_MEMORY;
  }
  host->pixels = malloc((size_t)(dims[0] * dims[1] * dims[2]));
  for (int k = 0; k < 3; ++k) {
    host->dims[k] = dims[k];
  }
  *out_data = host->pixels;
  return host->pixels != NULL ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static inline bool fake_is_cancelled(void* user) {
  fake_host_t* host = user;
  ++host->asked;
  return host->is_cancelled;
}

/* The picture of these bytes; its pixels are the host's, to be freed. */
static inline tenon__picture_t fake_decode(fake_host_t* host, const void* data, size_t size,
                                           tenon__picture_order_t order, uint32_t pixels_max) {
  tenon__picture_t picture = {.data = data,
                              .size = size,
                              .order = order,
                              .pixels_max = pixels_max,
                              .allocate = fake_allocate,
                              .is_cancelled = fake_is_cancelled,
                              .user = host};
  (void)tenon__picture_decode(&picture);
  return picture;
}

#endif
