#!/bin/sh
# The plugin of the README and its lines of CMake, word for word, as a project of their own against an installed
# SDK, without a build type; it must be compiled with optimisation.
# The installed command runs a model with a node of its domain.
#   readme_plugin.sh README FOLDER PREFIX WRITE_MODEL
set -eu
readme=$1 folder=$2 prefix=$3 write_model=$4
rm -rf "$folder"
mkdir -p "$folder"
sed -n '/^```c$/,/^```$/p' "$readme" | sed '/^```/d' >"$folder/squareplus.c"
tr '\n' ' ' <"$readme" | grep -oE '`(find_package|tenon_plugin)\([^`]*`' | tr -d '`' \
  >"$folder/CMakeLists.txt"
[ "$(wc -l <"$folder/CMakeLists.txt")" = 2 ] || {
  echo "the README has other lines of CMake than two:"
  cat "$folder/CMakeLists.txt"
  exit 1
}
cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
cmake --build "$folder/build"
grep -q -- ' -O3 ' "$folder/build/compile_commands.json" || {
  echo "without a build type it is compiled without optimisation:"
  cat "$folder/build/compile_commands.json"
  exit 1
}
# A type that was chosen keeps its own.
cmake -S "$folder" -B "$folder/debug" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
! grep -q -- ' -O[1-3] ' "$folder/debug/compile_commands.json" || {
  echo "a debug build is optimised"
  exit 1
}
# Whatever the umask is: what others can write is not loaded.
chmod go-w "$folder" "$folder/build" "$folder/build/plugins" "$folder/build/plugins/squareplus.so"
"$write_model" "$folder/model.onnx" example squareplus 2
TENON_PLUGIN_PATH=$folder/build/plugins "$prefix/bin/tenon" run "$folder/model.onnx" --no-cache
