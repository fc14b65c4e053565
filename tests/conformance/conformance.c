/*
 * Drives the table of a device with memory and streams of its own against the words of the contract
 * (plugin.h, section 7).
 *
 *   device_conformance PLUGIN.so DEVICE [INDEX]
 *
 * Exits with 77 where there is no such device.
 */
#include <pthread.h>

#include "conformance.h"

static opened_device_t opened;
static int failures;

void conformance_expect(const char* file, int line, bool holds, const char* words) {
  if (!holds) {
    (void)fprintf(stderr, "%s:%d: expected %s\n", file, line, words);
    failures++;
  }
}

/* ---- What it is ---- */

static void opens_several_times(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  tenon_device_t* second = NULL;
  EXPECT(t->open(opened.state, opened.index, &opened_sink, &second) == TENON_OK);
  EXPECT(strcmp(t->fingerprint(device), t->fingerprint(second)) == 0);
  EXPECT(t->fingerprint(device)[0] != 0);
  t->close(second);
  EXPECT(t->health(device, &opened_sink) == TENON_OK);
  void* data = NULL;
  EXPECT(t->allocate(device, NULL, 64, &data) == TENON_OK);
  t->free(device, NULL, data, 64);
}

static void says_why_an_index_is_wrong(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  tenon_device_t* none = NULL;
  opened_words[0] = 0;
  (void)device;
  EXPECT(t->open(opened.state, opened.count + 7, &opened_sink, &none) != TENON_OK);
  EXPECT(none == NULL);
}

static void knows_no_strange_names(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  EXPECT(t->has(device, "no.such.capability") == 0);
  EXPECT(t->service == NULL || t->service(device, "no.such.service/1") == NULL);
  EXPECT(t->native == NULL || t->native(device, NULL, "no.such.handle/1") == NULL);
}

/* ---- Memory ---- */

static void allocates_aligned_blocks(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  static const size_t sizes[] = {0, 1, 255, 256, 257, 4096, 100003, (size_t)64 << 20};
  enum { COUNT = sizeof(sizes) / sizeof(*sizes) };
  tenon_stream_t* streams[2] = {NULL, NULL};
  EXPECT(t->create_stream(device, NULL, &streams[1]) == TENON_OK);
  for (int with = 0; with < 2; with++) {
    void* blocks[COUNT] = {NULL};
    for (int k = 0; k < COUNT; k++) {
      EXPECT(t->allocate(device, streams[with], sizes[k], &blocks[k]) == TENON_OK);
      EXPECT((uintptr_t)blocks[k] % 256 == 0);
      for (int other = 0; other < k; other++) {
        EXPECT(blocks[other] != blocks[k]);
      }
    }
    for (int k = 0; k < COUNT; k++) {
      t->free(device, streams[with], blocks[k], sizes[k]);
    }
  }
  EXPECT(t->synchronize(device, streams[1]) == TENON_OK);
  t->destroy_stream(device, streams[1]);
}

static void survives_what_does_not_fit(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  void* data = &data;
  tenon_stream_t* stream = NULL;
  EXPECT(t->create_stream(device, NULL, &stream) == TENON_OK);
  EXPECT(t->allocate(device, stream, (size_t)1 << 50, &data) == TENON_ERROR_OUT_OF_MEMORY);
  EXPECT(data == &data);
  EXPECT(t->synchronize(device, stream) == TENON_OK);
  EXPECT(t->health(device, &opened_sink) == TENON_OK);
  EXPECT(t->allocate(device, stream, 1024, &data) == TENON_OK);
  t->free(device, stream, data, 1024);
  t->destroy_stream(device, stream);
}

