/* What the files of the conformance driver share. */
#ifndef TESTS_CONFORMANCE_CONFORMANCE_H_
#define TESTS_CONFORMANCE_CONFORMANCE_H_

#include <stdbool.h>

#include "opened_device.h"

typedef struct conformance_case_t {
  const char* name;
  void (*run)(const tenon_device_descriptor_t* table, tenon_device_t* device);
} conformance_case_t;

void conformance_expect(const char* file, int line, bool holds, const char* words);
#define EXPECT(holds) conformance_expect(__FILE__, __LINE__, (holds), #holds)

/* Two blocks of the device, two of the host, and a stream. */
typedef struct conformance_buffer_t {
  tenon_stream_t* stream;
  size_t size_bytes;
  void* one;
  void* two;
  uint8_t* host;
  uint8_t* back;
} conformance_buffer_t;

void conformance_begin(conformance_buffer_t* out, const tenon_device_descriptor_t* t,
                       tenon_device_t* device, size_t size_bytes);
void conformance_end(conformance_buffer_t* buffer, const tenon_device_descriptor_t* t,
                     tenon_device_t* device);
void conformance_pattern(uint8_t* bytes, size_t count, unsigned seed);
/* Records a fill and a copy, and replays them. */
void conformance_record_once(const tenon_device_descriptor_t* t, tenon_device_t* device,
                             const conformance_buffer_t* buffer, size_t size_bytes);

/* Streams, events, recordings. Ends with a name that is NULL. */
extern const conformance_case_t conformance_stream_cases[];

#endif
