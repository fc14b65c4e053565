/*
 * What is compiled before it is asked for: texts in a queue, and threads that take the first of it.
 * Whoever wants a text takes its code, waits for the thread that has it, or takes it from the
 * queue to compile it itself. A text that cannot be compiled is forgotten: whoever asks for it
 * compiles it again, and is told. Threads begin when there is something to do, and stay until the
 * device is closed.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"

/* Code that nobody came for: of tactics that were not tried after all. */
enum { THREADS = 24, KEPT_CODE = 1024 };

typedef enum job_state_t { JOB_WAITS, JOB_RUNS, JOB_DONE } job_state_t;

typedef struct job_t {
  struct job_t* next;
  job_state_t state;
  char key[TENON_CUDA_KEY];
  tenon__cuda_text_t text;
  void* code; /* NULL: it cannot be compiled */
  size_t code_size;
} job_t;

struct tenon__cuda_ahead_t {
  tenon_device_t* device;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t changed;
  job_t* jobs; /* in the order in which they came */
  pthread_t threads[THREADS];
  uint32_t thread_count;
  uint32_t idle_count;
  bool is_closing;
};

static void free_job(const tenon_device_t* device, job_t* job) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  if (job == NULL) {
    return;
  }
  tenon__cuda_text_free(&job->text);
  if (job->code != NULL) {
    (void)allocator->resize(allocator->user, job->code, job->code_size, 0);
  }
  (void)allocator->resize(allocator->user, job, sizeof(*job), 0);
}

/* Under the lock. */
static job_t** find_job(tenon__cuda_ahead_t* ahead, const char* key) {
  job_t** at = &ahead->jobs;
  while (*at != NULL && strcmp((*at)->key, key) != 0) {
    at = &(*at)->next;
  }
  return at;
}
static job_t* first_waiting(tenon__cuda_ahead_t* ahead) {
  job_t* job = ahead->jobs;
  while (job != NULL && job->state != JOB_WAITS) {
    job = job->next;
  }
  return job;
}
static void drop_oldest(tenon__cuda_ahead_t* ahead) {
  uint32_t done = 0;
  job_t** oldest = NULL;
  for (job_t** at = &ahead->jobs; *at != NULL; at = &(*at)->next) {
    if ((*at)->state == JOB_DONE) {
      oldest = oldest == NULL ? at : oldest;
      done++;
    }
  }
  if (done > KEPT_CODE) {
    job_t* job = *oldest;
    *oldest = job->next;
    free_job(ahead->device, job);
  }
}

/* ---- Threads ---- */

static void* work(void* user) {
  tenon__cuda_ahead_t* ahead = user;
  tenon_device_t* device = ahead->device;
  (void)pthread_mutex_lock(&ahead->lock);
  while (!ahead->is_closing) {
    job_t* job = first_waiting(ahead);
    if (job == NULL) {
      ahead->idle_count++;
      (void)pthread_cond_wait(&ahead->changed, &ahead->lock);
      ahead->idle_count--;
      continue;
    }
    job->state = JOB_RUNS;
    (void)pthread_mutex_unlock(&ahead->lock);
    if (tenon__cuda_compile(device->state, job->text.data, device->architecture, NULL, &job->code,
                            &job->code_size) != TENON_OK) {
      job->code = NULL;
    }
    (void)pthread_mutex_lock(&ahead->lock);
    job->state = JOB_DONE;
    drop_oldest(ahead);
    (void)pthread_cond_broadcast(&ahead->changed);
  }
  (void)pthread_mutex_unlock(&ahead->lock);
  return NULL;
}

/* Under the lock: one more where all have something to do; one processor is left to who asks. */
static void add_thread(tenon__cuda_ahead_t* ahead) {
  const long most = sysconf(_SC_NPROCESSORS_ONLN) - 1;
  if (ahead->idle_count == 0 && ahead->thread_count < THREADS && (long)ahead->thread_count < most &&
      pthread_create(&ahead->threads[ahead->thread_count], NULL, work, ahead) == 0) {
    ahead->thread_count++;
  }
}

