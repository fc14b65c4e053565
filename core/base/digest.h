/* SHA-256 (FIPS 180-4), for digests of plugins, weights and plans. */
#ifndef TENON_CORE_BASE_DIGEST_H_
#define TENON_CORE_BASE_DIGEST_H_

#include "core/base/interrupt.h"
#include "tenon/plugin.h"

/* Compared with memcmp. All zero stands for none where a digest is optional. */
typedef struct tenon__digest_t {
  uint8_t bytes[32];
} tenon__digest_t;

/* On the stack, nothing to free; a copy of it goes on by itself. */
typedef struct tenon__digest_state_t {
  uint32_t state[8];
  uint64_t total_bytes;
  uint8_t buffer[64];
} tenon__digest_state_t;

/* Data may come in pieces of any size: the digest is that of all of them behind each other. */
void tenon__digest_begin(tenon__digest_state_t* out_state);
void tenon__digest_add(tenon__digest_state_t* state, const void* data, size_t size_bytes);
/* The same in pieces, as long as nobody wants the end meanwhile; false then, and the state is of no
 * use. NULL: nobody does. */
bool tenon__digest_add_until(tenon__digest_state_t* state, const void* data, size_t size_bytes,
                             tenon__interrupt_t* interrupt);
/* The state is used up. */
tenon__digest_t tenon__digest_end(tenon__digest_state_t* state);
tenon__digest_t tenon__digest_of(const void* data, size_t size_bytes);
/* 64 hexadecimal digits and NUL. */
void tenon__digest_text(const tenon__digest_t* digest, char out_text[65]);

/* ---- For its test alone ---- */

enum { TENON_DIGEST_BLOCK = 64 };
/* Mixes `count` blocks of 64 bytes into the state. What the processor has is asked once for the
 * process. The blocks need no alignment. */
void tenon__digest_mix(uint32_t state[8], const uint8_t* blocks, size_t count);
/* The same without any special instruction; for tests to compare with. */
void tenon__digest_mix_portable(uint32_t state[8], const uint8_t* blocks, size_t count);

#endif
