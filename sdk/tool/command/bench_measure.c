/* Runs of one context, one after the other. See bench.h. */
#include "command/bench.h"
#include "text/console.h"
#include "text/interrupt.h"

/* Shares of the seconds, on a device: runs by the host's clock without events, by the device's with
 * them, and in a row, likewise by the device's and by the host's. */
static const double host_share = 0.4;
static const double device_share = 0.4;
static const double row_share = 0.1;
static const double row_host_share = 0.1;
enum { ROW_RUNS = 32, LEAST_ROWS = 3 };

void bench_show_progress(const char* message, double done, double total) {
  tool_progress(message, (uint64_t)(done < total ? done * 1e3 : total * 1e3),
                (uint64_t)(total * 1e3));
}

/* ---- Runs ---- */

typedef tenon_status_t (*run_t)(bench_t* bench, tenon_context_t* context);

static tenon_status_t run_on_host(bench_t* bench, tenon_context_t* context) {
  const double begin = tool_seconds();
  const tenon_status_t status = tenon_context_run(context);
  if (status == TENON_OK) {
    tool_times_add(&bench->times, tool_seconds() - begin);
  }
  return status;
}

/* What the host waits for, and its own work in it. */
static tenon_status_t run_apart(bench_t* bench, tenon_context_t* context) {
  const double begin = tool_seconds();
  tenon_status_t status = tenon_context_enqueue(context);
  const double enqueued = tool_seconds();
  status = status == TENON_OK ? tenon_context_synchronize(context) : status;
  if (status == TENON_OK) {
    tool_times_add(&bench->times, tool_seconds() - begin);
    tool_times_add(&bench->device.enqueue, enqueued - begin);
  }
  return status;
}

static tenon_status_t run_by_events(bench_t* bench, tenon_context_t* context) {
  bench_device_t* device = &bench->device;
  device->times = TENON_OPTIONS(tenon_run_times_t);
  TOOL_TRY(tenon_context_run(context));
  TOOL_TRY(tenon_context_get_times(context, &device->times));
  tool_times_add(&device->seconds, device->times.seconds);
  tool_times_add(&device->transfer_in, device->times.transfer_in_seconds);
  tool_times_add(&device->transfer_out, device->times.transfer_out_seconds);
  return TENON_OK;
}

static tenon_status_t run_row(bench_t* bench, tenon_context_t* context) {
  bench_device_t* device = &bench->device;
  tenon_run_times_t times = TENON_OPTIONS(tenon_run_times_t);
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < ROW_RUNS && status == TENON_OK; ++k) {
    status = tenon_context_enqueue(context);
  }
  status = status == TENON_OK ? tenon_context_synchronize(context) : status;
  status = status == TENON_OK ? tenon_context_get_times(context, &times) : status;
  device->row_runs = times.run_count == ROW_RUNS ? ROW_RUNS : 0;
  if (status == TENON_OK && device->row_runs > 0) {
    tool_times_add(&device->row, times.seconds / ROW_RUNS);
  }
  return status;
}

/* The host's own work for each of them, without events. */
static tenon_status_t run_row_apart(bench_t* bench, tenon_context_t* context) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < ROW_RUNS && status == TENON_OK; ++k) {
    const double begin = tool_seconds();
    status = tenon_context_enqueue(context);
    tool_times_add(&bench->device.row_enqueue, tool_seconds() - begin);
  }
  const tenon_status_t ended = tenon_context_synchronize(context);
  return status == TENON_OK ? ended : status;
}

/* ---- For so long ---- */

static tenon_status_t repeat(bench_t* bench, const char* message, double seconds, uint32_t least,
                             run_t run, tenon_context_t* context) {
  const bool shown = tool_progress_is_shown();
  const double begin = tool_seconds();
  double now = begin;
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; status == TENON_OK && (k < least || now - begin < seconds); ++k) {
    status = tool_interrupted() ? TENON_ERROR_CANCELLED : run(bench, context);
    now = tool_seconds();
    if (shown) {
      bench_show_progress(message, now - begin, seconds);
    }
  }
  return status;
}

static tenon_status_t measure_device(bench_t* bench, tenon_context_t* context) {
  tenon_status_t status = tenon_context_set_timing(context, 1);
  if (status == TENON_OK) {
    status = repeat(bench, "measuring on the device", bench->seconds * device_share,
                    bench->iterations, run_by_events, context);
  }
  if (status == TENON_OK) {
    status = tenon_context_set_timing(context, 2); /* no events within a row */
  }
  if (status == TENON_OK) {
    status = run_row(bench, context);
  }
  if (status == TENON_OK && bench->device.row_runs > 0) {
    status = repeat(bench, "measuring runs in a row", bench->seconds * row_share, LEAST_ROWS,
                    run_row, context);
  }
  const tenon_status_t ended = tenon_context_set_timing(context, 0);
  status = status == TENON_OK ? ended : status;
  return status == TENON_OK && bench->device.row_runs > 0
             ? repeat(bench, "measuring the host", bench->seconds * row_host_share, LEAST_ROWS,
                      run_row_apart, context)
             : status;
}

static void sort_all(bench_t* bench) {
  bench_device_t* device = &bench->device;
  tool_times_sort(&bench->times);
  tool_times_sort(&device->seconds);
  tool_times_sort(&device->enqueue);
  tool_times_sort(&device->transfer_in);
  tool_times_sort(&device->transfer_out);
  tool_times_sort(&device->row);
  tool_times_sort(&device->row_enqueue);
}

tenon_status_t bench_measure(bench_t* bench, tool_execution_t* execution) {
  const bool on_device = bench->device.name != NULL;
  tool_load_t before;
  tool_load_t after;
  tool_load_read(&before);
  const double begin = tool_seconds();
  tenon_status_t status =
      repeat(bench, "measuring", bench->seconds * (on_device ? host_share : 1), bench->iterations,
             on_device ? run_apart : run_on_host, execution->context);
  bench->elapsed_seconds = tool_seconds() - begin;
  if (status == TENON_OK && on_device) {
    status = measure_device(bench, execution->context);
  }
  tool_load_read(&after);
  tool_progress_end();
  tool_busy_find(&before, &after, execution->thread_count, &bench->busy);
  sort_all(bench);
  return status;
}
