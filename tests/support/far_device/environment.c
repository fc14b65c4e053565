/* Reads the variables. What cannot be read ends the process: a test that asks for what it does not
 * get would prove nothing. */
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>

static far_environment_t environment;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void refuse(const char* name, const char* text) {
  (void)fprintf(stderr, "far: %s=%s cannot be read\n", name, text);
  abort();
}

/* A number, perhaps with K, M or G behind it. */
static uint64_t number(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  if (text == NULL || text[0] == 0) {
    return otherwise;
  }
  char* end = NULL;
  uint64_t value = strtoull(text, &end, 10);
  const char* unit = *end == 0 ? NULL : strchr("KMG", *end);
  if (end == text || (*end != 0 && (unit == NULL || end[1] != 0))) {
    refuse(name, text);
  }
  return unit == NULL ? value : value << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 30);
}

/* "copy:3:6,kernel:1:8": the third copy gives status 6, the first kernel 8. */
static void read_failures(void) {
  static const char* const words[] = {
#define WORD(name, word) word,
      FAR_CALLS(WORD)
#undef WORD
  };
  static const char name[] = "FAR_DEVICE_FAIL";
  const char* text = getenv(name);
  while (text != NULL && *text != 0) {
    uint32_t call = 0;
    size_t length = strcspn(text, ":");
    while (call < FAR_CALL_COUNT &&
           (strlen(words[call]) != length || strncmp(words[call], text, length) != 0)) {
      ++call;
    }
    unsigned long long nth = 0;
    int status = 0;
    int used = 0;
    if (call == FAR_CALL_COUNT ||
        sscanf(text + length, ":%llu:%d%n", &nth, &status, &used) != 2 ||  // NOLINT(cert-err34-c)
        (text[length + (size_t)used] != 0 && text[length + (size_t)used] != ',')) {
      refuse(name, text);
      return;
    }
    environment.failures[call] = (far_failure_t){nth, status};
    text += length + (size_t)used;
    text += *text == ',' ? 1 : 0;
  }
}

/* "1000,900": of the first reading and of the second. */
static void read_clocks(void) {
  static const char name[] = "FAR_DEVICE_CLOCKS";
  const char* text = getenv(name);
  if (text != NULL && sscanf(text, "%lf,%lf", &environment.clocks[0],  // NOLINT(cert-err34-c)
                             &environment.clocks[1]) != FAR_CLOCKS) {
    refuse(name, text);
  }
}

static void read_all(void) {
  const uint64_t count = number("FAR_DEVICE_COUNT", FAR_DEVICES);
  environment.count = count < FAR_DEVICES ? (uint32_t)count : FAR_DEVICES;
  environment.range = (size_t)4 << 30;
  environment.settings[FAR_SETTING_DELAY] = number("FAR_DEVICE_DELAY", 0);
  environment.settings[FAR_SETTING_LAZY] = number("FAR_DEVICE_LAZY", 0);
  environment.settings[FAR_SETTING_MEMORY] = number("FAR_DEVICE_MEMORY", environment.range);
  environment.settings[FAR_SETTING_TOLERANT] = number("FAR_DEVICE_TOLERANT", 0);
  environment.loss = number("FAR_DEVICE_LOSE", 0);
  environment.report = getenv("FAR_DEVICE_REPORT");
  environment.settings[FAR_SETTING_WATCHED] = number("FAR_DEVICE_WATCHED", 0);
  read_clocks();
  read_failures();
}

const far_environment_t* far_environment(void) {
  (void)pthread_once(&once, read_all);
  return &environment;
}
