/* Fork and join without locks.
 *
 * Each thread has a slot: a range of indices and one word that says how many of them are left to
 * claim and in which run. Whoever lowers that word owns the index: the slot's thread first, and any
 * thread with nothing left to do. So a run never waits for a thread that has not begun; the caller
 * does the work of those that sleep or are late. What a slot holds changes only after all its
 * indices are finished, and a claim succeeds only before that, so what was read before a claim is
 * right.
 *
 * A worker without work spins for a while and then blocks on a word of its own. It says so first
 * and looks for work again before it blocks; the caller publishes work first and looks for sleepers
 * then. */
#include "core/base/thread_pool.h"

#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/c_locale.h"
#include "core/base/call.h"
#include "core/base/file.h"
#include "core/base/processor.h"
#include "core/base/status.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TENON_NO_FENCES 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define TENON_NO_FENCES 1
#endif

/* The thread sanitizer does not know fences. It gets the same order from the accesses themselves.
 */
#ifdef TENON_NO_FENCES
#define TENON_STORE_ORDER memory_order_seq_cst
#define TENON_LOAD_ORDER memory_order_seq_cst
#define TENON_FENCE() ((void)0)
#else
#define TENON_STORE_ORDER memory_order_release
#define TENON_LOAD_ORDER memory_order_acquire
#define TENON_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

enum {
  TENON_MOST_THREADS = 1024,
  TENON_SPINS_BETWEEN_CLOCKS = 64, /* looks for work before the clock is read */
  TENON_SPINS_BEFORE_YIELD = 4096  /* looks for the last index before others get the processor */
};

/* How long a worker spins before it blocks, in a run of many jobs and outside of one. */
static const double seconds_awake = 2e-3;
static const double seconds_resting = 5e-5;

typedef void (*body_t)(void* user, uint32_t index, uint32_t thread);

typedef struct slot_t {
  _Alignas(64) _Atomic uint64_t claim; /* run number << 32 | indices that nobody has claimed */
  _Atomic uint32_t finished;           /* indices done, in this run */
  _Atomic uint32_t end;                /* one past the last index */
  _Atomic(body_t) body;
  _Atomic(void*) user;
  _Atomic(const tenon__call_t*) call; /* the caller's */
  /* A second cache line, which changes seldom. */
  _Alignas(64) _Atomic uint32_t asleep;
  uint32_t thread; /* this slot's number */
  tenon__thread_pool_t* pool;
  pthread_t handle;
} slot_t;

struct tenon__thread_pool_t {
  tenon_allocator_t allocator;
  uint32_t thread_count;
  uint32_t started_count; /* workers, for a creation that fails half-way */
  bool crowded;           /* more threads than processors: spinning takes time from the others */
  _Atomic uint32_t awake;
  _Atomic uint32_t stop;
  uint64_t run_number;
  _Atomic uint32_t running; /* for the assertion that there is one caller */
  slot_t* slots;
};

static uint32_t unclaimed(uint64_t claim) {
  return (uint32_t)claim;
}

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Claims indices of `slot` until none is left. */
static void run_slot(slot_t* slot, uint32_t thread) {
  uint32_t done = 0;
  uint64_t claim = atomic_load_explicit(&slot->claim, memory_order_acquire);
  while (unclaimed(claim) > 0) {
    const body_t body = atomic_load_explicit(&slot->body, memory_order_relaxed);
    void* user = atomic_load_explicit(&slot->user, memory_order_relaxed);
    const uint32_t end = atomic_load_explicit(&slot->end, memory_order_relaxed);
    const uint32_t index = end - unclaimed(claim);
    if (atomic_compare_exchange_weak_explicit(&slot->claim, &claim, claim - 1, memory_order_acq_rel,
                                              memory_order_acquire)) {
      body(user, index, thread);
      ++done;
      claim = atomic_load_explicit(&slot->claim, memory_order_acquire);
    }
  }
  if (done > 0) {
    (void)atomic_fetch_add_explicit(&slot->finished, done, memory_order_release);
  }
}

static void run_other_slots(tenon__thread_pool_t* pool, uint32_t thread) {
  for (uint32_t i = 1; i < pool->thread_count; ++i) {
    run_slot(&pool->slots[(thread + i) % pool->thread_count], thread);
  }
}

static void futex_wait(_Atomic uint32_t* word, uint32_t while_value) {
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_value, NULL, NULL, 0);
}