/* Where it tells what it has, and takes names of steps. What it does not know is 0. */
static void tells_what_it_has(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  const size_t size = (size_t)16 << 20;
  const tenon_device_watch_t* watch =
      t->service == NULL ? NULL : t->service(device, TENON_DEVICE_WATCH);
  tenon_device_reading_t before = {.size = sizeof(before)};
  tenon_device_reading_t during = {.size = sizeof(during)};
  tenon_device_reading_t after = {.size = sizeof(after)};
  void* data = NULL;
  if (watch == NULL) {
    return;
  }
  EXPECT((watch->begin_range == NULL) == (watch->end_range == NULL));
  if (watch->begin_range != NULL && watch->end_range != NULL) {
    watch->begin_range(device, "outer");
    watch->begin_range(device, "");
    watch->end_range(device);
    watch->end_range(device);
  }
  if (watch->read == NULL) {
    return;
  }
  EXPECT(watch->read(device, &before) == TENON_OK);
  EXPECT(t->allocate(device, NULL, size, &data) == TENON_OK);
  EXPECT(watch->read(device, &during) == TENON_OK);
  t->free(device, NULL, data, size);
  EXPECT(t->synchronize(device, NULL) == TENON_OK);
  EXPECT(watch->read(device, &after) == TENON_OK);
  EXPECT(during.used_bytes == 0 || during.used_bytes >= before.used_bytes + size);
  EXPECT(during.peak_bytes == 0 || during.peak_bytes >= during.used_bytes);
  EXPECT(after.used_bytes <= before.used_bytes && after.peak_bytes >= during.peak_bytes);
  EXPECT(after.free_bytes <= after.total_bytes);
  EXPECT(after.clock_hertz >= 0 && after.clock_hertz < 1e11 && after.memory_clock_hertz < 1e11);
}

static void copies_there_and_back(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  static const size_t sizes[] = {0, 1, 3, 4097, (size_t)8 << 20};
  for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
    conformance_buffer_t buffer;
    conformance_begin(&buffer, t, device, sizes[k] + 16);
    uint8_t* one = buffer.one;
    uint8_t* two = buffer.two;
    conformance_pattern(buffer.host, sizes[k], (unsigned)k + 1);
    memset(buffer.back, 0, sizes[k] + 16);
    EXPECT(t->copy(device, buffer.stream, TENON_COPY_TO_DEVICE, one + 3, buffer.host, sizes[k]) ==
           TENON_OK);
    EXPECT(t->copy(device, buffer.stream, TENON_COPY_WITHIN, two + 5, one + 3, sizes[k]) ==
           TENON_OK);
    EXPECT(t->copy(device, buffer.stream, TENON_COPY_TO_HOST, buffer.back, two + 5, sizes[k]) ==
           TENON_OK);
    EXPECT(t->synchronize(device, buffer.stream) == TENON_OK);
    EXPECT(memcmp(buffer.host, buffer.back, sizes[k]) == 0);
    EXPECT(buffer.back[sizes[k]] == 0);
    conformance_end(&buffer, t, device);
  }
}

static void fills_bytes(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  enum { SIZE = 70001 };
  conformance_buffer_t buffer;
  conformance_begin(&buffer, t, device, SIZE);
  uint8_t* one = buffer.one;
  EXPECT(t->fill(device, buffer.stream, one, 0x11, SIZE) == TENON_OK);
  EXPECT(t->fill(device, buffer.stream, one + 7, 0xA5, SIZE - 10) == TENON_OK);
  EXPECT(t->fill(device, buffer.stream, one, 0, 0) == TENON_OK);
  EXPECT(t->copy(device, buffer.stream, TENON_COPY_TO_HOST, buffer.back, one, SIZE) == TENON_OK);
  EXPECT(t->synchronize(device, buffer.stream) == TENON_OK);
  size_t wrong = 0;
  for (size_t k = 0; k < SIZE; k++) {
    wrong += buffer.back[k] != (k < 7 || k >= SIZE - 3 ? 0x11 : 0xA5);
  }
  EXPECT(wrong == 0);
  conformance_end(&buffer, t, device);
}

/* What is freed on a stream may be taken again on it at once, without harm to what is under way. */
static void reuses_memory_in_order(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  enum { SIZE = 1 << 20, ROUNDS = 50 };
  conformance_buffer_t buffer;
  conformance_begin(&buffer, t, device, SIZE);
  for (int round = 0; round < ROUNDS; round++) {
    void* block = NULL;
    EXPECT(t->allocate(device, buffer.stream, SIZE, &block) == TENON_OK);
    EXPECT(t->fill(device, buffer.stream, block, round + 1, SIZE) == TENON_OK);
    EXPECT(t->copy(device, buffer.stream, TENON_COPY_WITHIN, (uint8_t*)buffer.one + round, block,
                   1) == TENON_OK);
    t->free(device, buffer.stream, block, SIZE);
  }
  EXPECT(t->copy(device, buffer.stream, TENON_COPY_TO_HOST, buffer.back, buffer.one, ROUNDS) ==
         TENON_OK);
  EXPECT(t->synchronize(device, buffer.stream) == TENON_OK);
  for (int round = 0; round < ROUNDS; round++) {
    EXPECT(buffer.back[round] == round + 1);
  }
  conformance_end(&buffer, t, device);
}

