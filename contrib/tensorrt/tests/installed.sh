#!/bin/sh
# Runs one case with the installed command. The plugin comes from a project built against that SDK.
#   installed.sh PREFIX PLUGINS CASES
set -eu
prefix=$1 plugins=$2 cases=$3
"$prefix/bin/tenon" plugins --plugins "$plugins" | grep -q "$plugins/tensorrt.so" ||
  { echo "the plugin of the project is not loaded"; exit 1; }
"$prefix/bin/tenon" suite "$cases/f32" --filter '*EfficientNMS_TRT_0' --plugins "$plugins" --at-least 1
# The installed plugin is enabled.
"$prefix/bin/tenon" suite "$cases/f32" --filter '*EfficientNMS_TRT_0' --at-least 1