/* Returns at once when the worker is not asleep, without a look at the kernel. */
static void wake_slot(slot_t* slot) {
  if (atomic_load_explicit(&slot->asleep, TENON_LOAD_ORDER) != 0 &&
      atomic_exchange_explicit(&slot->asleep, 0, memory_order_acq_rel) != 0) {
    (void)syscall(SYS_futex, &slot->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
}

/* Blocks until woken, unless something has happened since the decision to block, which `awake` led
 * to. */
static void block_worker(slot_t* slot, uint32_t awake) {
  tenon__thread_pool_t* pool = slot->pool;
  atomic_store_explicit(&slot->asleep, 1, TENON_STORE_ORDER);
  TENON_FENCE();
  const bool idle = unclaimed(atomic_load_explicit(&slot->claim, TENON_LOAD_ORDER)) == 0 &&
                    atomic_load_explicit(&pool->stop, TENON_LOAD_ORDER) == 0 &&
                    atomic_load_explicit(&pool->awake, TENON_LOAD_ORDER) == awake;
  if (!idle) {
    atomic_store_explicit(&slot->asleep, 0, memory_order_relaxed);
    return;
  }
  while (atomic_load_explicit(&slot->asleep, memory_order_acquire) != 0) {
    futex_wait(&slot->asleep, 1);
  }
}

/* How many indices wait in the worker's slot; 0 when the pool ends. */
static uint32_t wait_for_work(slot_t* slot) {
  tenon__thread_pool_t* pool = slot->pool;
  double idle_since = 0.0;
  for (uint32_t spins = 1;; ++spins) {
    const uint32_t count = unclaimed(atomic_load_explicit(&slot->claim, memory_order_acquire));
    if (count > 0 || atomic_load_explicit(&pool->stop, memory_order_acquire) != 0) {
      return count;
    }
    pause_briefly();
    if (spins % TENON_SPINS_BETWEEN_CLOCKS != 0) {
      continue;
    }
    const uint32_t awake = atomic_load_explicit(&pool->awake, memory_order_relaxed);
    const double patience = awake != 0 ? seconds_awake : seconds_resting;
    const double now = tenon__seconds();
    if (idle_since == 0.0) {
      idle_since = now;
    }
    if (pool->crowded || now - idle_since > patience) {
      block_worker(slot, awake);
      idle_since = 0.0;
    }
  }
}

static void* work(void* argument) {
  slot_t* slot = argument;
  (void)tenon__c_locale_enter(); /* for good: the thread is ours */
  for (;;) {
    const uint32_t count = wait_for_work(slot);
    if (count == 0) {
      return NULL;
    }
    /* Read after the claim's: of this run, or of a later one that has begun since. */
    const tenon__call_t* outer =
        tenon__call_enter(atomic_load_explicit(&slot->call, memory_order_relaxed));
    run_slot(slot, slot->thread);
    if (count > 1) { /* a single index each is the usual case, and nobody's left-over */
      run_other_slots(slot->pool, slot->thread);
    }
    tenon__call_leave(outer);
  }
}

/* Signals are for the program's own threads, but for those of a crash: where they are blocked, the
 * system ends the process without asking its handlers. */
static bool start_worker(slot_t* slot) {
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  sigset_t all;
  sigset_t before;
  (void)sigfillset(&all);
  for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); ++i) {
    (void)sigdelset(&all, crashes[i]);
  }
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&slot->handle, NULL, work, slot) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started) {
    (void)pthread_setname_np(slot->handle, "tenon-worker");
  }
  return started;
}

static void wake_all(tenon__thread_pool_t* pool) {
  for (uint32_t i = 1; i <= pool->started_count; ++i) {
    wake_slot(&pool->slots[i]);
  }
}

tenon_status_t tenon__thread_pool_create(tenon_allocator_t allocator, uint32_t thread_count,
                                         const tenon_sink_t* sink,
                                         tenon__thread_pool_t** out_pool) {
  const uint32_t processor_count = tenon__processor_count();
  if (thread_count > TENON_MOST_THREADS) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "%u threads wanted, a pool has at most %d", thread_count,
                       TENON_MOST_THREADS);
  }
  if (thread_count == 0) {
    thread_count = processor_count < TENON_MOST_THREADS ? processor_count : TENON_MOST_THREADS;
  }
  tenon__thread_pool_t* pool = tenon__allocate(allocator, 1, sizeof(*pool));
  slot_t* slots = tenon__allocate(allocator, thread_count, sizeof(*slots));
  if (pool == NULL || slots == NULL) {
    tenon__free(allocator, slots, thread_count * sizeof(*slots));
    tenon__free(allocator, pool, sizeof(*pool));
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  pool->allocator = allocator;
  pool->thread_count = thread_count;
  pool->crowded = thread_count > processor_count;
  pool->slots = slots;
  for (uint32_t i = 0; i < thread_count; ++i) {
    slots[i].thread = i;
    slots[i].pool = pool;
  }
  while (pool->started_count + 1 < thread_count) {
    if (!start_worker(&slots[pool->started_count + 1])) {
      const uint32_t started = pool->started_count;
      tenon__thread_pool_destroy(pool);
      return tenon__fail(sink, TENON_ERROR_OUT_OF_MEMORY,
                         "the system started %u of %u worker threads", started, thread_count - 1);
    }
    ++pool->started_count;
  }
  *out_pool = pool;
  return TENON_OK;
}

