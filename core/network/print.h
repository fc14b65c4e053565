/* A network as text for people. */
#ifndef TENON_CORE_NETWORK_PRINT_H_
#define TENON_CORE_NETWORK_PRINT_H_

#include "core/network/network.h"

/* Text for people: one line a node, bodies indented. Written through `write`. */
void tenon__network_print(const tenon__network_t* network,
                          void (*write)(void* user, const char* text), void* user);

#endif
