/* Memory of the device, and what it does not forgive. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_world.h"

TENON_TEST(memory_is_written_and_read_by_copies_alone) {
  world_t w;
  REQUIRE(world_open(&w, 0));
  char* data = world_allocate(&w, 1000);
  EXPECT_INT((uintptr_t)data % 256, 0);
  EXPECT(w.far->owns(0, data) == 1 && w.far->owns(0, data + 999) == 1 && w.far->owns(0, &w) == 0);
  EXPECT_INT(world_byte(&w, data + 999), 0xDA);
  EXPECT_STATUS(world_write(&w, NULL, data + 10, "abc", 3), TENON_OK);
  EXPECT_STATUS(w.table->copy(w.device, NULL, TENON_COPY_WITHIN, data + 20, data + 10, 3),
                TENON_OK);
  EXPECT_STATUS(w.table->fill(w.device, NULL, data + 21, 'x', 1), TENON_OK);
  char text[4] = "";
  EXPECT_STATUS(world_read(&w, NULL, text, data + 20, 3), TENON_OK);
  EXPECT_TEXT(text, "axc");
  const far_counts_t counts = world_counts(&w);
  EXPECT_INT(counts.copied_bytes[TENON_COPY_TO_DEVICE], 3);
  EXPECT_INT(counts.copied_bytes[TENON_COPY_WITHIN], 3);
  EXPECT_INT(counts.copied_bytes[TENON_COPY_TO_HOST], 4);
  world_free(&w, data, 1000);
  world_close(&w);
}

TENON_TEST(what_is_freed_is_had_again) {
  world_t w;
  REQUIRE(world_open(&w, 0));
  world_set(&w, FAR_SETTING_MEMORY, 4096);
  void* none = NULL;
  EXPECT_STATUS(w.table->allocate(w.device, NULL, 4097, &none), TENON_ERROR_OUT_OF_MEMORY);
  char* blocks[16];
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 16; ++k) {
      blocks[k] = world_allocate(&w, 256);
    }
    EXPECT_STATUS(w.table->allocate(w.device, NULL, 1, &none), TENON_ERROR_OUT_OF_MEMORY);
    for (int k = 0; k < 16; ++k) {
      world_free(&w, blocks[k * 7 % 16], 256);
    }
  }
  char* whole = world_allocate(&w, 4096);
  EXPECT(whole == blocks[0]);
  EXPECT_INT(world_counts(&w).peak_bytes, 4096);
  world_free(&w, whole, 4096);
  char* nothing = world_allocate(&w, 0);
  EXPECT(nothing != NULL);
  world_free(&w, nothing, 0);
  world_free(&w, NULL, 0);
  world_close(&w);
}

/* Of a tolerant device: the status, and the newest words. */
static void expect_mistake(world_t* world, tenon_status_t status, const char* part) {
  char words[256];
  world->far->words(world->index, words, sizeof(words));
  EXPECT_STATUS(status, TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(words, part);
}

TENON_TEST(mistakes_have_words) {
  world_t w;
  REQUIRE(world_open(&w, 0));
  char words[256];
  char here[8] = "";
  char* data = world_allocate(&w, 100);
  char* other = world_allocate(&w, 100);
  world_set(&w, FAR_SETTING_TOLERANT, 1);
  expect_mistake(&w, world_write(&w, NULL, data + 95, here, 6), "more than was allocated there");
  expect_mistake(&w, world_write(&w, NULL, data + 110, here, 1), "more than was allocated there");
  expect_mistake(&w, world_write(&w, NULL, here + 1, here, 1), "its target");
  expect_mistake(&w, world_read(&w, NULL, here, here + 1, 1), "its source");
  expect_mistake(&w, world_write(&w, NULL, data, other, 1), "is in its memory");
  expect_mistake(&w, w.table->copy(w.device, NULL, 9, data, other, 1), "no direction 9");
  expect_mistake(&w, w.table->fill(w.device, NULL, here, 0, 1), "fill: ");
  EXPECT_INT(world_counts(&w).mistakes, 7);
  world_free(&w, data, 99);
  w.far->words(0, words, sizeof(words));
  EXPECT_CONTAINS(words, "something else was allocated (100 bytes)");
  world_free(&w, data + 1, 99);
  world_free(&w, data, 100);
  world_free(&w, data, 100);
  w.far->words(0, words, sizeof(words));
  EXPECT_CONTAINS(words, "nothing is allocated");
  world_free(&w, here, 8);
  EXPECT_INT(world_counts(&w).mistakes, 11);
  EXPECT_STATUS(world_write(&w, NULL, data, here, 1), TENON_ERROR_INVALID_ARGUMENT);
  w.far->words(0, words, sizeof(words));
  EXPECT_CONTAINS(words, "are not allocated");
  world_free(&w, other, 100);
  w.table->destroy_stream(w.device, w.stream);
  w.table->close(w.device);
  w.table->close(w.device);
  EXPECT_INT(world_counts(&w).mistakes, 13);
}

TENON_TEST(what_is_left_at_the_end_is_a_mistake) {
  world_t w;
  REQUIRE(world_open(&w, 1));
  char* data = world_allocate(&w, 100);
  world_set(&w, FAR_SETTING_TOLERANT, 1);
  tenon_device_t* again = NULL;
  EXPECT_STATUS(w.table->open(NULL, 1, NULL, &again), TENON_OK);
  EXPECT(again == w.device);
  EXPECT_INT(world_counts(&w).openings, 2);
  w.table->close(w.device);
  EXPECT_INT(world_counts(&w).mistakes, 0);
  w.table->close(w.device);
  char words[256];
  w.far->words(1, words, sizeof(words));
  EXPECT_CONTAINS(words, "closed with 1 allocations, 1 streams, 0 events");
  world_free(&w, data, 100);
  w.table->destroy_stream(w.device, w.stream);
}

/* ---- What ends a process, in one of its own ---- */

/* With core files off and without the sanitizers' words. */
static int signal_of(void (*act)(world_t* world), world_t* world) {
  (void)fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGABRT, SIG_DFL);
    (void)freopen("/dev/null", "w", stderr);
    act(world);
    _exit(0);
  }
  int status = 0;
  (void)waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static char* touched;

