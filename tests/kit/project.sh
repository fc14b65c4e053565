#!/usr/bin/env bash
# Writes one project of `tenon plugin new`, builds it against an installed SDK and runs its tests. The same project with
# an error in its source must fail, and nothing is left of the template's name.
#   project.sh PREFIX FOLDER KIND LANGUAGE ERROR, which is a program of sed
set -euo pipefail
prefix=$1 folder=$2 kind=$3 language=$4 error=$5
if [[ $language == rust ]] && ! command -v rustc >/dev/null; then
  echo "skipped: install rustc"
  exit 77
fi
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
# Plugins that others can write are not loaded.
umask 022
unset TENON_PLUGIN_PATH

"$prefix/bin/tenon" plugin new nova "--$kind" --language "$language" >said
cat said
if grep -rIil acme nova || find nova -name '*acme*' | grep .; then
  echo "the template's name is left"
  exit 1
fi
# The three commands that it prints.
grep -E '^(cmake|ctest) ' said >commands
[[ $(wc -l <commands) == 3 ]] || { echo "it does not print three commands"; exit 1; }
sh -e commands

source=$(find nova -maxdepth 1 -name 'nova.*')
cp "$source" right
sed -i "$error" "$source"
! cmp -s right "$source" || { echo "the error '$error' changes nothing"; exit 1; }
cmake --build nova/build
if ctest --test-dir nova/build; then
  echo "the tests of the project pass with this error: $error"
  exit 1
fi
