/* A network as text for people. */
#ifndef TENON_CORE_NETWORK_PRINT_H_
#define TENON_CORE_NETWORK_PRINT_H_

#include "core/network/network.h"

/* Prints one line for each node, bodies indented, through `write`. */
void tenon__network_print(const tenon__network_t* network,
                          void (*write)(void* user, const char* text), void* user);

#endif
