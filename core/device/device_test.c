/* Devices and their memory. */
#include "core/device/memory.h"

#include "core/base/test.h"

/* A device that counts what it is asked, and fails when it is told to. */
typedef struct fake_device_t {
  char bytes[256];
  uint32_t allocated;
  uint32_t freed;
  uint32_t copied;
  uint32_t filled;
  tenon_status_t failure;
  bool is_lost;
} fake_device_t;

static fake_device_t* fake_of(tenon_device_t* device) {
  return (fake_device_t*)(void*)device;
}

static tenon_status_t open_fake(void* state, uint32_t index, const tenon_sink_t* sink,
                                tenon_device_t** out_device) {
  fake_device_t* fake = state;
  (void)sink;
  *out_device = (tenon_device_t*)(void*)fake;
  return index == 0 ? fake->failure : TENON_ERROR_NOT_FOUND;
}
static void close_fake(tenon_device_t* device) {
  (void)device;
}
static const char* fingerprint(tenon_device_t* device) {
  (void)device;
  return "a fake";
}
static int32_t has(tenon_device_t* device, const char* name) {
  (void)device;
  return strcmp(name, "wings") == 0 ? 1 : 0;
}
static tenon_status_t allocate(tenon_device_t* device, tenon_stream_t* stream, size_t size_bytes,
                               void** out_data) {
  (void)stream;
  fake_of(device)->allocated += (uint32_t)size_bytes;
  *out_data = fake_of(device)->bytes;
  return fake_of(device)->failure;
}
static void free_block(tenon_device_t* device, tenon_stream_t* stream, void* data,
                       size_t size_bytes) {
  (void)stream;
  (void)data;
  fake_of(device)->freed += (uint32_t)size_bytes;
}
static tenon_status_t copy(tenon_device_t* device, tenon_stream_t* stream, int32_t direction,
                           void* target, const void* source, size_t size_bytes) {
  (void)stream;
  fake_of(device)->copied += direction == TENON_COPY_TO_DEVICE ? 1u : 100u;
  memcpy(target, source, size_bytes);
  return fake_of(device)->failure;
}
static tenon_status_t fill(tenon_device_t* device, tenon_stream_t* stream, void* target,
                           int32_t byte, size_t size_bytes) {
  (void)stream;
  fake_of(device)->filled += 1;
  memset(target, byte, size_bytes);
  return fake_of(device)->failure;
}
static tenon_status_t health(tenon_device_t* device, const tenon_sink_t* sink) {
  (void)sink;
  return fake_of(device)->is_lost ? TENON_ERROR_DEVICE : TENON_OK;
}

static const tenon_device_descriptor_t descriptor = {.size = sizeof descriptor,
                                                     .name = "fake",
                                                     .flags = TENON_DEVICE_INLINE_STREAM,
                                                     .open = open_fake,
                                                     .close = close_fake,
                                                     .fingerprint = fingerprint,
                                                     .has = has,
                                                     .allocate = allocate,
                                                     .free = free_block,
                                                     .copy = copy,
                                                     .fill = fill,
                                                     .health = health};

static tenon__device_source_t source_of(fake_device_t* fake, uint32_t index) {
  return (tenon__device_source_t){
      .descriptor = &descriptor, .state = fake, .plugin = "tests", .index = index};
}

