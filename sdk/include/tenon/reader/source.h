/* The code of tenon/reader.h: fields that a format does not have. */
#ifndef TENON_READER_SOURCE_H_
#define TENON_READER_SOURCE_H_

#include "tenon/reader.h"

static inline tenon_status_t tenon_reader_no_tensor(const tenon_source_t* source, const char* name,
                                                    tenon_tensor_view_t* out_value) {
  (void)source;
  (void)name;
  (void)out_value;
  return TENON_ERROR_NOT_FOUND;
}

static inline tenon_status_t tenon_reader_no_tree(const tenon_source_t* source, const char* name,
                                                  uint32_t index,
                                                  const tenon_source_t** out_value) {
  (void)source;
  (void)name;
  (void)index;
  (void)out_value;
  return TENON_ERROR_NOT_FOUND;
}

static inline uint32_t tenon_reader_no_trees(const tenon_source_t* source, const char* name) {
  (void)source;
  (void)name;
  return 0;
}

static inline tenon_status_t tenon_reader_no_body(const tenon_source_t* source, const char* name,
                                                  const tenon_value_t* parameter_types,
                                                  uint32_t parameter_type_count,
                                                  tenon_converted_body_t* out_body) {
  (void)source;
  (void)name;
  (void)parameter_types;
  (void)parameter_type_count;
  (void)out_body;
  return TENON_ERROR_NOT_FOUND;
}

static inline uint32_t tenon_reader_no_blobs(const tenon_source_t* source) {
  (void)source;
  return 0;
}

static inline tenon_status_t tenon_reader_no_blob(const tenon_source_t* source, uint32_t index,
                                                  tenon_tensor_view_t* out_value) {
  (void)source;
  (void)index;
  (void)out_value;
  return TENON_ERROR_NOT_FOUND;
}

#endif /* TENON_READER_SOURCE_H_ */