/* ---- Asking ---- */

/* NULL: no memory. */
static tenon__cuda_ahead_t* ahead_of(tenon_device_t* device) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  (void)pthread_mutex_lock(&device->lock);
  if (device->ahead == NULL) {
    tenon__cuda_ahead_t* ahead = allocator->resize(allocator->user, NULL, 0, sizeof(*ahead));
    if (ahead != NULL) {
      memset(ahead, 0, sizeof(*ahead));
      ahead->device = device;
      (void)pthread_mutex_init(&ahead->lock, NULL);
      (void)pthread_cond_init(&ahead->changed, NULL);
    }
    device->ahead = ahead;
  }
  tenon__cuda_ahead_t* ahead = device->ahead;
  (void)pthread_mutex_unlock(&device->lock);
  return ahead;
}

static job_t* make_job(const tenon_device_t* device, const char* key,
                       tenon__cuda_text_t* adopt_text) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  job_t* job = allocator->resize(allocator->user, NULL, 0, sizeof(*job));
  if (job == NULL) {
    tenon__cuda_text_free(adopt_text);
    return NULL;
  }
  memset(job, 0, sizeof(*job));
  (void)snprintf(job->key, sizeof(job->key), "%s", key);
  job->text = *adopt_text;
  return job;
}

void tenon__cuda_ahead_begin(tenon_device_t* device, const char* key,
                             tenon__cuda_text_t* adopt_text) {
  tenon__cuda_ahead_t* ahead = ahead_of(device);
  job_t* job = make_job(device, key, adopt_text);
  if (ahead == NULL || job == NULL) {
    free_job(device, job);
    return;
  }
  (void)pthread_mutex_lock(&ahead->lock);
  job_t** at = find_job(ahead, key);
  if (*at == NULL) {
    *at = job;
    job = NULL;
    add_thread(ahead);
    (void)pthread_cond_signal(&ahead->changed);
  }
  (void)pthread_mutex_unlock(&ahead->lock);
  free_job(device, job);
}

bool tenon__cuda_ahead_take(tenon_device_t* device, const char* key, void** out_code,
                            size_t* out_size) {
  (void)pthread_mutex_lock(&device->lock);
  tenon__cuda_ahead_t* ahead = device->ahead;
  (void)pthread_mutex_unlock(&device->lock);
  if (ahead == NULL) {
    return false;
  }
  (void)pthread_mutex_lock(&ahead->lock);
  job_t** at = find_job(ahead, key);
  while (*at != NULL && (*at)->state == JOB_RUNS) {
    (void)pthread_cond_wait(&ahead->changed, &ahead->lock);
    at = find_job(ahead, key);
  }
  job_t* job = *at;
  if (job != NULL) {
    *at = job->next;
  }
  (void)pthread_mutex_unlock(&ahead->lock);
  if (job == NULL) {
    return false;
  }
  *out_code = job->code;
  *out_size = job->code_size;
  job->code = NULL;
  free_job(device, job);
  return *out_code != NULL;
}

void tenon__cuda_ahead_close(tenon_device_t* device) {
  tenon__cuda_ahead_t* ahead = device->ahead;
  if (ahead == NULL) {
    return;
  }
  (void)pthread_mutex_lock(&ahead->lock);
  ahead->is_closing = true;
  (void)pthread_cond_broadcast(&ahead->changed);
  (void)pthread_mutex_unlock(&ahead->lock);
  for (uint32_t k = 0; k < ahead->thread_count; k++) {
    (void)pthread_join(ahead->threads[k], NULL);
  }
  while (ahead->jobs != NULL) {
    job_t* job = ahead->jobs;
    ahead->jobs = job->next;
    free_job(device, job);
  }
  (void)pthread_cond_destroy(&ahead->changed);
  (void)pthread_mutex_destroy(&ahead->lock);
  (void)device->state->allocator.resize(device->state->allocator.user, ahead, sizeof(*ahead), 0);
  device->ahead = NULL;
}
