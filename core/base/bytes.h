/*
 * Bytes from outside and bytes that we write: bounds-checked reading, growing writing.
 * Little-endian. Both remember a failure, so that a long structure is read or written without a
 * check at each field, and asked once, at its end.
 */
#ifndef TENON_CORE_BASE_BYTES_H_
#define TENON_CORE_BASE_BYTES_H_

#include <stdbool.h>
#include <string.h>

#include "tenon/plugin.h"

/* After the first read past the end, `failed` stays true and reads give zeros. */
typedef struct tenon__byte_reader_t {
  const uint8_t* data;
  size_t size;
  size_t position;
  bool failed;
} tenon__byte_reader_t;

static inline uint64_t tenon__bits_of(double number) {
  uint64_t bits = 0;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

/* It borrows the data, which views and strings point into. NULL: there are none. */
void tenon__byte_reader_initialize(tenon__byte_reader_t* out_reader, const void* data, size_t size);
uint8_t tenon__read_u8(tenon__byte_reader_t* reader);
uint32_t tenon__read_u32(tenon__byte_reader_t* reader);
uint64_t tenon__read_u64(tenon__byte_reader_t* reader);
int64_t tenon__read_i64(tenon__byte_reader_t* reader);
double tenon__read_f64(tenon__byte_reader_t* reader);
/* A pointer into the data, NULL (and failed) when fewer bytes are left. */
const void* tenon__read_view(tenon__byte_reader_t* reader, size_t size_bytes);
/* u32 length, bytes, NUL: a view into the data that ends with NUL; "" after a failure. A NUL within
 * the bytes is a failure too. */
const char* tenon__read_string(tenon__byte_reader_t* reader);
/* A count of things of at least `least_size` bytes each: 0 and failed when the rest cannot hold
 * them. So a hostile count cannot make a reader allocate more than the file is long. */
uint32_t tenon__read_count(tenon__byte_reader_t* reader, size_t least_size);

/* `data` moves while it is written to, and is the writer's until it ends. */
typedef struct tenon__byte_writer_t {
  tenon_allocator_t allocator;
  uint8_t* data;
  size_t size;
  size_t capacity;
  bool failed; /* memory is out */
} tenon__byte_writer_t;

void tenon__byte_writer_initialize(tenon__byte_writer_t* out_writer, tenon_allocator_t allocator);
void tenon__byte_writer_deinitialize(tenon__byte_writer_t* writer);
void tenon__write_u8(tenon__byte_writer_t* writer, uint8_t value);
void tenon__write_u32(tenon__byte_writer_t* writer, uint32_t value);
void tenon__write_u64(tenon__byte_writer_t* writer, uint64_t value);
void tenon__write_i64(tenon__byte_writer_t* writer, int64_t value);
void tenon__write_f64(tenon__byte_writer_t* writer, double value);
void tenon__write_bytes(tenon__byte_writer_t* writer, const void* data, size_t size_bytes);
/* A text of 4 GiB fails. */
void tenon__write_string(tenon__byte_writer_t* writer, const char* text); /* NULL writes "" */

/* ---- Structures that grow at their end from one version of a header to the next ----
 *
 * They begin with their size. One larger than this is not a structure. */
#define TENON_STRUCTURE_LIMIT ((size_t)1 << 16)

/* Copies a growing structure of at least `least` bytes into one of `full` bytes, the rest zero,
 * `size` = full. False when the source's `size` is smaller than `least`, larger than `room` (the
 * stride) or absurd. So a plugin of an older header is read as if it had said nothing of newer
 * members, and one of a newer header loses what this host does not know. The source need not be
 * aligned. */
bool tenon__structure_copy(const void* source, size_t least, size_t room, size_t full,
                           void* out_copy);
/* Copies a structure of `full` bytes into one that its owner made, as far as that one's `size`
 * reaches; `size` stays. False if `size` cannot hold itself: the owner did not set it. */
bool tenon__structure_fill(const void* source, size_t full, void* inout_target);
/* Item `index` of a list whose stride was checked, as its owner's header declares it. Members that a
 * later version adds are there only if the stride reaches them. */
static inline const void* tenon__list_item(const tenon_list_t* list, uint32_t index) {
  return (const char*)list->items + (size_t)index * list->stride;
}

#endif