static void touch(world_t* world) {
  (void)world;
  *(volatile char*)touched = 1;
}

static void look(world_t* world) {
  (void)world;
  (void)*(volatile char*)touched;
}

static void free_twice(world_t* world) {
  world_free(world, touched, 64);
  world_free(world, touched, 64);
}

TENON_TEST(the_host_cannot_touch_it) {
  world_t w;
  REQUIRE(world_open(&w, 0));
  touched = world_allocate(&w, 64);
  EXPECT_INT(signal_of(touch, &w), SIGSEGV);
  EXPECT_INT(signal_of(look, &w), SIGSEGV);
  EXPECT_INT(signal_of(free_twice, &w), SIGABRT);
  world_free(&w, touched, 64);
  world_close(&w);
}

TENON_TEST(two_devices_are_apart) {
  world_t a;
  world_t b;
  REQUIRE(world_open(&a, 0) && world_open(&b, 1));
  EXPECT_INT(a.table->count(NULL, NULL), 2);
  tenon_device_t* none = NULL;
  EXPECT_STATUS(a.table->open(NULL, 2, NULL, &none), TENON_ERROR_INVALID_ARGUMENT);
  char* in_a = world_allocate(&a, 10);
  EXPECT(a.far->owns(0, in_a) == 1 && a.far->owns(1, in_a) == 0);
  EXPECT_INT(world_counts(&b).calls[FAR_CALL_ALLOCATE], 0);
  world_set(&b, FAR_SETTING_TOLERANT, 1);
  EXPECT_STATUS(world_write(&b, NULL, in_a, "x", 1), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(world_write(&b, a.stream, in_a, "x", 1), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_INT(world_counts(&b).mistakes, 2);
  EXPECT_INT(world_counts(&a).mistakes, 0);
  world_free(&a, in_a, 10);
  world_close(&a);
  world_close(&b);
}
