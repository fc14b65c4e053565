/*
 * Bounds-checked reading of external bytes, and writing to growing memory. Little-endian. Both
 * remember a failure, so that a long structure is read or written without a check of each member,
 * and with one check at its end.
 */
#ifndef TENON_CORE_BASE_BYTES_H_
#define TENON_CORE_BASE_BYTES_H_

#include <stdbool.h>
#include <string.h>

#include "tenon/plugin.h"

/* After the first read past the end, `failed` stays true and reads return zeros. */
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

/* Borrows the data, into which views and strings point. NULL: no data. */
void tenon__byte_reader_initialize(tenon__byte_reader_t* out_reader, const void* data, size_t size);
uint8_t tenon__read_u8(tenon__byte_reader_t* reader);
uint32_t tenon__read_u32(tenon__byte_reader_t* reader);
uint64_t tenon__read_u64(tenon__byte_reader_t* reader);
int64_t tenon__read_i64(tenon__byte_reader_t* reader);
double tenon__read_f64(tenon__byte_reader_t* reader);
/* Returns a pointer into the data; NULL (and failed) if fewer bytes are left. */
const void* tenon__read_view(tenon__byte_reader_t* reader, size_t size_bytes);
/* Reads u32 length, bytes, NUL, and returns a view into the data that ends with NUL; "" after a
 * failure. A NUL within the bytes is a failure too. */
const char* tenon__read_string(tenon__byte_reader_t* reader);
/* Reads a count of items of at least `least_size` bytes each. Returns 0 and fails if the remaining
 * bytes cannot contain them. So a malicious count cannot make a reader allocate more than the
 * file's size. */
uint32_t tenon__read_count(tenon__byte_reader_t* reader, size_t least_size);

/* `data` moves during writes, and belongs to the writer. */
typedef struct tenon__byte_writer_t {
  tenon_allocator_t allocator;
  uint8_t* data;
  size_t size;
  size_t capacity;
  bool failed; /* out of memory */
} tenon__byte_writer_t;

void tenon__byte_writer_initialize(tenon__byte_writer_t* out_writer, tenon_allocator_t allocator);
void tenon__byte_writer_deinitialize(tenon__byte_writer_t* writer);
void tenon__write_u8(tenon__byte_writer_t* writer, uint8_t value);
void tenon__write_u32(tenon__byte_writer_t* writer, uint32_t value);
void tenon__write_u64(tenon__byte_writer_t* writer, uint64_t value);
void tenon__write_i64(tenon__byte_writer_t* writer, int64_t value);
void tenon__write_f64(tenon__byte_writer_t* writer, double value);
void tenon__write_bytes(tenon__byte_writer_t* writer, const void* data, size_t size_bytes);
/* A string of 4 GiB or more fails. */
void tenon__write_string(tenon__byte_writer_t* writer, const char* text); /* NULL writes "" */

/* ---- Structures that newer header versions extend at the end ----
 *
 * They begin with their size. A larger size than this is invalid. */
#define TENON_STRUCTURE_LIMIT ((size_t)1 << 16)

/* Copies a growing structure of at least `least` bytes to one of `full` bytes, with missing members
 * zero and `size` = full. So newer members are zero for a plugin of an older header, and unknown
 * members of a newer header are dropped. The source need not be aligned. Returns false if the
 * source's `size` is below `least`, above `room` (the stride) or invalid. */
bool tenon__structure_copy(const void* source, size_t least, size_t room, size_t full,
                           void* out_copy);
/* Copies a structure of `full` bytes to the caller's structure, up to its `size`, which stays.
 * Returns false if `size` is smaller than itself, because it was not set. */
bool tenon__structure_fill(const void* source, size_t full, void* inout_target);
/* Item `index` of a list whose stride was checked, as its owner's header declares it. Members of
 * later versions exist only if the stride includes them. */
static inline const void* tenon__list_item(const tenon_list_t* list, uint32_t index) {
  return (const char*)list->items + (size_t)index * list->stride;
}

#endif
