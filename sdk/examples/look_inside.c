/* Looking: plugins and what they offer, devices, values inside a network, inputs and steps of a
 * plan.
 *   look_inside MODEL */
#include "example.h"

static tenon_status_t look_at_plugins(tenon_registry_t* registry) {
  tenon_status_t status = TENON_OK;
  (void)printf("Tenon %s searches:\n", tenon_version());
  tenon_registry_print_paths(registry, example_print, NULL);
  for (uint32_t i = 0; i < tenon_registry_plugin_count(registry); ++i) {
    tenon_plugin_info_t info = {.size = sizeof(info)};
    TRY(tenon_registry_get_plugin(registry, i, &info));
    (void)printf("%s %s%s%s\n", info.name, info.version,
                 info.state == TENON_PLUGIN_REFUSED ? ", refused: " : "", info.reason);
  }
  TRY(tenon_registry_print_devices(registry, example_print, NULL));
  TRY(tenon_registry_print_index(registry, example_print, NULL)); /* loads them all */
done:
  return status;
}

/* What the file says of itself: also when no network could be made of it. */
static tenon_status_t look_at_file(const tenon_network_t* network) {
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < tenon_network_input_count(network); ++i) {
    tenon_io_info_t info = {.size = sizeof(info)};
    TRY(tenon_network_get_input(network, i, &info));
    (void)printf("input %s\n", info.name);
  }
  for (uint32_t i = 0; i < tenon_network_node_type_count(network); ++i) {
    tenon_node_type_t type = {.size = sizeof(type)};
    TRY(tenon_network_get_node_type(network, i, &type));
    (void)printf("%u nodes %s%s%s, %s %s\n", type.count, type.domain,
                 type.domain[0] != '\0' ? "::" : "", type.type,
                 type.is_missing != 0 ? "missing:" : "made by",
                 type.is_missing != 0 ? type.message : type.plugin);
  }
done:
  return status;
}

/* "image f32 (32 bits each): batch (built as 1), 1, 8, 8; from -inf to inf" */
static tenon_status_t look_at_inputs(const tenon_engine_t* engine) {
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < tenon_engine_input_count(engine); ++i) {
    tenon_io_info_t info = {.size = sizeof(info)};
    double min = 0;
    double max = 0;
    TRY(tenon_engine_get_input(engine, i, &info));
    TRY(tenon_engine_get_input_range(engine, i, &min, &max));
    (void)printf("%s %s (%u bits each):", info.name, tenon_dtype_name(info.dtype),
                 tenon_dtype_bits(info.dtype));
    for (uint32_t k = 0; k < info.rank; ++k) {
      const char* symbol = info.symbols[k];
      (void)printf("%s %s", k == 0 ? "" : ",", symbol);
      if (info.dims[k] >= 0) {
        (void)printf(symbol[0] != '\0' ? " (built as %lld)" : "%lld", (long long)info.dims[k]);
      }
    }
    (void)printf("; from %g to %g\n", min, max);
  }
done:
  return status;
}

static tenon_status_t look_at_steps(const tenon_engine_t* engine) {
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < tenon_engine_step_count(engine); ++i) {
    tenon_step_info_t step = {.size = sizeof(step)};
    const uint32_t* sources = NULL;
    uint32_t count = 0;
    TRY(tenon_engine_get_step(engine, i, &step));
    TRY(tenon_engine_get_step_sources(engine, i, &sources, &count));
    (void)printf("step %u: %s by %s:%s, reads from %u earlier steps\n", i, step.nodes, step.plugin,
                 step.kernel, count);
  }
  for (uint32_t i = 0; i < tenon_engine_block_count(engine); ++i) {
    tenon_block_info_t block = {.size = sizeof(block)};
    TRY(tenon_engine_get_block(engine, i, &block));
    (void)printf("'%s': %llu bytes, steps %u to %u\n", block.name,
                 (unsigned long long)block.size_bytes, block.first_step, block.last_step);
  }
  tenon_engine_print_network(engine, example_print, NULL);
done:
  return status;
}

/* A network item by item: what would make it again. */
static int32_t count_nodes(void* user, const tenon_network_item_t* item) {
  uint32_t* count = user;
  *count += item->kind == TENON_ITEM_NODE ? 1 : 0;
  return TENON_OK;
}

/* A control node's bodies, each with what it is given and what it results in. */
static int32_t look_at_bodies(void* user, const tenon_network_item_t* item) {
  tenon_network_t* network = user;
  for (uint32_t i = 0; i < item->body_count; ++i) {
    uint32_t count = 0;
    const tenon_status_t status =
        tenon_network_walk_body(network, item->bodies[i], count_nodes, &count);
    if (status != TENON_OK) {
      return status;
    }
    (void)printf("body %u of '%s': %u nodes\n", i, item->name, count);
  }
  return TENON_OK;
}

int main(int argc, char** argv) {
  tenon_status_t status = TENON_OK;
  tenon_status_t parsed = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  if (argc != 2) {
    (void)fprintf(stderr, "usage: look_inside MODEL\n");
    return 2;
  }
  TRY(example_registry(&registry));
  TRY(look_at_plugins(registry));
  TRY(tenon_network_create(registry, &network));
  parsed = tenon_network_parse_file(network, argv[1], NULL);
  if (parsed != TENON_OK) {
    (void)fprintf(stderr, "%s\n", tenon_last_message());
  }
  TRY(look_at_file(network));
  TRY(parsed);
  for (uint32_t i = 0; i < tenon_network_file_count(network); ++i) {
    (void)printf("read from %s\n", tenon_network_get_file(network, i));
  }
  uint32_t node_count = 0;
  uint32_t whole_count = 0;
  TRY(tenon_network_walk(network, count_nodes, &node_count));
  TRY(tenon_network_walk_bodies(network, count_nodes, &whole_count));
  (void)printf("%u nodes, %u in bodies of theirs\n", node_count, whole_count - node_count);
  TRY(tenon_network_walk(network, look_at_bodies, network));
  /* Any value inside can be an output: here one alone, so that only what it needs is built. */
  tenon_network_print_values(network, example_print, NULL);
  TRY(tenon_network_clear_outputs(network));
  TRY(tenon_network_mark_output(network, "relu2"));
  TRY(tenon_build(network, NULL, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(look_at_inputs(engine));
  TRY(look_at_steps(engine));
done:
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
