/*
 * What libraries leave in a recording to set memory and to copy it, which the plugin `cuda` makes
 * kernels of: by the driver's own calls, as they make them.
 *
 *   device_memory_nodes PLUGIN cuda
 *
 * Each case is recorded between two others, replayed, and compared with what the host makes of it.
 * On a stand-in for the driver also whether it became a kernel, or was left. Exits with 77 where
 * there is no such device.
 */
#include <cuda.h>

#include "opened_device.h"
#include "tenon/cuda.h"

enum { ROOM = 1 << 20, BIG = 3 << 20 };

typedef struct driver_t {
  __typeof__(cuMemsetD8Async)* set_1;
  __typeof__(cuMemsetD16Async)* set_2;
  __typeof__(cuMemsetD32Async)* set_4;
  __typeof__(cuMemsetD2D32Async)* set_rows;
  __typeof__(cuMemcpyDtoDAsync)* copy;
  __typeof__(cuMemcpyDtoHAsync)* copy_out;
  void (*listen)(char* text, size_t capacity); /* the stand-in's, see stand_in.h; else NULL */
} driver_t;

/* Sets `count` elements from the byte `at` on, in so many rows; of 0 bytes each: copies bytes. */
typedef struct node_case_t {
  const char* name;
  unsigned element;
  size_t at;
  size_t count;
  size_t rows; /* of elements of 4 bytes */
  size_t pitch;
  unsigned value;
  bool stays; /* it does not become a kernel */
} node_case_t;

static const node_case_t cases[] = {
    {"a counter", 4, 64, 1, 1, 0, 0, false},
    {"three counters, which are no 16 bytes", 4, 68, 3, 1, 0, 0, false},
    {"a thousand words", 4, 1024, 1000, 1, 0, 0x01020304u, false},
    {"a word between others", 4, 4, 1, 1, 0, 0xDEADBEEFu, false},
    {"bytes", 1, 3, 5, 1, 0, 0xABCDEF12u, false},
    {"halves, whole words", 2, 32, 34, 1, 0, 0x1234u, false},
    {"halves that are no whole words", 2, 34, 33, 1, 0, 0x1234u, true},
    {"halves of one byte twice", 2, 34, 33, 1, 0, 0x1212u, false},
    {"rows with gaps", 4, 256, 5, 7, 48, 0x0A0B0C0Du, false},
    {"rows with gaps that are no 16 bytes", 4, 260, 4, 9, 20, 0x0A0B0C0Du, false},
    {"64 KB", 4, 16, 16384, 1, 0, 0x55u, false},
    {"more than 64 KB", 4, 16, 16385, 1, 0, 0x55u, true},
    {"64 KB in rows", 4, 0, 1024, 16, 8192, 0x55u, false},
    {"more than 64 KB in rows", 4, 0, 1024, 17, 8192, 0x55u, true},
    {"all bytes but the ends", 1, 1, BIG - 2, 1, 0, 0x55u, true},
    {"a copy", 0, 16, 4096, 1, 0, 0, false},
    {"a copy of more than 64 KB", 0, 16, (64 << 10) + 1, 1, 0, 0, true},
    {"a copy of words", 0, 20, 4092, 1, 0, 0, false},
    {"a copy of bytes", 0, 1, 63, 1, 0, 0, false},
};

/* ---- What it is to be ---- */

static void set_on_host(const node_case_t* c, uint8_t* bytes, const uint8_t* source) {
  for (size_t row = 0; row < c->rows; row++) {
    for (size_t k = 0; k < c->count; k++) {
      const size_t at = c->at + row * c->pitch + k * (c->element > 0 ? c->element : 1);
      if (c->element == 0) {
        bytes[at] = source[k];
      } else {
        memcpy(bytes + at, &c->value, c->element); /* its lower bytes: the host is little-endian */
      }
    }
  }
}

/* ---- By the driver ---- */

