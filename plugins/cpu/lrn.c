/*
 * A kernel for standard.lrn/1 of f32. It divides x by a power of the mean square of its neighbours
 * along the channel axis. It handles planes in parts that fit the first-level cache for all
 * channels.
 */
#include "closed.h"

enum { PART = 256 };

typedef struct lrn_t {
  tenon__cpu_closed_t closed;
  int64_t window;
  double alpha;
  double beta;
  double bias;
} lrn_t;

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  lrn_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->window = tenon__cpu_region_int(region, "window", 1);
  self->alpha = tenon__cpu_region_float(region, "alpha", 1e-4);
  self->beta = tenon__cpu_region_float(region, "beta", 0.75);
  self->bias = tenon__cpu_region_float(region, "bias", 1.0);
  *out_instance = self;
  return TENON_OK;
}

typedef struct job_t {
  const lrn_t* self;
  const float* x;
  float* y;
  int64_t channels;
  int64_t inner;
  int64_t parts; /* parts of a plane */
} job_t;

/* y = x / power(sums). Square roots compute the common exponents. */
static void divide(const lrn_t* self, const float* x, const float* sums, int64_t count, float* y) {
  const float scale = (float)(self->alpha / (double)self->window);
  const float bias = (float)self->bias;
  const float beta = (float)self->beta;
  float power[PART];
  for (int64_t k = 0; k < count; k++) {
    power[k] = bias + scale * sums[k];
  }
  if (self->beta == 0.75) {
    const tenon__cpu_unary_t root =
        self->closed.isa->elements->unary[TENON_OPCODE_SQRT][TENON_CPU_TYPE_F32];
    float roots[PART];
    root(roots, power, (size_t)count);
    root(power, roots, (size_t)count);
    for (int64_t k = 0; k < count; k++) {
      y[k] = x[k] / (roots[k] * power[k]);
    }
    return;
  }
  for (int64_t k = 0; k < count; k++) {
    y[k] = x[k] / (self->beta == 1.0   ? power[k]
                   : self->beta == 0.5 ? sqrtf(power[k])
                                       : powf(power[k], beta));
  }
}

static void add_squares(const float* x, int64_t count, float* inout_sums) {
  for (int64_t k = 0; k < count; k++) {
    inout_sums[k] += x[k] * x[k];
  }
}

static void run_parts(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const int64_t before = (job->self->window - 1) / 2;
  const int64_t behind = job->self->window / 2;
  for (int64_t part = begin; part < end; part++) {
    const int64_t first = part % job->parts * PART;
    const int64_t count = job->inner - first < PART ? job->inner - first : PART;
    const int64_t image = part / job->parts * job->channels;
    for (int64_t c = 0; c < job->channels; c++) {
      const int64_t low = c < before ? 0 : c - before;
      const int64_t high = c + behind < job->channels ? c + behind : job->channels - 1;
      float sums[PART] = {0};
      for (int64_t other = low; other <= high; other++) {
        add_squares(job->x + (image + other) * job->inner + first, count, sums);
      }
      const int64_t at = (image + c) * job->inner + first;
      divide(job->self, job->x + at, sums, count, job->y + at);
    }
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* x = tenon__cpu_closed_input(call, 0);
  job_t job = {call->instance,
               x->data,
               tenon__cpu_closed_output(call, 0)->data,
               x->dims[1],
               tenon__cpu_closed_count(x, 2, x->rank),
               0};
  job.parts = (job.inner + PART - 1) / PART;
  tenon__cpu_closed_divide(call, x->dims[0] * job.parts, (double)(PART * job.channels), run_parts,
                           &job);
  return TENON_OK;
}

static const char* const operators[] = {"standard.lrn/1", NULL};
static const char* const attributes[] = {"window", "alpha", "beta", "bias", NULL};
TENON_CPU_CLOSED(lrn, "lrn", operators, attributes, tenon__cpu_closed_match_f32, prepare, NULL,
                 enqueue);
