#!/bin/sh
# The plugin of the README, its CMakeLists.txt and its commands, word for word, as a project of their own against an
# installed SDK, without a build type; it must be compiled with optimisation. Only what Tenon's own build needs is in
# the path: no make, no C++ compiler. The installed command runs a model with a node of its domain.
#   readme_plugin.sh README FOLDER PREFIX WRITE_MODEL
set -eu
readme=$1 folder=$2 prefix=$3 write_model=$4
rm -rf "$folder"
mkdir -p "$folder"
sed -n '/^```c$/,/^```$/p' "$readme" | sed '/^```/d' >"$folder/squareplus.c"
sed -n '/^```cmake$/,/^```$/p' "$readme" | sed '/^```/d' >"$folder/CMakeLists.txt"
commands=$(grep -E '^cmake -S |^TENON_PLUGIN_PATH=' "$readme")
[ "$(echo "$commands" | wc -l)" = 2 ] || {
  echo "the README has other commands for its plugin than two:"
  echo "$commands"
  exit 1
}
mkdir -p "$folder/tools"
for tool in cc gcc as ld ar ranlib nm objdump strip readelf cmake ninja sh uname sed grep; do
  ln -sf "$(command -v $tool)" "$folder/tools/$tool"
done
export CMAKE_EXPORT_COMPILE_COMMANDS=ON
unset CC CXX CMAKE_GENERATOR CMAKE_BUILD_TYPE
# Others can write what a umask allows them; that is not loaded.
umask 022
(cd "$folder" && PATH=$folder/tools sh -c "$(echo "$commands" | sed "s|~/tenon|$prefix|g")") >"$folder/said" || {
  cat "$folder/said"
  exit 1
}
cat "$folder/said"
grep -q squareplus "$folder/said" || {
  echo "the command does not list it"
  exit 1
}
grep -q -- ' -O3 ' "$folder/build/compile_commands.json" || {
  echo "without a build type it is compiled without optimisation:"
  cat "$folder/build/compile_commands.json"
  exit 1
}
# A type that was chosen keeps its own.
cmake -S "$folder" -B "$folder/debug" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
! grep -q -- ' -O[1-3] ' "$folder/debug/compile_commands.json" || {
  echo "a debug build is optimised"
  exit 1
}
"$write_model" "$folder/model.onnx" example squareplus 2
TENON_PLUGIN_PATH=$folder/build/plugins "$prefix/bin/tenon" run "$folder/model.onnx" --no-cache
