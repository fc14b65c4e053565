#!/bin/sh
# Runs a suite of ONNX backend cases with `tenon suite`.
#   run.sh TENON ARCHIVE|FOLDER WORK KNOWN [options of tenon suite...]
# ARCHIVE is looked for below TENON_TEST_DATA and unpacked once into WORK. Exit status 77 means that
# the cases are not here.
set -eu
tenon=$1
source=$2
work=$3
known=$4
shift 4

case $source in
  /*)
    folder=$source
    if [ ! -d "$folder" ]; then
      echo "skipped: $folder is not there; scripts/install-dependencies installs libonnx-testdata"
      exit 77
    fi
    ;;
  *)
    if [ ! -f "${TENON_TEST_DATA:-}/$source" ]; then
      echo "skipped: TENON_TEST_DATA ('${TENON_TEST_DATA:-}') names no folder with $source"
      exit 77
    fi
    folder=$work/$(basename "$source" .tar.xz)
    mkdir -p "$work"
    # Two tests may want it at once, and either may be stopped half way.
    (
      flock 9
      if [ ! -d "$folder" ]; then
        rm -rf "$folder.part"
        mkdir "$folder.part"
        tar -xJf "$TENON_TEST_DATA/$source" -C "$folder.part" --strip-components=1
        mv "$folder.part" "$folder"
      fi
    ) 9>"$folder.lock"
    ;;
esac

# Nothing of this machine's user takes part.
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
exec "$tenon" suite "$folder" --known "$known" "$@"
