/* A kernel for standard.rotary_embedding/1 of f32. It rotates pairs of features by the angle of
 * their position. */
#include "closed.h"

typedef struct rotary_t {
  tenon__cpu_closed_t closed;
  int64_t heads;
  int64_t turned;
  bool interleaved;
} rotary_t;

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  rotary_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->heads = tenon__cpu_region_int(region, "num_heads", 0);
  self->turned = tenon__cpu_region_int(region, "rotary_dim", 0);
  self->interleaved = tenon__cpu_region_int(region, "interleaved", 0) != 0;
  *out_instance = self;
  return TENON_OK;
}

typedef struct job_t {
  const float* x;
  float* y;
  const float* cosines;
  const float* sines;
  const int64_t* positions; /* NULL: each token has a separate row of angles */
  int64_t heads;
  int64_t time;
  int64_t size;
  int64_t half;
  bool apart; /* [batch, heads, time, size] instead of [batch, time, heads, size] */
  bool interleaved;
} job_t;

static int64_t token_of(const job_t* job, int64_t vector) {
  const int64_t batch = vector / (job->heads * job->time);
  return batch * job->time + (job->apart ? vector % job->time : vector / job->heads % job->time);
}

static void turn_halves(const float* restrict x, float* restrict y, const float* restrict c,
                        const float* restrict s, int64_t half) {
  for (int64_t k = 0; k < half; k++) {
    y[k] = c[k] * x[k] - s[k] * x[half + k];
  }
  for (int64_t k = 0; k < half; k++) {
    y[half + k] = s[k] * x[k] + c[k] * x[half + k];
  }
}

static void turn_pairs(const float* restrict x, float* restrict y, const float* restrict c,
                       const float* restrict s, int64_t half) {
  for (int64_t k = 0; k < half; k++) {
    const float a = x[2 * k];
    const float b = x[2 * k + 1];
    y[2 * k] = c[k] * a - s[k] * b;
    y[2 * k + 1] = s[k] * a + c[k] * b;
  }
}

static void run_vectors(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  for (int64_t vector = begin; vector < end; vector++) {
    const int64_t token = token_of(job, vector);
    const int64_t row = (job->positions == NULL ? token : job->positions[token]) * job->half;
    const float* x = job->x + vector * job->size;
    float* y = job->y + vector * job->size;
    (job->interleaved ? turn_pairs : turn_halves)(x, y, job->cosines + row, job->sines + row,
                                                  job->half);
    memcpy(y + 2 * job->half, x + 2 * job->half,
           (size_t)(job->size - 2 * job->half) * sizeof(float));
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const rotary_t* self = call->instance;
  const tenon_tensor_view_t* x = tenon__cpu_closed_input(call, 0);
  const tenon_tensor_view_t* cosines = tenon__cpu_closed_input(call, 1);
  const tenon_tensor_view_t* positions = tenon__cpu_closed_input(call, 3);
  job_t job = {.x = x->data,
               .y = tenon__cpu_closed_output(call, 0)->data,
               .cosines = cosines->data,
               .sines = tenon__cpu_closed_input(call, 2)->data,
               .positions = positions == NULL ? NULL : positions->data,
               .apart = x->rank == 4,
               .interleaved = self->interleaved};
  job.heads = job.apart ? x->dims[1] : self->heads;
  if (x->rank < 3 || x->rank > 4 || job.heads <= 0) {
    return tenon__cpu_closed_fail(call, "x of rank %u has %lld heads", x->rank,
                                  (long long)job.heads);
  }
  job.size = job.apart ? x->dims[3] : x->dims[2] / job.heads;
  job.time = job.apart ? x->dims[2] : x->dims[1];
  job.half = (self->turned == 0 ? job.size : self->turned) / 2;
  const int64_t rows =
      job.half == 0 ? INT64_MAX : tenon__cpu_closed_count(cosines, 0, cosines->rank) / job.half;
  const int64_t tokens = job.size > 0 ? x->dims[0] * job.time : 0;
  for (int64_t token = 0; token < tokens; token++) {
    const int64_t row = job.positions == NULL ? token : job.positions[token];
    if (row < 0 || row >= rows) {
      return tenon__cpu_closed_fail(call, "position %lld is out of range", (long long)row);
    }
  }
  if (job.size > 0) {
    tenon__cpu_closed_divide(call, tenon__cpu_closed_count(x, 0, x->rank) / job.size,
                             (double)job.size / 4, run_vectors, &job);
  }
  return TENON_OK;
}

static const char* const operators[] = {"standard.rotary_embedding/1", NULL};
static const char* const attributes[] = {"interleaved", "num_heads", "rotary_dim", NULL};
TENON_CPU_CLOSED(rotary, "rotary", operators, attributes, tenon__cpu_closed_match_f32, prepare,
                 NULL, enqueue);
