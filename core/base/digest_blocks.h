/* The inside of SHA-256: whole blocks into the state, by the processor's instructions where it has
 * them. */
#ifndef TENON_CORE_BASE_DIGEST_BLOCKS_H_
#define TENON_CORE_BASE_DIGEST_BLOCKS_H_

#include <stddef.h>
#include <stdint.h>

enum { TENON_DIGEST_BLOCK = 64 };

/* Mixes `count` blocks of 64 bytes into the state. What the processor has is asked once for the
 * process. The blocks need no alignment. */
void tenon__digest_mix(uint32_t state[8], const uint8_t* blocks, size_t count);
/* The same without any special instruction; for tests to compare with. */
void tenon__digest_mix_portable(uint32_t state[8], const uint8_t* blocks, size_t count);

#endif
