/*
 * Kernels for standard.dft/1 and standard.stft/1 of f32. They transform several lines at once. Two
 * real lines are the real and the imaginary part of one complex line.
 */
#include "closed.h"
#include "fourier.h"

enum { LANES = TENON_CPU_FOURIER_LANES };

typedef struct spectrum_t {
  tenon__cpu_closed_t closed;
  bool is_stft;
  bool inverse;
  bool onesided;
  int64_t fixed_axis;
  bool has_axis; /* the node has an axis input. If not, fixed_axis is the axis */
} spectrum_t;

/* Memory for the longest transform that the output's extents allow. */
typedef struct bound_t {
  int64_t longest;
  int64_t work_size;
  double* memory;
  double* work;              /* [thread] */
  tenon__cpu_fourier_t plan; /* plan of the last run */
} bound_t;

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_region_t region = {handle, table};
  for (uint32_t port = 1; port < 4; port++) {
    const tenon_value_info_t* value = tenon__cpu_region_input(region, port);
    if (value != NULL && value->kind != TENON_ARGUMENT_ABSENT &&
        value->dtype != TENON_DTYPE_INT64 && value->dtype != TENON_DTYPE_INT32 &&
        value->dtype != TENON_DTYPE_FLOAT32) {
      return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
    }
  }
  return tenon__cpu_closed_match_f32(state, handle, table, out_refusal);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  spectrum_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->is_stft = strstr(call->table->node_operator(call->region, 0), "stft") != NULL;
  self->inverse = tenon__cpu_region_int(region, "inverse", 0) != 0;
  self->onesided = tenon__cpu_region_int(region, "onesided", self->is_stft ? 1 : 0) != 0;
  self->fixed_axis = tenon__cpu_region_int(region, "fixed_axis", -2);
  const tenon_value_info_t* axis = tenon__cpu_region_input(region, 2);
  self->has_axis = self->closed.inputs[2] == TENON_NONE;
  if (!self->has_axis && !self->is_stft && axis->constant_data != NULL) {
    self->has_axis = true;
    self->fixed_axis = *(const int64_t*)axis->constant_data;
  }
  *out_instance = self;
  return TENON_OK;
}

