/* Checks of control steps in a plan: both ends of each argument are in the memory of one device. */
#include "core/plan_file/control_check.h"

#include "core/base/status.h"
#include "core/network/control.h"

typedef struct checker_t {
  const tenon__schedule_t* schedule; /* of the step */
  const tenon__step_t* step;
  const tenon__schedule_t* body;
  const tenon__control_layout_t* layout;
} checker_t;

/* TENON_NONE: absent, and so nowhere. */
static bool lies_in(const tenon__schedule_t* schedule, uint32_t place, uint32_t space) {
  return place == TENON_NONE || schedule->places[place].space == space;
}

static uint32_t parameter_space(const checker_t* c, uint32_t number) {
  return c->body->places[c->body->inputs[c->layout->first_parameter + number]].space;
}

static uint32_t result_space(const checker_t* c, uint32_t number) {
  return c->body->places[c->body->outputs[c->layout->first_result + number]].space;
}

/* Before the values, on both sides. */
static bool is_lead_on_host(const checker_t* c) {
  bool is = true;
  for (uint32_t k = 0; k < c->layout->first_value; ++k) {
    is = is && lies_in(c->schedule, c->step->inputs[k], 0);
  }
  for (uint32_t k = 0; k < c->layout->first_parameter; ++k) {
    is = is && lies_in(c->body, c->body->inputs[k], 0);
  }
  for (uint32_t k = 0; k < c->layout->first_result; ++k) {
    is = is && lies_in(c->body, c->body->outputs[k], 0);
  }
  return is;
}

static bool fits(const checker_t* c) {
  const tenon__control_layout_t* layout = c->layout;
  const uint32_t value_count =
      layout->carried_count + layout->scanned_count + layout->captured_count;
  bool fits = is_lead_on_host(c);
  for (uint32_t k = 0; k < value_count; ++k) {
    fits = fits &&
           lies_in(c->schedule, c->step->inputs[layout->first_value + k], parameter_space(c, k));
  }
  for (uint32_t k = 0; k < layout->output_count; ++k) {
    fits = fits && lies_in(c->schedule, c->step->outputs[k], result_space(c, k));
  }
  for (uint32_t k = 0; k < layout->carried_count; ++k) {
    fits = fits && result_space(c, k) == parameter_space(c, k);
  }
  return fits;
}

static tenon_status_t check_step(const tenon__plan_t* plan, uint32_t graph,
                                 const tenon__step_t* step, const tenon_sink_t* sink) {
  const tenon__node_t* node = &plan->network->graphs[graph]->nodes[step->node];
  tenon__control_layout_t layout;
  TENON_TRY(tenon__control_layout_of(plan->network, graph, step->node, sink, &layout));
  for (uint32_t b = 0; b < node->body_count; ++b) {
    const checker_t c = {.schedule = &plan->schedules[graph],
                         .step = step,
                         .body = &plan->schedules[node->bodies[b]],
                         .layout = &layout};
    if (plan->network->graphs[node->bodies[b]]->fault == NULL && !fits(&c)) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "the plan is broken: in '%s', what crosses between step '%s' and its body "
                         "'%s' lies in two memories",
                         plan->network->graphs[graph]->name, step->name,
                         plan->network->graphs[node->bodies[b]]->name);
    }
  }
  return TENON_OK;
}

static tenon_status_t check_graph(const tenon__plan_t* plan, uint32_t graph,
                                  const tenon_sink_t* sink) {
  const tenon__schedule_t* schedule = &plan->schedules[graph];
  for (uint32_t s = 0; s < schedule->step_count; ++s) {
    if (tenon__step_is_control(&schedule->steps[s])) {
      TENON_TRY(check_step(plan, graph, &schedule->steps[s], sink));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__control_check(const tenon__plan_t* plan, const tenon_sink_t* sink) {
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    TENON_TRY(check_graph(plan, g, sink));
  }
  return TENON_OK;
}
