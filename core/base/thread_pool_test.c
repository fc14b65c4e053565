#include "core/base/thread_pool.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/processor.h"
#include "core/base/test.h"

enum { MOST_INDICES = 4096, MOST_THREADS = 16 };

typedef struct tally_t {
  uint32_t thread_count;
  atomic_uint runs[MOST_INDICES];
  atomic_uint wrong_threads;
} tally_t;

static void count_index(void* user, uint32_t index, uint32_t thread) {
  tally_t* tally = user;
  (void)atomic_fetch_add_explicit(&tally->runs[index], 1, memory_order_relaxed);
  if (thread >= tally->thread_count) {
    (void)atomic_fetch_add_explicit(&tally->wrong_threads, 1, memory_order_relaxed);
  }
}

static tenon__thread_pool_t* create(uint32_t thread_count) {
  tenon__thread_pool_t* pool = NULL;
  EXPECT_STATUS(tenon__thread_pool_create(tenon__allocator_default(), thread_count, NULL, &pool),
                TENON_OK);
  return pool;
}

TENON_TEST(every_index_runs_once) {
  static tally_t tally;
  static const uint32_t thread_counts[] = {1, 2, 3, 4, 7, 16};
  for (size_t t = 0; t < sizeof(thread_counts) / sizeof(thread_counts[0]); ++t) {
    tenon__thread_pool_t* pool = create(thread_counts[t]);
    REQUIRE(pool != NULL);
    tally.thread_count = thread_counts[t];
    EXPECT_INT(tenon__thread_pool_thread_count(pool), thread_counts[t]);
    for (uint32_t count = 0; count <= MOST_INDICES; count = count * 5 / 4 + 1) {
      memset(tally.runs, 0, sizeof(tally.runs));
      tenon__thread_pool_run(pool, count, count_index, &tally);
      for (uint32_t i = 0; i < MOST_INDICES; ++i) {
        EXPECT_INT(tally.runs[i], i < count ? 1 : 0);
      }
    }
    EXPECT_INT(tally.wrong_threads, 0);
    tenon__thread_pool_destroy(pool);
  }
}

/* Not atomic: the sanitizer sees it when a run does not order what it must. */
typedef struct plain_t {
  uint64_t values[64];
  uint64_t sums[MOST_THREADS * 16];
} plain_t;

static void add_plain(void* user, uint32_t index, uint32_t thread) {
  plain_t* plain = user;
  plain->values[index] += index + 1;
  plain->sums[(size_t)thread * 16] += index;
}

TENON_TEST(runs_are_ordered_one_after_another) {
  static plain_t plain;
  memset(&plain, 0, sizeof(plain));
  tenon__thread_pool_t* pool = create(4);
  REQUIRE(pool != NULL);
  const uint64_t run_count = 3000;
  tenon__thread_pool_wake(pool);
  for (uint64_t run = 1; run <= run_count; ++run) {
    tenon__thread_pool_run(pool, run % 2 == 0 ? 64 : 3, add_plain, &plain);
    if (run % 500 == 0) {
      tenon__thread_pool_rest(pool);
      (void)usleep(300); /* some fall asleep */
      tenon__thread_pool_wake(pool);
    }
  }
  tenon__thread_pool_rest(pool);
  tenon__thread_pool_destroy(pool);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 64; ++i) {
    EXPECT_INT(plain.values[i], (i + 1) * (i < 3 ? run_count : run_count / 2));
  }
  for (size_t i = 0; i < MOST_THREADS; ++i) {
    sum += plain.sums[i * 16];
  }
  EXPECT_INT(sum, run_count / 2 * (64 * 63 / 2) + run_count / 2 * 3);
}

static void wait_a_little(void* user, uint32_t index, uint32_t thread) {
  count_index(user, index, thread);
  if (index % 7 == 0) {
    (void)usleep(200);
  }
}

TENON_TEST(sleeping_workers_wake_up) {
  static tally_t tally;
  memset(&tally, 0, sizeof(tally));
  tally.thread_count = 3;
  tenon__thread_pool_t* pool = create(3);
  REQUIRE(pool != NULL);
  const uint32_t run_count = 60;
  for (uint32_t run = 0; run < run_count; ++run) {
    (void)usleep(run % 3 == 0 ? 1000 : 50);
    tenon__thread_pool_run(pool, 21, wait_a_little, &tally);
  }
  for (uint32_t i = 0; i < 21; ++i) {
    EXPECT_INT(tally.runs[i], run_count);
  }
  tenon__thread_pool_destroy(pool);
}

