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
  # abidiff reads XML of its own version and older ones. Its status is a set of bits: 4, something
  # changed; 1 and 2, or no such bit at all, it did not get to compare.
  status=0
  abidiff --no-show-locs "$3" "$2" || status=$?
  [ "$status" = 0 ] && exit 0
  [ $((status & 3)) = 0 ] && [ "$status" -lt 16 ] && explain
  echo "abidiff could not compare $2 with $3 (exit status $status)"
  exit 1
else
  "$1" | diff -u "$2" - || explain
fi
