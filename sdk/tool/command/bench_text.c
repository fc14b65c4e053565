/* The measurement as lines for people. See bench.h. */
#include <math.h>

#include "command/bench.h"
#include "session/devices.h"
#include "text/console.h"
#include "text/memory.h"
#include "text/units.h"

/* "latency     median 1.2 ms, p10 1.1, ..., least 1.0, most 2.0 ms", and what `clock` adds. */
static void print_times(const bench_t* bench, const char* word, const tool_times_t* times,
                        const char* clock) {
  const double median = tool_times_percentile(times, 0.5);
  const tool_unit_t unit = tool_time_unit(median);
  const bench_percentiles_t list = bench_list_percentiles(bench);
  tool_say("%-11s median %s %s", word, tool_number(median * unit.factor).text, unit.name);
  for (size_t i = 0; i < list.count; ++i) {
    tool_say(
        ", p%s %s", list.items[i].label,
        tool_number(tool_times_percentile(times, list.items[i].value / 100) * unit.factor).text);
  }
  tool_free(list.items);
  tool_say(", least %s, most %s %s%s\n",
           tool_number(tool_times_percentile(times, 0) * unit.factor).text,
           tool_number(tool_times_percentile(times, 1) * unit.factor).text, unit.name, clock);
}

static void print_spread(const bench_t* bench) {
  const tool_busy_t* busy = &bench->busy;
  tool_say("spread      coefficient of variation %.2g; %llu preemptions",
           tool_times_variation(&bench->times), (unsigned long long)busy->preemptions);
  if (!isnan(busy->waited_share)) {
    tool_say(", waited for a processor %.1f %% of the time", busy->waited_share * 100);
  }
  if (!isnan(busy->others)) {
    tool_say(", others used %.1f of %u processors", busy->others, busy->processors);
  }
  tool_say("\n");
}

static void print_throughput(const bench_t* bench) {
  if (bench->contexts > 0) {
    tool_say("throughput  %.5g runs per second of %u contexts at once (%zu runs in %.2f s)\n",
             bench_throughput(bench), bench->contexts, bench->times.count, bench->elapsed_seconds);
  } else {
    tool_say("throughput  %.5g runs per second by the median (%zu runs in %.2f s)\n",
             bench_throughput(bench), bench->times.count, bench->elapsed_seconds);
  }
}

/* ---- A device with a clock and memory of its own ---- */

static void print_where(const bench_t* bench) {
  const bench_device_t* device = &bench->device;
  if (bench->transfers) {
    tool_say("tensors     inputs and outputs lie in the host's memory\n");
    return;
  }
  tool_say("tensors     inputs and outputs lie in the device's memory");
  if (device->lending.inputs_left + device->lending.outputs_left > 0) {
    tool_say(", but for %u inputs and %u outputs that cannot", device->lending.inputs_left,
             device->lending.outputs_left);
  }
  if (device->times.inputs_on_host + device->times.outputs_on_host > 0) {
    tool_say(
        "; the host reads %u of these inputs and makes or looks at %u of these outputs, which "
        "are copied in each run",
        device->times.inputs_on_host, device->times.outputs_on_host);
  }
  tool_say("\n");
}

static void print_row(const bench_device_t* device) {
  if (device->row_runs == 0) {
    tool_say(
        "in a row    one after the other: a run waits for the one before (the host waits %u "
        "times within one)\n",
        device->times.wait_count);
    return;
  }
  const double median = tool_times_percentile(&device->row, 0.5);
  const tool_unit_t unit = tool_time_unit(median);
  tool_say(
      "in a row    %s %s a run, %.5g a second: %u enqueued before one wait, by the device's "
      "events (median of %zu)\n",
      tool_number(median * unit.factor).text, unit.name, median > 0 ? 1 / median : 0,
      device->row_runs, device->row.count);
}

static void print_device_times(const bench_t* bench) {
  const bench_device_t* device = &bench->device;
  char* clock = tool_format(", by the events of %s", device->name);
  print_times(bench, "on device", &device->seconds, clock);
  if (bench->transfers) {
    print_times(bench, "copies in", &device->transfer_in, clock);
    print_times(bench, "copies out", &device->transfer_out, clock);
  }
  tool_free(clock);
  print_times(bench, "enqueueing", &device->enqueue, ", of the host, to ask for a run");
  if (device->row_runs > 0) {
    print_times(bench, "  in a row", &device->row_enqueue,
                ", of the host, to ask for one while others are under way");
  }
  print_row(device);
}

static void print_clocks(const bench_device_t* device) {
  if (device->before.clock_hertz <= 0 || device->after.clock_hertz <= 0) {
    tool_say("clocks      %s does not tell\n", device->name);
    return;
  }
  tool_say("clocks      %.0f MHz before, %.0f MHz after (%+.1f %%); memory %.0f MHz\n",
           device->before.clock_hertz / 1e6, device->after.clock_hertz / 1e6,
           bench_clock_change(device) * 100, device->after.memory_clock_hertz / 1e6);
}

/* ---- Memory ---- */

static void print_memory(const bench_t* bench, const tool_execution_t* execution,
                         const tenon_engine_info_t* info) {
  const tenon_device_reading_t* reading = &bench->device.after;
  const bool on_device = bench->device.name != NULL;
  tool_say("memory      %.1f MiB added to the process; ", tool_mib(bench->memory_bytes));
  if (on_device) {
    tool_say("on the device ");
  }
  tool_say("weights %.1f, activations %.1f (at least %.1f), workspace %.1f",
           tool_mib(on_device ? info->uploaded_bytes : info->weights_bytes),
           tool_mib(info->arena_bytes), tool_mib(info->peak_alive_bytes),
           tool_mib(bench_scratch_bytes(execution)));
  if (info->state_bytes > 0) {
    tool_say(", states %.1f", tool_mib(info->state_bytes));
  }
  tool_say("\n");
  if (on_device && reading->peak_bytes > 0) {
    tool_say("device      %.1f MiB taken at most, %.1f at the end; %.1f of its %.1f are free\n",
             tool_mib(reading->peak_bytes), tool_mib(reading->used_bytes),
             tool_mib(reading->free_bytes), tool_mib(reading->total_bytes));
  }
}

void bench_print_text(const bench_t* bench, const tool_execution_t* execution,
                      const tenon_engine_info_t* info) {
  const bool on_device = bench->device.name != NULL;
  const tool_unit_t first = tool_time_unit(bench->first_seconds);
  tool_say("%s: %u steps on %s, %u threads%s\n", bench->task.model,
           tenon_engine_step_count(execution->engine), tool_devices_used(execution->engine, info),
           execution->thread_count, bench->contexts > 0 ? " each" : "");
  print_times(bench, "latency", &bench->times, on_device ? ", by the host's clock" : "");
  if (on_device && bench->contexts == 0) {
    print_device_times(bench);
  }
  print_throughput(bench);
  print_spread(bench);
  if (on_device) {
    print_where(bench);
    print_clocks(&bench->device);
  }
  tool_say("building    %.3f s (cache: %s)\n", bench->file.build_seconds,
           tool_cache_use_text(bench->file.use));
  tool_say("loading     %.2f ms, first run %.4g %s\n", bench->load_seconds * 1e3,
           bench->first_seconds * first.factor, first.name);
  print_memory(bench, execution, info);
}
