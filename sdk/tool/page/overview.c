/* See overview.h. */
#include "page/overview.h"

#include "page/advice.h"
#include "page/format.h"
#include "page/html.h"
#include "page/kinds.h"

enum { SLOWEST_MOST = 10, NAME_LIMIT = 34 };
/* Single steps that take less than this part of the time say little. */
static const double enough_share = 0.5;
/* A run that takes so many times as long as its steps was disturbed. */
static const double far_apart = 1.5;

/* ---- Figures of a whole run ---- */

static void write_time(FILE* file, const tool_facts_t* facts) {
  char texts[3][32];
  const tool_timing_t* timing = facts->timing;
  if (timing == NULL) {
    tool_format_time(facts->total_seconds, texts[0]);
    (void)fprintf(file,
                  "<div><b>%s</b><br><span>sum of the steps, as measured when it was built: "
                  "it was not run</span></div>\n",
                  texts[0]);
    return;
  }
  tool_format_time(timing->whole.median, texts[0]);
  tool_format_time(timing->whole.low, texts[1]);
  tool_format_time(timing->whole.high, texts[2]);
  (void)fprintf(file, "<div><b>%s</b> a run<br><span>median of %u; 10 %% below %s, 90 %% below %s",
                texts[0], timing->run_count, texts[1], texts[2]);
  if (timing->busy.is_busy) {
    (void)fputs(". <b>The machine was busy: ", file);
    tool_html_text(file, timing->busy.message, SIZE_MAX);
    (void)fputs(".</b>", file);
  }
  (void)fputs("</span></div>\n", file);
  tool_format_time(facts->total_seconds, texts[0]);
  (void)fprintf(file, "<div><b>%s</b> in steps<br><span>the sum of the steps' medians", texts[0]);
  if (timing->whole.median > far_apart * facts->total_seconds) {
    (void)fputs(
        ". <b>A run takes much longer: other programs, or copies and threads between the "
        "steps. The rates are those of the steps.</b>",
        file);
  }
  (void)fputs("</span></div>\n", file);
}

static void write_rate(FILE* file, double amount, double seconds, double peak, const char* unit,
                       const char* what) {
  char texts[3][32];
  if (amount <= 0 || seconds <= 0) {
    return;
  }
  tool_format_amount(amount, unit, texts[0]);
  tool_format_amount(amount / seconds, unit, texts[1]);
  (void)fprintf(file, "<div><b>%s/s</b>", texts[1]);
  if (peak > 0) {
    tool_format_amount(peak, unit, texts[2]);
    (void)fprintf(file, " of %s/s", texts[2]);
  }
  (void)fprintf(file, "<br><span>%s %s</span></div>\n", texts[0], what);
}

static void write_figures(FILE* file, const tool_facts_t* facts) {
  double operations = 0;
  double bytes = 0;
  uint32_t unknown = 0;
  for (uint32_t i = 0; i < facts->count; ++i) {
    const tool_fact_t* fact = &facts->steps[i];
    const bool counts = fact->info.depth == 0;
    operations += counts && fact->operations > 0 ? fact->operations : 0;
    bytes += counts ? fact->bytes : 0;
    unknown += counts && fact->operations < 0 ? 1 : 0;
  }
  (void)fputs("<div class=\"figures\">\n", file);
  write_time(file, facts);
  if (facts->timing != NULL) {
    write_rate(file, operations, facts->total_seconds, facts->peak.operations_per_second, "FLOP",
               unknown > 0 ? "of arithmetic, as far as steps say it" : "of arithmetic");
    write_rate(file, bytes, facts->total_seconds, facts->peak.bytes_per_second, "B",
               "read and written by the steps, partly in caches");
  }
  (void)fputs("</div>\n", file);
}

/* ---- The slowest ---- */

static void write_row(FILE* file, const tool_facts_t* facts, const tool_kind_t* kind,
                      double longest) {
  const tool_fact_t* sample = &facts->steps[kind->slowest];
  char text[32];
  (void)fprintf(file, "<tr><td><a href=\"#step%u\" title=\"", kind->slowest);
  tool_html_text(file, sample->info.nodes, 600);
  (void)fputs("\">", file);
  tool_html_tail(file, kind->name, NAME_LIMIT);
  (void)fputs("</a>", file);
  if (kind->count > 1) {
    (void)fprintf(file, " <span class=\"quiet\">&#215; %u</span>", kind->count);
  }
  tool_format_time(kind->seconds, text);
  (void)fprintf(
      file,
      "</td><td class=\"track\"><i style=\"width:%.1f%%\"></i></td>"
      "<td class=\"number\">%s</td><td class=\"number\">%.1f %%</td><td class=\"number\">",
      longest > 0 ? kind->seconds / longest * 100 : 0, text,
      facts->total_seconds > 0 ? kind->seconds / facts->total_seconds * 100 : 0);
  if (kind->operations > 0 && kind->seconds > 0) {
    tool_format_amount(kind->operations / kind->seconds, "", text);
    (void)fprintf(file, "%s", text);
  }
  (void)fputs("</td><td class=\"number\">", file);
  if (kind->bytes > 0 && kind->seconds > 0) {
    tool_format_amount(kind->bytes / kind->seconds, "", text);
    (void)fprintf(file, "%s", text);
  }
  (void)fputs("</td><td class=\"number\">", file);
  if (kind->floor_seconds > 0 && kind->seconds > 0) {
    const double reached = kind->floor_seconds / kind->seconds;
    (void)fprintf(file, "%.0f %% <span class=\"quiet\">%s</span>",
                  reached < 1 ? reached * 100 : 100, tool_fact_bound(facts, sample));
  }
  (void)fputs("</td></tr>\n", file);
}

