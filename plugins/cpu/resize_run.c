/* Running a bound resize: slices or, if there are few, rows of each pass are divided among threads. */
#include <string.h>

#include "resize.h"

enum {
  ROWS_A_SUM = 16,        /* taps that one call adds */
  CHUNK_ELEMENTS = 16384, /* of one thread's piece of work */
};

typedef struct job_t {
  const tenon__cpu_isa_t* isa;
  const tenon__cpu_resize_pass_t* pass;
  const float* x;
  float* y;
  int64_t rows; /* of the output: `outer`, or `outer` x axis_out */
  int64_t chunk;
} job_t;

/* The output row as a sum of rows of the input. A row that repeats is added once, with the sum of its
 * weights. */
static void blend_row(const job_t* job, int64_t row) {
  const tenon__cpu_resize_pass_t* pass = job->pass;
  const tenon__cpu_taps_t* taps = &pass->taps;
  const size_t inner = (size_t)pass->inner;
  const size_t at = (size_t)(row % pass->axis_out);
  const float* x = job->x + (size_t)(row / pass->axis_out * pass->axis_in) * inner;
  float* y = job->y + (size_t)row * inner;
  const float* rows[ROWS_A_SUM];
  float weights[ROWS_A_SUM];
  size_t used = 0;
  bool adds = false;
  for (size_t tap = 0; tap < taps->count; tap++) {
    const size_t place = tap * (size_t)taps->output + at;
    const float* source = x + (size_t)taps->index[place] * inner;
    if (used > 0 && rows[used - 1] == source) {
      weights[used - 1] += taps->weights[place];
      continue;
    }
    if (used == ROWS_A_SUM) {
      job->isa->elements->blend(y, rows, weights, used, adds, inner);
      adds = true;
      used = 0;
    }
    rows[used] = source;
    weights[used++] = taps->weights[place];
  }
  if (used == 1 && weights[0] == 1.0F && !adds) {
    memcpy(y, rows[0], inner * sizeof(float));
  } else {
    job->isa->elements->blend(y, rows, weights, used, adds, inner);
  }
}

static void run_chunk(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const tenon__cpu_resize_pass_t* pass = job->pass;
  const tenon__cpu_taps_t* taps = &pass->taps;
  const int64_t begin = (int64_t)index * job->chunk;
  const int64_t end = begin + job->chunk < job->rows ? begin + job->chunk : job->rows;
  const size_t in = (size_t)(pass->axis_in * pass->inner);
  const size_t out = (size_t)(pass->axis_out * pass->inner);
  const tenon__cpu_sums_t sums = {taps->index, taps->weights, taps->count, out};
  for (int64_t row = begin; row < end; row++) {
    if (pass->gathers) {
      job->isa->elements->gather_sum(job->y + (size_t)row * out, job->x + (size_t)row * in, in,
                                     &sums);
    } else {
      blend_row(job, row);
    }
  }
}

/* Divides the rows of so many slices into chunks. Returns how many. */
static int64_t begin_pass(const tenon__cpu_resize_pass_t* pass, int64_t slices, job_t* inout_job) {
  const int64_t length = pass->gathers ? pass->axis_out * pass->inner : pass->inner;
  inout_job->pass = pass;
  inout_job->rows = slices * pass->outer * (pass->gathers ? 1 : pass->axis_out);
  inout_job->chunk = length < CHUNK_ELEMENTS ? CHUNK_ELEMENTS / length : 1;
  if (inout_job->rows / inout_job->chunk >= UINT32_MAX) {
    inout_job->chunk = inout_job->rows / UINT32_MAX + 1;
  }
  return (inout_job->rows + inout_job->chunk - 1) / inout_job->chunk;
}

/* All passes over so many slices. `call`: divide each pass among its threads; NULL: this thread. */
static void run_passes(const tenon__cpu_resize_bound_t* bound, const tenon_enqueue_t* call,
                       int64_t slices, const float* x, float* y, float* scratch) {
  job_t job = {.isa = bound->resize->isa, .x = x};
  for (uint32_t k = 0; k < bound->pass_count; k++) {
    job.y = k + 1 == bound->pass_count
                ? y
                : scratch + (k % 2) * (size_t)(bound->slice_between * slices);
    const uint32_t chunks = (uint32_t)begin_pass(&bound->passes[k], slices, &job);
    if (call != NULL) {
      tenon__cpu_parallel(call, chunks, run_chunk, &job);
    } else {
      for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        run_chunk(&job, chunk, 0);
      }
    }
    job.x = job.y;
  }
}

/* ---- Nearest, both axes at once ---- */

typedef struct nearest_t {
  const tenon__cpu_resize_bound_t* bound;
  const float* x;
  float* y;
  int64_t chunk; /* rows of the output */
} nearest_t;