/* How often threads of this process went to sleep so far. */
static long count_sleeps(void) {
  struct rusage usage = {0};
  EXPECT_INT(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_nvcsw;
}

TENON_TEST(runs_without_jobs_let_workers_sleep) {
  enum { RUNS = 100, WORKERS = 3 };
  static tally_t tally;
  memset(&tally, 0, sizeof(tally));
  tally.thread_count = WORKERS + 1;
  tenon__thread_pool_t* pool = create(WORKERS + 1);
  REQUIRE(pool != NULL);
  (void)usleep(20000);
  const long before = count_sleeps();
  for (int run = 0; run < RUNS; ++run) {
    tenon__thread_pool_expect(pool);
    tenon__thread_pool_rest(pool);
    (void)usleep(200); /* the caller's own sleep */
  }
  EXPECT(count_sleeps() < before + (long)2 * RUNS);
  /* Who was not woken does its part all the same. */
  tenon__thread_pool_expect(pool);
  tenon__thread_pool_run(pool, 21, wait_a_little, &tally);
  tenon__thread_pool_rest(pool);
  for (uint32_t i = 0; i < 21; ++i) {
    EXPECT_INT(tally.runs[i], 1);
  }
  tenon__thread_pool_destroy(pool);
}

typedef struct meeting_t {
  atomic_uint arrived;
} meeting_t;

/* Ends only when both threads are in it. */
static void meet(void* user, uint32_t index, uint32_t thread) {
  (void)index;
  (void)thread;
  meeting_t* meeting = user;
  (void)atomic_fetch_add(&meeting->arrived, 1);
  while (atomic_load(&meeting->arrived) < 2) {
    (void)usleep(10);
  }
}

TENON_TEST(a_worker_takes_part_even_after_sleep) {
  tenon__thread_pool_t* pool = create(2);
  REQUIRE(pool != NULL);
  for (int i = 0; i < 50; ++i) {
    meeting_t meeting = {0};
    (void)usleep(i % 2 == 0 ? 500 : 0);
    tenon__thread_pool_run(pool, 2, meet, &meeting);
    EXPECT_INT(meeting.arrived, 2);
  }
  tenon__thread_pool_destroy(pool);
}

TENON_TEST(pools_come_and_go) {
  static tally_t tally;
  tally.thread_count = 4;
  tenon__thread_pool_destroy(NULL);
  for (int i = 0; i < 100; ++i) {
    tenon__thread_pool_t* pool = create(4);
    REQUIRE(pool != NULL);
    if (i % 3 == 0) {
      tenon__thread_pool_wake(pool);
    }
    if (i % 2 == 0) {
      tenon__thread_pool_run(pool, 5, count_index, &tally);
    }
    if (i % 5 == 0) {
      (void)usleep(200);
    }
    tenon__thread_pool_destroy(pool);
  }
  EXPECT_INT(tally.wrong_threads, 0);
}

TENON_TEST(takes_the_processors_it_may_use) {
  tenon__thread_pool_t* pool = create(0);
  REQUIRE(pool != NULL);
  EXPECT_INT(tenon__thread_pool_thread_count(pool), tenon__processor_count());
  tenon__thread_pool_destroy(pool);
}

TENON_TEST(refuses_a_senseless_number_of_threads) {
  static tenon__test_messages_t messages;
  tenon__thread_pool_t* pool = NULL;
  EXPECT_STATUS(tenon__thread_pool_create(tenon__allocator_default(), 1u << 30,
                                          tenon__test_listen(&messages), &pool),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT(pool == NULL);
  EXPECT_CONTAINS(messages.text, "1073741824");
}

static bool create_and_run(tenon_allocator_t allocator, void* user) {
  (void)user;
  tenon__thread_pool_t* pool = NULL;
  const tenon_status_t status = tenon__thread_pool_create(allocator, 3, NULL, &pool);
  EXPECT(status == TENON_OK || status == TENON_ERROR_OUT_OF_MEMORY);
  tenon__thread_pool_destroy(pool);
  return status == TENON_OK;
}

TENON_TEST(survives_each_failed_allocation) {
  tenon__test_each_allocation(create_and_run, NULL);
}
