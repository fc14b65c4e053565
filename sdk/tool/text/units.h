/* Numbers for a person: times in a unit that suits them, sizes in mebibytes. */
#ifndef TOOL_TEXT_UNITS_H_
#define TOOL_TEXT_UNITS_H_

#include <stdint.h>

/* Seconds times `factor` are so many of them. */
typedef struct tool_unit_t {
  const char* name;
  double factor; /* from seconds */
} tool_unit_t;

/* "us", "ms" or "s": that in which `seconds` is a number from 1 to 1000, where there is one. */
tool_unit_t tool_time_unit(double seconds);

/* A number as text, by value: for one printf. */
typedef struct tool_number_t {
  char text[24];
} tool_number_t;
tool_number_t tool_number(double value);

/* Mebibytes. */
double tool_mib(uint64_t bytes);

#endif
