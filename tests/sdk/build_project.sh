#!/bin/sh
# Configures and builds a project of a stranger against an installed SDK.
#   build_project.sh SOURCE BUILD PREFIX BUILD_TYPE [OPTION...]
set -eu
source=$1 build=$2 prefix=$3 type=$4
shift 4
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE="$type" "$@"
cmake --build "$build" -- -j "${TENON_JOBS:-2}"
