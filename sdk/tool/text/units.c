/* See units.h. */
#include "text/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

tool_unit_t tool_time_unit(double seconds) {
  /* What is rounded to 1000 belongs to the next. */
  return seconds < 0.9995e-3 ? (tool_unit_t){"us", 1e6}
         : seconds < 0.9995  ? (tool_unit_t){"ms", 1e3}
                             : (tool_unit_t){"s", 1};
}

tool_number_t tool_number(double value) {
  tool_number_t number;
  const bool is_large = fabs(value) >= 9999.5 && fabs(value) < 1e15;
  (void)snprintf(number.text, sizeof(number.text), is_large ? "%.0f" : "%.4g", value);
  return number;
}

double tool_mib(uint64_t bytes) {
  return (double)bytes / 1048576;
}
