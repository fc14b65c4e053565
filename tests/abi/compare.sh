#!/bin/sh
# Compares the layout of a public header, as this build has it, with its lock.
#   compare.sh PROGRAM LOCK              the program that prints the layout, the text that was checked in
#   compare.sh --abidiff LIBRARY XML     the same by libabigail, which sees types of parameters too
# Exit status 77 means that it could not be done here.
set -eu
folder=$(dirname "$0")

explain() {
  echo
  echo "The layout of a public header changed. Growing structures may grow at their end, which raises"
  echo "TENON_ABI_MINOR; nothing else may change within a major version from 1.0 on. If it is meant:"
  echo "  $folder/update.sh BUILD_FOLDER"
  exit 1
}

if [ "$1" = --abidiff ]; then
  command -v abidiff >/dev/null 2>&1 || { echo "skipped: abidiff (abigail-tools) is not installed"; exit 77; }
  # abidiff reads XML of its own version and older ones.
  abidiff --no-show-locs "$3" "$2" || explain
else
  "$1" | diff -u "$2" - || explain
fi
