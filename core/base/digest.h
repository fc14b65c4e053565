/* SHA-256 (FIPS 180-4), for digests of plugins, weights and plans. */
#ifndef TENON_CORE_BASE_DIGEST_H_
#define TENON_CORE_BASE_DIGEST_H_

#include "core/base/interrupt.h"
#include "tenon/plugin.h"

/* Compared with memcmp. If a digest is optional, all zeros means none. */
typedef struct tenon__digest_t {
  uint8_t bytes[32];
} tenon__digest_t;

/* On the stack; nothing to free. A copy is independent. */
typedef struct tenon__digest_state_t {
  uint32_t state[8];
  uint64_t total_bytes;
  uint8_t buffer[64];
} tenon__digest_state_t;

/* Data may be added in parts of any size. The digest is that of their concatenation. */
void tenon__digest_begin(tenon__digest_state_t* out_state);
void tenon__digest_add(tenon__digest_state_t* state, const void* data, size_t size_bytes);
/* Same, in parts, until `interrupt` (may be NULL) is set. Returns false then; the state is
 * invalid. */
bool tenon__digest_add_until(tenon__digest_state_t* state, const void* data, size_t size_bytes,
                             tenon__interrupt_t* interrupt);
/* Returns the digest. The state is invalid after this call. */
tenon__digest_t tenon__digest_end(tenon__digest_state_t* state);
tenon__digest_t tenon__digest_of(const void* data, size_t size_bytes);
/* Writes 64 hexadecimal digits and NUL. */
void tenon__digest_text(const tenon__digest_t* digest, char out_text[65]);

/* ---- For its test only ---- */

enum { TENON_DIGEST_BLOCK = 64 };
/* Mixes `count` blocks of 64 bytes into the state. The processor's instructions are detected once
 * in the process. The blocks need no alignment. */
void tenon__digest_mix(uint32_t state[8], const uint8_t* blocks, size_t count);
/* Same without special instructions, for comparison in tests. */
void tenon__digest_mix_portable(uint32_t state[8], const uint8_t* blocks, size_t count);

#endif
