/*
 * The file of a plan, for its writer and reader. Numbers are little-endian.
 *
 *   header     64 + 32 bytes: below
 *   structure  `structure_size` bytes: sections, each a u32 name, a u64 size and its bytes
 *   data       from `data_offset`, a multiple of 4096: weights and packed weights, each aligned to
 *              64; first those that every run reads
 *
 *   header     "TENONPLN"
 *              u32 version        a reader refuses others
 *              u32 flags          0
 *              u64 total_size     of the file
 *              u64 structure_size
 *              u64 data_offset
 *              u64 hot_size       of the data: the part that each run reads; the rest follows
 *              16 bytes           0
 *              32 bytes           SHA-256 of the 64 bytes before and the structure
 *
 * Each section is present once, in the order of TENON_PLAN_SECTIONS. The header's digest does not
 * cover weights, so that a plan can be mapped without reading all of it. Each weight has its own
 * digest.
 */
#ifndef TENON_CORE_PLAN_FILE_PLAN_FILE_H_
#define TENON_CORE_PLAN_FILE_PLAN_FILE_H_

#include "core/base/bytes.h"
#include "core/plan/plan.h"

#define TENON_PLAN_MAGIC "TENONPLN"
#define TENON_PLAN_VERSION 13u
#define TENON_PLAN_HEADER_SIZE 96u
#define TENON_PLAN_DIGEST_OFFSET 64u
#define TENON_PLAN_DATA_ALIGNMENT 4096u
#define TENON_PLAN_BLOB_ALIGNMENT 64u
#define TENON_PLAN_SECTION_HEAD_SIZE 12u

/* NAME, number, contents. */
#define TENON_PLAN_SECTIONS(X)                                                                \
  X(SUMMARY, 1, "devices with fingerprints and memory of all steps, patches, threads, flags") \
  X(PLUGINS, 2, "name, version, digest of each plugin that it needs")                         \
  X(NETWORK, 3, "the optimised network, without the bytes of weights")                        \
  X(WEIGHTS, 4, "for each of the network's weights: whether and where its bytes are, digest") \
  X(SCHEDULES, 5, "for each graph: places, steps with their regions and tactics")             \
  X(PROFILE, 6, "minimum, optimum and maximum of each symbol")                                \
  X(PACKED, 7, "packed weights: key, format, where, digest")                                  \
  X(ORIGINAL, 8, "the network before the optimiser, and how it was built; empty when there is none")

#define TENON_PLAN_SECTION_ENTRY(name, number, contents) TENON_PLAN_SECTION_##name = (number),
enum { TENON_PLAN_SECTIONS(TENON_PLAN_SECTION_ENTRY) };

/* State that the reader's files share. */
typedef struct tenon__plan_reader_t {
  tenon__byte_reader_t bytes; /* of the current section */
  tenon__plan_t* plan;
  const tenon_sink_t* sink;
  const uint8_t* file;
  size_t file_size;
  size_t data_offset;
  size_t cold_offset;
} tenon__plan_reader_t;

/* Computes the digest of a weight like tenon__weights_digest, without the stored one. */
tenon__digest_t tenon__weights_digest_now(const tenon__weights_t* weights,
                                          tenon__interrupt_t* interrupt);

/* Reports "the plan is broken: ..." and returns INVALID_DATA. */
tenon_status_t tenon__plan_broken(const tenon__plan_reader_t* reader, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports the status of a helper that sends no message, as an error of `what`. */
tenon_status_t tenon__plan_refused(const tenon__plan_reader_t* reader, tenon_status_t status,
                                   const char* what);

/* Computes the digest of the header's first 64 bytes and the structure. `file` contains both. */
tenon__digest_t tenon__plan_file_digest(const void* file, size_t structure_size);

#endif