/* The slowest steps, each as a kind of its own; returns how many. */
static uint32_t single_steps(const tool_facts_t* facts, tool_kind_t out_kinds[SLOWEST_MOST]) {
  uint32_t steps[SLOWEST_MOST];
  const uint32_t count = tool_facts_slowest(facts, SLOWEST_MOST, steps);
  for (uint32_t k = 0; k < count; ++k) {
    const tool_fact_t* fact = &facts->steps[steps[k]];
    out_kinds[k] = (tool_kind_t){.name = fact->info.name,
                                 .count = 1,
                                 .slowest = steps[k],
                                 .seconds = fact->seconds,
                                 .operations = fact->operations,
                                 .bytes = fact->bytes,
                                 .floor_seconds = fact->floor_seconds};
  }
  return count;
}

static double seconds_of(const tool_kind_t* kinds, uint32_t count) {
  double seconds = 0;
  for (uint32_t k = 0; k < count; ++k) {
    seconds += kinds[k].seconds;
  }
  return seconds;
}

/* Steps of the main graph: those of bodies are a part of these. */
static uint32_t count_main(const tool_facts_t* facts) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < facts->count; ++i) {
    count += facts->steps[i].info.depth == 0 ? 1 : 0;
  }
  return count;
}

/* The ten slowest steps; where these are a small part of a deep network, the ten slowest kinds. */
static void write_slowest(FILE* file, const tool_facts_t* facts) {
  tool_kind_t singles[SLOWEST_MOST];
  tool_kind_t* kinds = NULL;
  const uint32_t kind_count = tool_kinds_find(facts, &kinds);
  const uint32_t single_count = single_steps(facts, singles);
  const bool by_kind = seconds_of(singles, single_count) < enough_share * facts->total_seconds;
  const tool_kind_t* rows = by_kind ? kinds : singles;
  const uint32_t count = !by_kind                    ? single_count
                         : kind_count < SLOWEST_MOST ? kind_count
                                                     : SLOWEST_MOST;
  (void)fprintf(
      file,
      "<div><h2>What is slow <span class=\"quiet\">%u of %u %s, %.0f %% of the time"
      "</span></h2>\n<table class=\"slowest\"><tr><th>step</th><th></th>"
      "<th class=\"number\">time</th><th class=\"number\">of all</th>"
      "<th class=\"number\">FLOP/s</th><th class=\"number\">B/s</th>"
      "<th class=\"number\">of this machine's best</th></tr>\n",
      count, by_kind ? kind_count : count_main(facts), by_kind ? "kinds of steps" : "steps",
      facts->total_seconds > 0 ? seconds_of(rows, count) / facts->total_seconds * 100 : 0);
  for (uint32_t k = 0; k < count; ++k) {
    write_row(file, facts, &rows[k], rows[0].seconds);
  }
  (void)fputs("</table></div>\n", file);
  tool_kinds_free(kinds, kind_count);
}

/* ---- What could be better ---- */

static void write_one_advice(FILE* file, const tool_facts_t* facts, const tool_advice_t* advice) {
  char text[32];
  tool_format_time(advice->seconds, text);
  (void)fprintf(file, "<li><span class=\"gain\">up to %s (%.0f %%)</span> ", text,
                facts->total_seconds > 0 ? advice->seconds / facts->total_seconds * 100 : 0);
  tool_html_text(file, advice->message, SIZE_MAX);
  for (uint32_t k = 0; k < advice->step_count; ++k) {
    (void)fprintf(file, "%s<a href=\"#step%u\">%u</a>", k == 0 ? " <span>steps " : ", ",
                  advice->steps[k], advice->steps[k]);
  }
  (void)fputs(advice->step_count > 0 ? "</span></li>\n" : "</li>\n", file);
}

static void write_advice(FILE* file, const tool_facts_t* facts) {
  tool_advice_t advice[TOOL_ADVICE_MOST];
  const uint32_t count = facts->timing == NULL ? 0 : tool_advice_find(facts, advice);
  (void)fputs("<div><h2>What could be better</h2>\n<ul class=\"advice\">\n", file);
  for (uint32_t k = 0; k < count; ++k) {
    write_one_advice(file, facts, &advice[k]);
  }
  if (facts->timing == NULL) {
    (void)fputs("<li>Unknown: the plan was not run.</li>\n", file);
  } else if (count == 0) {
    (void)fputs(
        "<li>Nothing stands out: copies, arithmetic that is not fused and kernels below half of "
        "the "
        "machine's best would each gain less than 0.5 % of the time.</li>\n",
        file);
  }
  (void)fputs("</ul>\n", file);
  const tool_peak_t* peak = &facts->peak;
  if (peak->operations_per_second > 0 && peak->bytes_per_second > 0) {
    char texts[2][32];
    tool_format_amount(peak->operations_per_second, "FLOP", texts[0]);
    tool_format_amount(peak->bytes_per_second, "B", texts[1]);
    (void)fprintf(file,
                  "<p class=\"quiet\">This machine's best, measured just now with the plan's "
                  "threads: %s/s in %s, %s/s through memory.</p>\n",
                  texts[0],
                  peak->is_of_a_step ? "one of the steps, more than in a large f32 matrix product"
                                     : "a large f32 matrix product",
                  texts[1]);
  }
  (void)fputs("</div>\n", file);
}

void tool_overview_write(FILE* file, const char* title, const tool_facts_t* facts) {
  (void)fputs("<h1>", file);
  tool_html_text(file, title, SIZE_MAX);
  (void)fputs("</h1>\n", file);
  write_figures(file, facts);
  (void)fputs("<div class=\"pair\">\n", file);
  write_slowest(file, facts);
  write_advice(file, facts);
  (void)fputs("</div>\n", file);
}