static int64_t max_of(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* The result has as many elements as the transform, or the elements of half a spectrum. If the axis
 * is data, any axis may be the axis of the transform. */
static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const spectrum_t* self = instance;
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  const uint32_t threads = host->thread_count(binding);
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_bound = bound;
  const bool is_half = self->onesided && !self->inverse;
  const int64_t fixed = self->fixed_axis + (self->fixed_axis < 0 ? (int64_t)y->rank : 0);
  for (uint32_t axis = self->is_stft ? 2 : 0; axis + 1 < y->rank; axis++) {
    if (!self->is_stft && self->has_axis && axis != fixed) {
      continue;
    }
    bound->longest = max_of(bound->longest, is_half ? 2 * y->dims[axis] - 1 : y->dims[axis]);
  }
  const tenon_status_t status =
      tenon__cpu_closed_check_bound(binding, host, bound->longest, "elements of a line");
  if (status != TENON_OK || bound->longest < 1) {
    return status;
  }
  /* The transform of a line needs at most the smallest power of two that is at least twice its
   * length. Thus this memory is enough for all shorter lengths too. */
  int64_t most = 1;
  while (most < 2 * bound->longest) {
    most *= 2;
  }
  bound->work_size = 4 * most * LANES;
  bound->memory = host->allocate(binding, (size_t)(6 * most) * sizeof(double));
  bound->work =
      host->allocate(binding, (size_t)threads * (size_t)bound->work_size * sizeof(double));
  return bound->memory == NULL || bound->work == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* The transforms of one run. Lines are numbered by outer index, then by inner index. */
typedef struct job_t {
  const bound_t* bound;
  const float* x;
  const float* window; /* may be NULL */
  float* y;
  int64_t lines;
  int64_t inner;   /* adjacent lines in each outer iteration */
  int64_t parts;   /* of x: 1 real, 2 complex */
  int64_t y_parts; /* of y: 1 real, 2 complex */
  int64_t count;   /* elements of a line of x before the zero padding */
  int64_t results; /* elements of a line of y */
  int64_t x_step;  /* stride of elements in floats */
  int64_t x_outer; /* stride of outer lines in floats */
  int64_t y_step;
  int64_t y_outer;
  int64_t frames; /* stft: frames of a signal at a distance of `x_frame`. dft: 1 */
  int64_t x_frame;
  bool inverse;
  bool is_half; /* x is half of a conjugate-symmetric spectrum */
  bool pairs;   /* two real lines form one complex line */
} job_t;

static const float* line_of(const job_t* job, int64_t line) {
  const int64_t outer = line / job->inner;
  return job->x + outer / job->frames * job->x_outer + outer % job->frames * job->x_frame +
         line % job->inner * job->parts;
}

/* Loads one real or imaginary part into a lane and multiplies it by the window. Returns the largest
 * magnitude. It is not finite if an element is not finite. */
static double load_part(const job_t* job, const float* line, double* out) {
  const int64_t length = job->bound->plan.length;
  const int64_t count = job->count < length ? job->count : length;
  double most = 0;
  for (int64_t k = 0; k < count; k++) {
    const double x = (double)line[k * job->x_step] * (job->window == NULL ? 1 : job->window[k]);
    most = fabs(x) <= most || isnan(most) ? most : fabs(x);
    out[k * LANES] = x;
  }
  for (int64_t k = count; k < length; k++) {
    out[k * LANES] = 0;
  }
  return most;
}

static void clear_part(const job_t* job, double* out) {
  for (int64_t k = 0; k < job->bound->plan.length; k++) {
    out[k * LANES] = 0;
  }
}

/* Computes the second half of a conjugate-symmetric spectrum. Elements 0 and length / 2 are
 * real. */
static void complete(const job_t* job, double* re, double* im) {
  const int64_t length = job->bound->plan.length;
  im[0] = 0;
  if (length % 2 == 0) {
    im[length / 2 * LANES] = 0;
  }
  for (int64_t k = length / 2 + 1; k < length; k++) {
    re[k * LANES] = re[(length - k) * LANES];
    im[k * LANES] = -im[(length - k) * LANES];
  }
}

static double power_of_two(double x) {
  return ldexp(1.0, x > 0 ? ilogb(x) : 0);
}

/* The factors of two lines that share one transform. If their magnitudes differ, rounding errors of
 * one line could exceed the other line. Thus each line is divided by a power of two before the
 * transform, and its results are multiplied by the same factor. A line that is not finite is
 * replaced by zeros, and its factor is NaN. A line of zeros has factor 0. */
typedef struct factors_t {
  double line[2];
} factors_t;

static double balance(const job_t* job, double most, double* part) {
  if (!isfinite(most)) {
    clear_part(job, part);
    return NAN;
  }
  const double factor = power_of_two(most);
  const int64_t scaled = factor == 1.0 ? 0 : job->bound->plan.length;
  for (int64_t k = 0; k < scaled; k++) {
    part[k * LANES] /= factor;
  }
  return most > 0 ? factor : 0.0;
}

/* Loads one line or two. The inverse transform is the conjugate of the forward transform of the
 * conjugate. */
static factors_t load_line(const job_t* job, int64_t line, tenon__cpu_complex_lanes_t lanes,
                           int64_t lane) {
  double* re = lanes.re + lane;
  double* im = lanes.im + lane;
  factors_t factors = {{1, 1}};
  const double most = load_part(job, line_of(job, line), re);
  if (job->pairs && line + 1 < job->lines) {
    factors.line[0] = balance(job, most, re);
    factors.line[1] = balance(job, load_part(job, line_of(job, line + 1), im), im);
  } else if (job->parts == 2) {
    (void)load_part(job, line_of(job, line) + 1, im);
  } else {
    clear_part(job, im);
  }
  if (job->is_half) {
    complete(job, re, im);
  }
  const int64_t turned = job->inverse ? job->bound->plan.length : 0;
  for (int64_t k = 0; k < turned; k++) {
    im[k * LANES] = -im[k * LANES];
  }
  return factors;
}

static float* result_of(const job_t* job, int64_t line) {
  return job->y + line / job->inner * job->y_outer + line % job->inner * job->y_parts;
}

static void store_line(const job_t* job, int64_t line, tenon__cpu_complex_lanes_t lanes,
                       int64_t lane) {
  const double scale = job->inverse ? 1.0 / (double)job->bound->plan.length : 1.0;
  const double* re = lanes.re + lane;
  const double* im = lanes.im + lane;
  float* y = result_of(job, line);
  for (int64_t k = 0; k < job->results; k++) {
    y[k * job->y_step] = (float)(re[k * LANES] * scale);
    if (job->y_parts == 2) {
      y[k * job->y_step + 1] = (float)((job->inverse ? -im[k * LANES] : im[k * LANES]) * scale);
    }
  }
}

/* Stores the transforms of two real lines. They are the conjugate-symmetric and the antisymmetric
 * part of the complex line's transform. */
static void store_pair(const job_t* job, int64_t line, tenon__cpu_complex_lanes_t lanes,
                       int64_t lane, factors_t factors) {
  const int64_t length = job->bound->plan.length;
  const double* re = lanes.re + lane;
  const double* im = lanes.im + lane;
  float* a = result_of(job, line);
  float* b = line + 1 < job->lines ? result_of(job, line + 1) : NULL;
  for (int64_t k = 0; k < job->results; k++) {
    const int64_t mirrored = (k == 0 ? 0 : length - k) * LANES;
    const int64_t place = k * LANES;
    a[k * job->y_step] = (float)((re[place] + re[mirrored]) / 2 * factors.line[0]);
    a[k * job->y_step + 1] = (float)((im[place] - im[mirrored]) / 2 * factors.line[0]);
    if (b != NULL) {
      b[k * job->y_step] = (float)((im[place] + im[mirrored]) / 2 * factors.line[1]);
      b[k * job->y_step + 1] = (float)((re[mirrored] - re[place]) / 2 * factors.line[1]);
    }
  }
}

static void run_lines(void* user, int64_t begin, int64_t end, uint32_t thread) {
  const job_t* job = user;
  const tenon__cpu_fourier_t* plan = &job->bound->plan;
  const int64_t each = job->pairs ? 2 : 1;
  double* work = job->bound->work + thread * job->bound->work_size;
  factors_t factors[LANES];
  for (int64_t group = begin; group < end; group++) {
    const tenon__cpu_complex_lanes_t x = tenon__cpu_fourier_lanes(plan, work);
    for (int64_t lane = 0; lane < LANES; lane++) {
      const int64_t line = (group * LANES + lane) * each;
      factors[lane] = load_line(job, line < job->lines ? line : 0, x, lane);
    }
    const tenon__cpu_complex_lanes_t y = tenon__cpu_fourier_run(plan, work);
    for (int64_t lane = 0; lane < LANES; lane++) {
      const int64_t line = (group * LANES + lane) * each;
      if (line < job->lines && job->pairs) {
        store_pair(job, line, y, lane, factors[lane]);
      } else if (line < job->lines) {
        store_line(job, line, y, lane);
      }
    }
  }
}

static tenon_status_t run(const tenon_enqueue_t* call, const spectrum_t* self, int64_t length,
                          job_t* job) {
  bound_t* bound = call->bound;
  if (job->lines * job->results == 0) {
    return TENON_OK;
  }
  if (length < 1 || length > bound->longest) {
    return tenon__cpu_closed_fail(call, "a transform of length %lld does not fit the result",
                                  (long long)length);
  }
  if (bound->plan.length != length) {
    tenon__cpu_fourier_plan(length, bound->memory, bound->work, &bound->plan);
  }
  job->bound = bound;
  job->y = tenon__cpu_closed_output(call, 0)->data;
  job->x = tenon__cpu_closed_input(call, 0)->data;
  job->inverse = self->inverse;
  job->is_half = self->inverse && self->onesided;
  job->pairs = job->parts == 1 && !job->inverse && job->y_parts == 2;
  const int64_t group = (int64_t)LANES * (job->pairs ? 2 : 1);
  tenon__cpu_closed_divide(call, (job->lines + group - 1) / group, (double)bound->plan.inner * 60,
                           run_lines, job);
  return TENON_OK;
}

static tenon_status_t run_dft(const tenon_enqueue_t* call) {
  const spectrum_t* self = call->instance;
  const tenon_tensor_view_t* x = tenon__cpu_closed_input(call, 0);
  const tenon_tensor_view_t* y = tenon__cpu_closed_output(call, 0);
  const int64_t number = self->has_axis
                             ? self->fixed_axis
                             : tenon__cpu_closed_integer(tenon__cpu_closed_input(call, 2), 0);
  const int64_t axis = number < 0 ? number + x->rank : number;
  if (axis < 0 || axis + 1 >= x->rank) {
    return tenon__cpu_closed_fail(call, "axis %lld is out of range for rank %u", (long long)number,
                                  x->rank);
  }
  const uint32_t at = (uint32_t)axis;
  job_t job = {.parts = x->dims[x->rank - 1],
               .y_parts = y->dims[y->rank - 1],
               .count = x->dims[at],
               .results = y->dims[at],
               .x_step = tenon__cpu_closed_count(x, at + 1, x->rank),
               .y_step = tenon__cpu_closed_count(y, at + 1, y->rank),
               .frames = 1};
  job.inner = tenon__cpu_closed_count(x, at + 1, x->rank - 1);
  job.lines = tenon__cpu_closed_count(x, 0, at) * job.inner;
  job.x_outer = job.x_step * job.count;
  job.y_outer = job.y_step * job.results;
  const bool is_half = self->inverse && self->onesided;
  const int64_t whole = is_half ? 2 * (job.count - 1) : job.count;
  return run(call, self, tenon__cpu_closed_integer(tenon__cpu_closed_input(call, 1), whole), &job);
}

static tenon_status_t run_stft(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* signal = tenon__cpu_closed_input(call, 0);
  const tenon_tensor_view_t* window = tenon__cpu_closed_input(call, 2);
  const tenon_tensor_view_t* y = tenon__cpu_closed_output(call, 0);
  const int64_t length = tenon__cpu_closed_integer(tenon__cpu_closed_input(call, 3),
                                                   window == NULL ? 0 : window->dims[0]);
  const int64_t step = tenon__cpu_closed_integer(tenon__cpu_closed_input(call, 1), 1);
  job_t job = {.window = window == NULL ? NULL : window->data,
               .inner = 1,
               .parts = signal->rank > 2 ? signal->dims[2] : 1,
               .y_parts = 2,
               .count = length,
               .results = y->dims[2],
               .y_step = 2,
               .y_outer = y->dims[2] * 2,
               .frames = y->dims[1]};
  job.lines = y->dims[0] * y->dims[1];
  job.x_step = job.parts;
  job.x_outer = signal->dims[1] * job.parts;
  job.x_frame = step * job.parts;
  const int64_t last = (y->dims[1] - 1) * step + length;
  if (job.lines > 0 &&
      (step < 0 || last > signal->dims[1] || (window != NULL && window->dims[0] < length))) {
    return tenon__cpu_closed_fail(call, "frames of %lld samples do not fit the signal",
                                  (long long)length);
  }
  return run(call, call->instance, length, &job);
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const spectrum_t* self = call->instance;
  return self->is_stft ? run_stft(call) : run_dft(call);
}

static const char* const operators[] = {"standard.dft/1", "standard.stft/1", NULL};
static const char* const attributes[] = {"fixed_axis", "inverse", "onesided", NULL};
TENON_CPU_CLOSED(spectrum, "spectrum", operators, attributes, match, prepare, bind, enqueue);
