/*
 * Walks over lists of values. A node, a step, a match and a region keep one entry for each port,
 * and TENON_NONE marks a port without a value: an absent optional input, or an output that no node
 * reads. These walks skip such entries, so a loop body can look the value up in any table. A loop
 * that needs every port, with or without a value, does not look values up.
 */
#ifndef TENON_CORE_NETWORK_PRESENT_H_
#define TENON_CORE_NETWORK_PRESENT_H_

#include <stdint.h>

#include "tenon/plugin.h"

/* The first index from `index` on whose entry is a value. Returns `count` if there is none. */
static inline uint32_t tenon__next_present(const uint32_t* values, uint32_t count, uint32_t index) {
  while (index < count && values[index] == TENON_NONE) {
    ++index;
  }
  return index;
}

/* for (each index k of the list at which there is a value). The list is evaluated again in each
 * round, so the body may move the table that holds it. */
#define TENON_EACH_PRESENT(k, values, count)                                  \
  for (uint32_t k = tenon__next_present((values), (count), 0); (k) < (count); \
       (k) = tenon__next_present((values), (count), (k) + 1))

/* The same for `inputs` and `outputs` of a node or a step. */
#define TENON_EACH_INPUT(k, node) TENON_EACH_PRESENT(k, (node)->inputs, (node)->input_count)
#define TENON_EACH_OUTPUT(k, node) TENON_EACH_PRESENT(k, (node)->outputs, (node)->output_count)

#endif