/* One row of the output from one row of the input. */
static void pick_row(const tenon__cpu_resize_bound_t* bound, const float* x, float* y) {
  const tenon__cpu_resize_pass_t* pass = &bound->passes[0];
  const size_t inner = (size_t)pass->inner;
  const tenon__cpu_sums_t picks = {pass->taps.index, NULL, 1, (size_t)pass->taps.output};
  if (pass->gathers) {
    bound->resize->isa->elements->gather_sum(y, x, (size_t)pass->axis_in * inner, &picks);
    return;
  }
  for (int64_t k = 0; k < pass->axis_out; k++) {
    memcpy(y + (size_t)k * inner, x + (size_t)pass->taps.index[k] * inner, inner * sizeof(float));
  }
}

/* A row with the source of the row before it is a copy of that row. */
static void run_nearest(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const nearest_t* all = user;
  const tenon__cpu_resize_pass_t* inner = &all->bound->passes[0];
  const tenon__cpu_resize_pass_t* outer = &all->bound->passes[1];
  const int64_t rows = all->bound->slices * outer->outer * outer->axis_out;
  const int64_t begin = (int64_t)index * all->chunk;
  const int64_t end = begin + all->chunk < rows ? begin + all->chunk : rows;
  const int64_t in = inner->axis_in * inner->inner;
  const int64_t out = inner->axis_out * inner->inner;
  const int64_t spread = outer->gathers ? outer->inner : 1; /* entries of a coordinate */
  int64_t at = begin % outer->axis_out;
  const float* x = all->x + begin / outer->axis_out * outer->axis_in * in;
  float* y = all->y + begin * out;
  const float* last = NULL;
  for (int64_t row = begin; row < end; row++, y += out) {
    const float* source = x + outer->taps.index[at * spread] / spread * in;
    if (source == last) {
      memcpy(y, y - out, (size_t)out * sizeof(float));
    } else {
      pick_row(all->bound, source, y);
    }
    last = source;
    if (++at == outer->axis_out) {
      at = 0;
      x += outer->axis_in * in;
    }
  }
}

/* Divides the rows of the output among threads. */
static void run_nearest_pair(const tenon__cpu_resize_bound_t* bound, const tenon_enqueue_t* call,
                             const float* x, float* y) {
  const int64_t rows = bound->slices * bound->passes[1].outer * bound->passes[1].axis_out;
  const int64_t length = bound->count / rows;
  const int64_t most = (int64_t)call->host->thread_count(call->run) * 4;
  nearest_t all = {bound, x, y, length < CHUNK_ELEMENTS ? CHUNK_ELEMENTS / length : 1};
  all.chunk = rows / all.chunk > most ? (rows + most - 1) / most : all.chunk;
  tenon__cpu_parallel(call, (uint32_t)((rows + all.chunk - 1) / all.chunk), run_nearest, &all);
}

typedef struct slices_t {
  const tenon__cpu_resize_bound_t* bound;
  const float* x;
  float* y;
  float* scratch;
  int64_t chunk;
} slices_t;

static void run_slices(void* user, uint32_t index, uint32_t thread) {
  const slices_t* all = user;
  const tenon__cpu_resize_bound_t* bound = all->bound;
  const int64_t begin = (int64_t)index * all->chunk;
  const int64_t end = begin + all->chunk < bound->slices ? begin + all->chunk : bound->slices;
  float* scratch =
      all->scratch == NULL ? NULL : all->scratch + thread * tenon__cpu_resize_scratch(bound, 1);
  for (int64_t slice = begin; slice < end; slice++) {
    run_passes(bound, NULL, 1, all->x + slice * bound->slice_in, all->y + slice * bound->slice_out,
               scratch);
  }
}

tenon_status_t tenon__cpu_resize_run(const tenon_enqueue_t* call) {
  const tenon__cpu_resize_bound_t* bound = call->bound;
  const float* x = call->inputs[0].tensor.data;
  float* y = call->outputs[0].tensor.data;
  float* scratch = bound->pass_count < 2        ? NULL
                   : bound->own_scratch != NULL ? bound->own_scratch
                                                : call->host->scratch(call->run);
  if (bound->count == 0) {
    return TENON_OK;
  }
  if (bound->pass_count == 0) {
    memcpy(y, x, (size_t)bound->count * sizeof(float));
  } else if (bound->nearest_pair) {
    run_nearest_pair(bound, call, x, y);
  } else if (bound->slices < call->host->thread_count(call->run) || bound->slices > UINT32_MAX) {
    run_passes(bound, call, bound->slices, x, y, scratch);
  } else {
    slices_t all = {bound, x, y, scratch, 1};
    const int64_t least = bound->slices / (4 * (int64_t)call->host->thread_count(call->run));
    all.chunk = bound->slice_out < CHUNK_ELEMENTS ? CHUNK_ELEMENTS / bound->slice_out : 1;
    all.chunk = all.chunk < least || least == 0 ? all.chunk : least;
    tenon__cpu_parallel(call, (uint32_t)((bound->slices + all.chunk - 1) / all.chunk), run_slices,
                        &all);
  }
  return TENON_OK;
}