TENON_TEST(a_device_that_cannot_be_opened_says_which) {
  fake_device_t fake = {.failure = TENON_OK};
  tenon__test_messages_t messages;
  const tenon__device_source_t source = source_of(&fake, 3);
  tenon__device_t device = {0};
  EXPECT_STATUS(tenon__device_open(&source, tenon__test_listen(&messages), &device),
                TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(messages.text, "device 'fake:3' (plugin tests)");
  tenon__device_close(&device); /* was never open */
}

TENON_TEST(blocks_come_from_where_the_memory_is) {
  fake_device_t fake = {.failure = TENON_OK};
  tenon__test_messages_t messages;
  const tenon__device_source_t source = source_of(&fake, 0);
  tenon__device_t device;
  void* block = NULL;
  char back[4] = "";
  EXPECT_STATUS(tenon__device_open(&source, tenon__test_listen(&messages), &device), TENON_OK);
  EXPECT_TEXT(device.fingerprint, "a fake");
  EXPECT(tenon__device_has(&device, "wings") && tenon__device_has(&device, NULL) &&
         !tenon__device_has(&device, "gills"));
  const tenon__memory_t memory = {.allocator = tenon__allocator_default(), .device = &device};
  EXPECT(!tenon__memory_is_host(&memory));
  EXPECT_STATUS(tenon__memory_allocate(&memory, 0, &block), TENON_OK);
  EXPECT_INT(fake.allocated, 1); /* never of nothing */
  tenon__memory_free(&memory, block, 0);
  tenon__memory_free(&memory, NULL, 7);
  EXPECT_INT(fake.freed, 1);
  EXPECT_STATUS(tenon__memory_write(&memory, block, "abc", 4), TENON_OK);
  EXPECT_STATUS(tenon__memory_read(&memory, back, block, 4), TENON_OK);
  EXPECT_TEXT(back, "abc");
  EXPECT_INT(fake.copied, 101);
  EXPECT_STATUS(tenon__memory_clear(&memory, block, 4), TENON_OK);
  EXPECT_INT(fake.bytes[0], 0);
  EXPECT_STATUS(tenon__memory_clear(&memory, block, 0), TENON_OK);
  EXPECT_INT(fake.filled, 1);
  tenon__device_close(&device);
}

/* Memory that is out is for the caller to tell, who knows what it was for. */
TENON_TEST(failures_have_words_but_for_memory) {
  fake_device_t fake = {.failure = TENON_OK};
  tenon__test_messages_t messages;
  const tenon__device_source_t source = source_of(&fake, 0);
  tenon__device_t device;
  void* block = NULL;
  EXPECT_STATUS(tenon__device_open(&source, tenon__test_listen(&messages), &device), TENON_OK);
  const tenon__memory_t memory = {.allocator = tenon__allocator_default(), .device = &device};
  fake.failure = TENON_ERROR_OUT_OF_MEMORY;
  EXPECT_STATUS(tenon__memory_allocate(&memory, 8, &block), TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_TEXT(messages.text, "");
  fake.failure = TENON_ERROR_DEVICE;
  EXPECT_STATUS(tenon__memory_allocate(&memory, 8, &block), TENON_ERROR_DEVICE);
  EXPECT_CONTAINS(messages.text, "device 'fake:0' (plugin tests): allocate");
  EXPECT_STATUS(tenon__memory_clear(&memory, fake.bytes, 8), TENON_ERROR_DEVICE);
  EXPECT_CONTAINS(messages.text, "(plugin tests): fill");
  EXPECT(tenon__device_is_well(&device));
  fake.is_lost = true;
  EXPECT(!tenon__device_is_well(&device));
  tenon__device_close(&device);
}

TENON_TEST(the_hosts_memory_needs_no_device) {
  const tenon__memory_t memory = tenon__memory_host(tenon__allocator_default());
  char* block = NULL;
  void* given = NULL;
  char back[3] = "";
  EXPECT(tenon__memory_is_host(&memory));
  EXPECT_STATUS(tenon__memory_allocate(&memory, 16, &given), TENON_OK);
  block = given;
  EXPECT(block[0] == 0 && block[15] == 0);
  EXPECT_STATUS(tenon__memory_write(&memory, block, "xy", 3), TENON_OK);
  EXPECT_STATUS(tenon__memory_read(&memory, back, block, 3), TENON_OK);
  EXPECT_TEXT(back, "xy");
  EXPECT_STATUS(tenon__memory_clear(&memory, block, 3), TENON_OK);
  EXPECT_INT(block[0], 0);
  tenon__memory_free(&memory, block, 16);
}