static bool find_driver(driver_t* out) {
  static const char* const names[] = {
      "cuMemsetD8Async",      "cuMemsetD16Async",     "cuMemsetD32Async", "cuMemsetD2D32Async",
      "cuMemcpyDtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "stand_in_listen"};
  void* functions[] = {&out->set_1, &out->set_2,    &out->set_4, &out->set_rows,
                       &out->copy,  &out->copy_out, &out->listen};
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  bool found = library != NULL;
  for (size_t k = 0; k < sizeof(names) / sizeof(*names) && found; k++) {
    void* symbol = dlsym(library, names[k]);
    found = symbol != NULL || functions[k] == (void*)&out->listen;
    memcpy(functions[k], &symbol, sizeof(symbol)); /* POSIX: it holds a function's */
  }
  return found;
}

static bool enqueue(const driver_t* driver, const node_case_t* c, void* target, const void* source,
                    CUstream stream) {
  const CUdeviceptr at = (CUdeviceptr)(uintptr_t)target + c->at;
  const CUresult result =
      c->element == 0   ? driver->copy(at, (CUdeviceptr)(uintptr_t)source, c->count, stream)
      : c->element == 1 ? driver->set_1(at, (unsigned char)c->value, c->count, stream)
      : c->element == 2 ? driver->set_2(at, (unsigned short)c->value, c->count, stream)
      : c->rows > 1     ? driver->set_rows(at, c->pitch, c->value, c->count, c->rows, stream)
                        : driver->set_4(at, c->value, c->count, stream);
  return result == CUDA_SUCCESS;
}

/* ---- A case ---- */

typedef struct blocks_t {
  tenon_stream_t* stream;
  void* target;
  void* source;
  uint8_t* expected;
  uint8_t* source_bytes;
  uint8_t* found;
} blocks_t;

static size_t count_of(const char* text, const char* word) {
  size_t count = 0;
  for (const char* at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
    count++;
  }
  return count;
}

/* Between a fill before it and one behind it: the order is the recording's. */
static bool record(const opened_device_t* o, const driver_t* driver, const node_case_t* c,
                   const blocks_t* b, CUstream stream, void** out_recording) {
  static char calls[1 << 14];
  const tenon_device_descriptor_t* t = o->table;
  bool good = t->begin_record(o->device, b->stream) == TENON_OK;
  good = good && t->fill(o->device, b->stream, b->target, 0x11, BIG) == TENON_OK;
  good = good && enqueue(driver, c, b->target, b->source, stream);
  good = good && t->fill(o->device, b->stream, b->target, 0x22, 1) == TENON_OK;
  if (driver->listen != NULL) {
    driver->listen(calls, sizeof(calls));
  }
  good = good && t->end_record(o->device, b->stream, out_recording) == TENON_OK;
  if (driver->listen != NULL) {
    driver->listen(NULL, 0);
    const size_t kernels = count_of(calls, "cuGraphAddKernelNode_v2 ");
    const size_t wanted = c->stays ? 1 : 2; /* the last fill is one, the first is too large */
    good = good && kernels == wanted && kernels == count_of(calls, "cuGraphDestroyNode ");
  }
  return good;
}

static bool check(const opened_device_t* o, const driver_t* driver, const node_case_t* c,
                  const blocks_t* b, CUstream stream) {
  void* recording = NULL;
  memset(b->expected, 0x11, BIG);
  set_on_host(c, b->expected, b->source_bytes);
  b->expected[0] = 0x22;
  bool good = record(o, driver, c, b, stream, &recording);
  for (int round = 0; round < 2 && good; round++) {
    memset(b->found, 0, BIG);
    good = o->table->replay(o->device, b->stream, recording) == TENON_OK &&
           o->table->copy(o->device, b->stream, TENON_COPY_TO_HOST, b->found, b->target, BIG) ==
               TENON_OK &&
           o->table->synchronize(o->device, b->stream) == TENON_OK &&
           memcmp(b->found, b->expected, BIG) == 0;
  }
  o->table->destroy_recording(o->device, recording);
  (void)printf("%s %s\n", good ? "passed" : "FAILED", c->name);
  return good;
}

/* From the device to the host's memory: it stays a copy, and is one. */
static bool check_copy_out(const opened_device_t* o, const driver_t* driver, const blocks_t* b,
                           CUstream stream) {
  static char calls[1 << 14];
  void* recording = NULL;
  const tenon_device_descriptor_t* t = o->table;
  memset(b->found, 0, ROOM);
  bool good =
      t->begin_record(o->device, b->stream) == TENON_OK &&
      driver->copy_out(b->found, (CUdeviceptr)(uintptr_t)b->source, ROOM, stream) == CUDA_SUCCESS;
  if (driver->listen != NULL) {
    driver->listen(calls, sizeof(calls));
  }
  good = good && t->end_record(o->device, b->stream, &recording) == TENON_OK;
  if (driver->listen != NULL) {
    driver->listen(NULL, 0);
    good = good && count_of(calls, "cuGraphAddKernelNode_v2 ") == 0;
  }
  good = good && t->replay(o->device, b->stream, recording) == TENON_OK &&
         t->synchronize(o->device, b->stream) == TENON_OK &&
         memcmp(b->found, b->source_bytes, ROOM) == 0;
  t->destroy_recording(o->device, recording);
  (void)printf("%s a copy to the host\n", good ? "passed" : "FAILED");
  return good;
}

/* ---- All of them ---- */

static bool begin(const opened_device_t* o, blocks_t* b) {
  const tenon_device_descriptor_t* t = o->table;
  *b = (blocks_t){.expected = malloc(BIG), .source_bytes = malloc(ROOM), .found = malloc(BIG)};
  if (b->expected == NULL || b->source_bytes == NULL || b->found == NULL) {
    return false;
  }
  for (size_t k = 0; k < ROOM; k++) {
    b->source_bytes[k] = (uint8_t)(k * 2654435761u >> 13);
  }
  return t->create_stream(o->device, NULL, &b->stream) == TENON_OK &&
         t->allocate(o->device, b->stream, BIG, &b->target) == TENON_OK &&
         t->allocate(o->device, b->stream, ROOM, &b->source) == TENON_OK &&
         t->copy(o->device, b->stream, TENON_COPY_TO_DEVICE, b->source, b->source_bytes, ROOM) ==
             TENON_OK &&
         t->synchronize(o->device, b->stream) == TENON_OK;
}

static void end(const opened_device_t* o, blocks_t* b) {
  if (b->stream != NULL) {
    o->table->free(o->device, b->stream, b->target, BIG);
    o->table->free(o->device, b->stream, b->source, ROOM);
    (void)o->table->synchronize(o->device, b->stream);
    o->table->destroy_stream(o->device, b->stream);
  }
  free(b->expected);
  free(b->source_bytes);
  free(b->found);
}

static bool check_all(const opened_device_t* o) {
  driver_t driver = {NULL};
  blocks_t blocks = {NULL};
  const tenon_cuda_native_t* native = o->table->service(o->device, TENON_CUDA_NATIVE);
  bool good = native != NULL && find_driver(&driver) && begin(o, &blocks);
  if (good) {
    CUstream stream = native->stream(blocks.stream);
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
      good = check(o, &driver, &cases[k], &blocks, stream) && good;
    }
    good = check_copy_out(o, &driver, &blocks, stream) && good;
  }
  end(o, &blocks);
  return good;
}

int main(int argument_count, char** arguments) {
  opened_device_t opened;
  if (argument_count != 3) {
    (void)fprintf(stderr, "device_memory_nodes PLUGIN DEVICE\n");
    return OPENED_FAILED;
  }
  int status = opened_start(&opened, arguments[1], arguments[2], 0);
  if (status == 0) {
    status = check_all(&opened) ? 0 : OPENED_FAILED;
    (void)printf("%s\n", status == 0 ? "all as they were asked for" : "FAILED");
  }
  opened_stop(&opened);
  return status;
}
