/*
 * Memory that the host cannot touch. A device has two ranges of addresses of one size: `outside`,
 * which nobody may read or write, and `inside`, where its bytes are. What is allocated is an
 * address outside; the device's own code finds the bytes at the same distance inside.
 */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_MEMORY_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_MEMORY_H_

#include "device.h"

enum { FAR_FRESH_BYTE = 0xDA, FAR_FREED_BYTE = 0xDB };

/* Both ranges, once; they stay. Under the lock. */
bool far_memory_reserve(tenon_device_t* device);
/* Is it an address outside? */
bool far_memory_owns(const tenon_device_t* device, const void* address);
/* Whose address it is; NULL: nobody's. */
tenon_device_t* far_memory_owner(const void* address);
/* Where `size` bytes at an address outside lie; NULL, and a mistake of `who`, unless one allocation
 * holds them all. Not under the lock. */
void* far_memory_inside(tenon_device_t* device, const void* address, size_t size, const char* who);

/* First fit, multiples of 256. Contents are FAR_FRESH_BYTE. OUT_OF_MEMORY without a word. */
tenon_status_t far_memory_allocate(tenon_device_t* device, size_t size, void** out_address);
/* Fills with FAR_FREED_BYTE. A mistake unless it was allocated with that size. */
void far_memory_free(tenon_device_t* device, void* address, size_t size);

#endif
