/* Several contexts of one engine at once, each in a thread of its own. See bench.h. */
#include <pthread.h>
#include <time.h>

#include "command/bench.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

enum { WARM_UP_RUNS = 3 };

/* Opens when all are ready, and lets them go when all are done; `lock` is of all members. */
typedef struct gate_t {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint32_t ready;
  bool is_open;
  uint32_t done;
  bool is_over;
  bool is_void; /* nobody goes through: somebody failed */
  double begin; /* when it opened */
} gate_t;

typedef struct worker_t {
  pthread_t thread;
  const bench_t* bench;
  const tool_execution_t* execution;
  gate_t* gate;
  tenon_context_t* context; /* the execution's, or its own */
  bool is_own;
  tool_lending_t lending; /* of its own */
  tool_times_t times;
  double end;
  tenon_status_t status;
} worker_t;

uint32_t bench_share(const bench_t* bench, uint32_t thread_count) {
  const uint32_t share = bench->contexts == 0 ? thread_count : thread_count / bench->contexts;
  return share == 0 ? 1 : share;
}

/* ---- One of them ---- */

static tenon_status_t create(worker_t* worker) {
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  const tool_execution_t* execution = worker->execution;
  options.thread_count = execution->thread_count;
  tenon_status_t status = tenon_context_create(execution->engine, &options, &worker->context);
  worker->is_own = status == TENON_OK;
  if (status == TENON_OK) {
    status = tool_execution_set(execution, worker->context);
  }
  if (status == TENON_OK && worker->bench->device.name != NULL && !worker->bench->transfers) {
    status = tool_lending_begin(execution, worker->context, &worker->lending);
  }
  return status;
}

static tenon_status_t prepare(worker_t* worker) {
  tenon_status_t status = worker->context == NULL ? create(worker) : TENON_OK;
  for (uint32_t k = 0; k < WARM_UP_RUNS && status == TENON_OK; ++k) {
    status = tool_interrupted() ? TENON_ERROR_CANCELLED : tenon_context_run(worker->context);
  }
  return status;
}

/* False: it stays closed. */
static bool pass(gate_t* gate, bool good) {
  (void)pthread_mutex_lock(&gate->lock);
  gate->ready += 1;
  gate->is_void = gate->is_void || !good;
  (void)pthread_cond_broadcast(&gate->changed);
  while (!gate->is_open) {
    (void)pthread_cond_wait(&gate->changed, &gate->lock);
  }
  const bool passes = !gate->is_void;
  (void)pthread_mutex_unlock(&gate->lock);
  return passes;
}

/* Threads that are gone would not tell how long they waited for a processor. */
static void stay(gate_t* gate) {
  (void)pthread_mutex_lock(&gate->lock);
  gate->done += 1;
  (void)pthread_cond_broadcast(&gate->changed);
  while (!gate->is_over) {
    (void)pthread_cond_wait(&gate->changed, &gate->lock);
  }
  (void)pthread_mutex_unlock(&gate->lock);
}

static void measure(worker_t* worker) {
  const bench_t* bench = worker->bench;
  double now = worker->gate->begin;
  while (worker->status == TENON_OK &&
         (now - worker->gate->begin < bench->seconds || worker->times.count < bench->iterations)) {
    const double begin = tool_seconds();
    worker->status =
        tool_interrupted() ? TENON_ERROR_CANCELLED : tenon_context_run(worker->context);
    now = tool_seconds();
    if (worker->status == TENON_OK) {
      tool_times_add(&worker->times, now - begin);
    }
  }
  worker->end = now;
}

static void* work(void* user) {
  worker_t* worker = user;
  worker->status = prepare(worker);
  if (pass(worker->gate, worker->status == TENON_OK)) {
    measure(worker);
    stay(worker->gate);
  }
  tool_lending_end(&worker->lending);
  if (worker->is_own) {
    tenon_context_destroy(worker->context);
  }
  return NULL;
}

/* ---- All of them ---- */

/* Waits until all are there; then they run, or go. */
static void open_gate(gate_t* gate, uint32_t count, bool good) {
  (void)pthread_mutex_lock(&gate->lock);
  while (gate->ready < count) {
    (void)pthread_cond_wait(&gate->changed, &gate->lock);
  }
  gate->is_void = gate->is_void || !good;
  gate->begin = tool_seconds();
  gate->is_open = true;
  (void)pthread_cond_broadcast(&gate->changed);
  (void)pthread_mutex_unlock(&gate->lock);
}

/* Waits until all are done; what the machine did meanwhile is read while they are there. */
static void close_gate(gate_t* gate, uint32_t count, tool_load_t* out_load) {
  (void)pthread_mutex_lock(&gate->lock);
  while (!gate->is_void && gate->done < count) {
    (void)pthread_cond_wait(&gate->changed, &gate->lock);
  }
  tool_load_read(out_load);
  gate->is_over = true;
  (void)pthread_cond_broadcast(&gate->changed);
  (void)pthread_mutex_unlock(&gate->lock);
}

static void show(const bench_t* bench, const gate_t* gate) {
  const struct timespec pause = {.tv_nsec = 50000000};
  double now = tool_seconds();
  while (tool_progress_is_shown() && !gate->is_void && !tool_interrupted() &&
         now - gate->begin < bench->seconds) {
    bench_show_progress("measuring", now - gate->begin, bench->seconds);
    (void)nanosleep(&pause, NULL);
    now = tool_seconds();
  }
}

/* The first failure; an interrupt counts only where there is nothing else. */
static tenon_status_t gather(bench_t* bench, worker_t* workers, uint32_t count, double begin) {
  tenon_status_t status = TENON_OK;
  double end = begin;
  for (uint32_t k = 0; k < count; ++k) {
    worker_t* worker = &workers[k];
    for (size_t i = 0; i < worker->times.count; ++i) {
      tool_times_add(&bench->times, worker->times.seconds[i]);
    }
    end = worker->end > end ? worker->end : end;
    status = status == TENON_OK || (status == TENON_ERROR_CANCELLED && worker->status != TENON_OK)
                 ? worker->status
                 : status;
    tool_times_free(&worker->times);
  }
  bench->elapsed_seconds = end - begin;
  tool_times_sort(&bench->times);
  return status;
}

tenon_status_t bench_measure_contexts(bench_t* bench, const tool_execution_t* execution) {
  gate_t gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  worker_t* workers = tool_allocate(bench->contexts, sizeof(*workers));
  tool_load_t before;
  tool_load_t after;
  uint32_t count = 0;
  bool good = true;
  while (count < bench->contexts && good) {
    workers[count] = (worker_t){.bench = bench,
                                .execution = execution,
                                .gate = &gate,
                                .context = count == 0 ? execution->context : NULL};
    good = pthread_create(&workers[count].thread, NULL, work, &workers[count]) == 0;
    count += good ? 1 : 0;
  }
  open_gate(&gate, count, good);
  tool_load_read(&before);
  show(bench, &gate);
  close_gate(&gate, count, &after);
  for (uint32_t k = 0; k < count; ++k) {
    (void)pthread_join(workers[k].thread, NULL);
  }
  tool_progress_end();
  tool_busy_find(&before, &after, execution->thread_count * bench->contexts, &bench->busy);
  const tenon_status_t status = gather(bench, workers, count, gate.begin);
  tool_free(workers);
  return good ? status : tool_fail(TENON_ERROR_OUT_OF_MEMORY, "a thread cannot be made");
}
