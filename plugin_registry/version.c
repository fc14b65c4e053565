/* Compares versions one part after another. A part is a number or one other character. */
#include "plugin_registry/version.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_end(char c) {
  return c == '\0' || c == '+';
}

/* Compares the numbers at *a and *b, of any length, and moves both behind them. */
static int compare_numbers(const char** a, const char** b) {
  const char* starts[2];
  size_t lengths[2];
  const char** texts[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    const char* at = *texts[i];
    while (*at == '0') {
      ++at;
    }
    starts[i] = at;
    while (is_digit(*at)) {
      ++at;
    }
    lengths[i] = (size_t)(at - starts[i]);
    *texts[i] = at;
  }
  return lengths[0] != lengths[1] ? (lengths[0] > lengths[1] ? 1 : -1)
                                  : memcmp(starts[0], starts[1], lengths[0]);
}

/* Returns the sign of a version that goes on at `text` beside one that ends there. */
static int compare_rest(const char* text, bool is_suffix) {
  for (; !is_end(*text); ++text) {
    if (*text == '-' && !is_suffix) {
      return -1;
    }
    if (is_suffix || (*text != '.' && *text != '0')) {
      return 1;
    }
  }
  return 0;
}

int tenon__version_compare(const char* a, const char* b) {
  bool is_suffix = false;
  while (!is_end(*a) && !is_end(*b)) {
    if (is_digit(*a) && is_digit(*b)) {
      const int order = compare_numbers(&a, &b);
      if (order != 0) {
        return order;
      }
    } else if (*a != *b) {
      /* '-' begins a suffix, so the other version has further numbers or no suffix. */
      return !is_suffix && *a == '-'   ? -1
             : !is_suffix && *b == '-' ? 1
                                       : (unsigned char)*a - (unsigned char)*b;
    } else {
      is_suffix = is_suffix || *a == '-';
      ++a;
      ++b;
    }
  }
  return !is_end(*a) ? compare_rest(a, is_suffix) : -compare_rest(b, is_suffix);
}
