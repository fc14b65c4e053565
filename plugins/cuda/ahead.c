/*
 * What is compiled before it is asked for: texts in a queue, and threads that take the first of it.
 * Whoever wants a text takes its code, waits for the thread that has it, or takes it from the
 * queue to compile it itself. A text that cannot be compiled is forgotten: whoever asks for it
 * compiles it again, and is told. Threads begin when there is something to do, and stay until the
 * device is closed.
 *
 * The first compiles here, the others have a helper do it, four of them the same: NVRTC reads one
 * text at a time in a process, which on a machine with 16 processors is the bound (34 ms a text
 * with 8 threads or with 24, 10 with four processes of 6 threads each). Where no helper can be
 * started, or one goes, all compile here.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"

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

typedef struct worker_t {
  tenon__cuda_ahead_t* ahead;
  int socket; /* to a helper; below 0: none */
} worker_t;

struct tenon__cuda_ahead_t {
  tenon_device_t* device;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t changed;
  job_t* jobs; /* in the order in which they came */
  pthread_t threads[THREADS];
  worker_t workers[THREADS];
  int sockets[TENON_CUDA_HELPER_SOCKETS]; /* of the last helper, for the next threads */
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

static void close_socket(int socket) {
  if (socket >= 0) {
    (void)close(socket);
  }
}

/* The job's code, or none. */
static void compile(worker_t* worker, job_t* job) {
  const tenon_device_t* device = worker->ahead->device;
  if (worker->socket >= 0 &&
      tenon__cuda_helper_compile(device->state, worker->socket, job->text.data,
                                 device->architecture, &job->code, &job->code_size)) {
    return;
  }
  close_socket(worker->socket); /* the helper is gone */
  worker->socket = -1;
  if (tenon__cuda_compile(device->state, job->text.data, device->architecture, NULL, &job->code,
                          &job->code_size) != TENON_OK) {
    job->code = NULL;
  }
}

static void* work(void* user) {
  worker_t* worker = user;
  tenon__cuda_ahead_t* ahead = worker->ahead;
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
    compile(worker, job);
    (void)pthread_mutex_lock(&ahead->lock);
    job->state = JOB_DONE;
    drop_oldest(ahead);
    (void)pthread_cond_broadcast(&ahead->changed);
  }
  (void)pthread_mutex_unlock(&ahead->lock);
  return NULL;
}

/* Under the lock: for thread `number`. */
static int take_socket(tenon__cuda_ahead_t* ahead, uint32_t number) {
  if (number == 0) {
    return -1;
  }
  const uint32_t place = (number - 1) % TENON_CUDA_HELPER_SOCKETS;
  const char* library = tenon__cuda_compiler_library(ahead->device->state);
  if (place == 0 && (library == NULL || !tenon__cuda_helper_start(library, ahead->sockets))) {
    for (uint32_t k = 0; k < TENON_CUDA_HELPER_SOCKETS; k++) {
      ahead->sockets[k] = -1;
    }
  }
  const int socket = ahead->sockets[place];
  ahead->sockets[place] = -1;
  return socket;
}

/* Under the lock: one more where all have something to do; one processor is left to who asks. */
static void add_thread(tenon__cuda_ahead_t* ahead) {
  const long most = sysconf(_SC_NPROCESSORS_ONLN) - 1;
  const uint32_t number = ahead->thread_count;
  if (ahead->idle_count > 0 || number == THREADS || (long)number >= most) {
    return;
  }
  worker_t* worker = &ahead->workers[number];
  *worker = (worker_t){ahead, take_socket(ahead, number)};
  if (pthread_create(&ahead->threads[number], NULL, work, worker) == 0) {
    ahead->thread_count++;
  } else {
    close_socket(worker->socket);
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
      for (uint32_t k = 0; k < TENON_CUDA_HELPER_SOCKETS; k++) {
        ahead->sockets[k] = -1;
      }
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
    close_socket(ahead->workers[k].socket);
  }
  for (uint32_t k = 0; k < TENON_CUDA_HELPER_SOCKETS; k++) {
    close_socket(ahead->sockets[k]);
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