void tenon__thread_pool_destroy(tenon__thread_pool_t* pool) {
  if (pool == NULL) {
    return;
  }
  atomic_store_explicit(&pool->stop, 1, TENON_STORE_ORDER);
  TENON_FENCE();
  wake_all(pool);
  for (uint32_t i = 1; i <= pool->started_count; ++i) {
    (void)pthread_join(pool->slots[i].handle, NULL);
  }
  tenon__free(pool->allocator, pool->slots, pool->thread_count * sizeof(*pool->slots));
  tenon__free(pool->allocator, pool, sizeof(*pool));
}

uint32_t tenon__thread_pool_thread_count(const tenon__thread_pool_t* pool) {
  return pool->thread_count;
}

/* `extra` of the slots get one index more than `share`. */
static uint32_t share_of(uint32_t slot, uint32_t share, uint32_t extra) {
  return share + (slot < extra ? 1 : 0);
}

/* Work for the first `slot_count` slots; the numbers of indices differ by at most one. */
static void publish(tenon__thread_pool_t* pool, uint32_t count, uint32_t slot_count, body_t body,
                    void* user) {
  const uint32_t share = count / slot_count;
  const uint32_t extra = count % slot_count;
  const uint64_t run = ++pool->run_number << 32;
  uint32_t end = 0;
  for (uint32_t i = 0; i < slot_count; ++i) {
    slot_t* slot = &pool->slots[i];
    const uint32_t size = share_of(i, share, extra);
    end += size;
    atomic_store_explicit(&slot->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->end, end, memory_order_relaxed);
    atomic_store_explicit(&slot->body, body, memory_order_relaxed);
    atomic_store_explicit(&slot->user, user, memory_order_relaxed);
    atomic_store_explicit(&slot->call, tenon__calls.now, memory_order_relaxed);
    atomic_store_explicit(&slot->claim, run | size, TENON_STORE_ORDER);
  }
  TENON_FENCE();
  for (uint32_t i = 1; i < slot_count; ++i) {
    wake_slot(&pool->slots[i]);
  }
}

static void wait_for_slot(slot_t* slot, uint32_t size) {
  for (uint32_t spins = 0; atomic_load_explicit(&slot->finished, memory_order_acquire) != size;
       ++spins) {
    if (spins < TENON_SPINS_BEFORE_YIELD && !slot->pool->crowded) {
      pause_briefly();
    } else {
      (void)sched_yield();
    }
  }
}

void tenon__thread_pool_run(tenon__thread_pool_t* pool, uint32_t count,
                            void (*body)(void* user, uint32_t index, uint32_t thread), void* user) {
  const uint32_t slot_count = count < pool->thread_count ? count : pool->thread_count;
  if (slot_count <= 1) {
    for (uint32_t i = 0; i < count; ++i) {
      body(user, i, 0);
    }
    return;
  }
  const uint32_t running = atomic_exchange_explicit(&pool->running, 1, memory_order_relaxed);
  assert(running == 0);
  (void)running;
  publish(pool, count, slot_count, body, user);
  run_slot(&pool->slots[0], 0);
  run_other_slots(pool, 0);
  for (uint32_t i = 0; i < slot_count; ++i) {
    wait_for_slot(&pool->slots[i], share_of(i, count / slot_count, count % slot_count));
  }
  atomic_store_explicit(&pool->running, 0, memory_order_relaxed);
}

void tenon__thread_pool_wake(tenon__thread_pool_t* pool) {
  atomic_store_explicit(&pool->awake, 1, TENON_STORE_ORDER);
  TENON_FENCE();
  wake_all(pool);
}

void tenon__thread_pool_expect(tenon__thread_pool_t* pool) {
  atomic_store_explicit(&pool->awake, 1, memory_order_relaxed);
}

void tenon__thread_pool_rest(tenon__thread_pool_t* pool) {
  atomic_store_explicit(&pool->awake, 0, memory_order_relaxed);
}
