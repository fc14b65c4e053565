/* The groups of cases of the kernels' driver. */
#ifndef TESTS_CONFORMANCE_KERNELS_H_
#define TESTS_CONFORMANCE_KERNELS_H_

void kernels_check_opcodes(void);
void kernels_check_types(void);
void kernels_check_places(void);
void kernels_check_rows(void);
void kernels_check_loads(void);
void kernels_check_random(unsigned count);
void kernels_check_recorded(void);
void kernels_check_moves(void);

#endif