/* ---- Threads ---- */

enum { THREADS = 4 };
static void* work_alone(void* user) {
  enum { SIZE = 200003, ROUNDS = 20 };
  const tenon_device_descriptor_t* t = opened.table;
  tenon_device_t* device = opened.device;
  const unsigned seed = *(const unsigned*)user;
  conformance_buffer_t buffer;
  conformance_begin(&buffer, t, device, SIZE);
  for (unsigned round = 0; round < ROUNDS; round++) {
    conformance_pattern(buffer.host, SIZE, seed * ROUNDS + round);
    bool good = t->copy(device, buffer.stream, TENON_COPY_TO_DEVICE, buffer.one, buffer.host,
                        SIZE) == TENON_OK &&
                t->copy(device, buffer.stream, TENON_COPY_WITHIN, buffer.two, buffer.one, SIZE) ==
                    TENON_OK &&
                t->copy(device, buffer.stream, TENON_COPY_TO_HOST, buffer.back, buffer.two, SIZE) ==
                    TENON_OK &&
                t->synchronize(device, buffer.stream) == TENON_OK;
    EXPECT(good && memcmp(buffer.host, buffer.back, SIZE) == 0);
    if ((t->flags & TENON_DEVICE_RECORDS) != 0) {
      conformance_record_once(t, device, &buffer, SIZE);
    }
  }
  conformance_end(&buffer, t, device);
  return NULL;
}

static void serves_threads_at_once(const tenon_device_descriptor_t* t, tenon_device_t* device) {
  pthread_t threads[THREADS];
  unsigned seeds[THREADS];
  for (unsigned k = 0; k < THREADS; k++) {
    seeds[k] = k;
    EXPECT(pthread_create(&threads[k], NULL, work_alone, &seeds[k]) == 0);
  }
  for (unsigned k = 0; k < THREADS; k++) {
    EXPECT(pthread_join(threads[k], NULL) == 0);
  }
  EXPECT(t->health(device, &opened_sink) == TENON_OK);
}

/* ---- All of them ---- */

static const conformance_case_t own_cases[] = {
    {"opens_several_times", opens_several_times},
    {"says_why_an_index_is_wrong", says_why_an_index_is_wrong},
    {"knows_no_strange_names", knows_no_strange_names},
    {"allocates_aligned_blocks", allocates_aligned_blocks},
    {"survives_what_does_not_fit", survives_what_does_not_fit},
    {"tells_what_it_has", tells_what_it_has},
    {"copies_there_and_back", copies_there_and_back},
    {"fills_bytes", fills_bytes},
    {"reuses_memory_in_order", reuses_memory_in_order},
    {"serves_threads_at_once", serves_threads_at_once},
    {NULL, NULL}};

static void run_cases(const conformance_case_t* cases) {
  for (; cases->name != NULL; cases++) {
    const int before = failures;
    cases->run(opened.table, opened.device);
    (void)printf("%s %s\n", failures == before ? "passed" : "FAILED", cases->name);
  }
}

int main(int argument_count, char** arguments) {
  if (argument_count < 3) {
    (void)fprintf(stderr, "device_conformance PLUGIN.so DEVICE [INDEX]\n");
    return OPENED_FAILED;
  }
  const uint32_t index = argument_count > 3 ? (uint32_t)strtoul(arguments[3], NULL, 10) : 0;
  const int status = opened_start(&opened, arguments[1], arguments[2], index);
  if (status != 0) {
    return status;
  }
  if ((opened.table->flags & (TENON_DEVICE_HOST_MEMORY | TENON_DEVICE_INLINE_STREAM)) != 0) {
    (void)printf("skipped: %s works in the host's memory, or inline\n", arguments[2]);
    opened_stop(&opened);
    return OPENED_SKIPPED;
  }
  (void)printf("%s:%u is %s\n", arguments[2], index, opened.table->fingerprint(opened.device));
  run_cases(own_cases);
  run_cases(conformance_stream_cases);
  opened_stop(&opened);
  (void)printf("%s\n", failures == 0 ? "all as the contract says" : "not as the contract says");
  return failures == 0 ? 0 : OPENED_FAILED;
}
