# shellcheck shell=bash disable=SC2154
# The file as a whole: ELF, manifest, descriptors, hosts of other versions.
# Kernels of fixtures compute nothing.
file='^(admission|load|hosts)'
for name in good newer older; do
  passes "$fixtures/$name.so" --only "$file"
done
# Some linkers make no such note.
[[ ! -e $fixtures/property_note.so ]] || passes "$fixtures/property_note.so" --only "$file"
finds "$fixtures/good.so" values "does not write"
refused() {
  finds "$fixtures/$1.so" admission "$2"
  ! grep -q 'load' out || complain "a refused file is loaded"
}
refused no_manifest "has no Tenon manifest"
refused two_manifests "it has two manifests"
refused nameless "it lacks 'name'"
refused malformed "line 3: it is not of the form"
refused other_major "another major version"
refused needs_newer "needs a newer Tenon"
refused before_lists "no longer served"
refused needs_unknown_isa "needs an instruction set"
refused no_query "does not export the function tenon_plugin_query"
refused extra_export "exports more than tenon_plugin_query"
refused imports_tenon "imports a symbol of Tenon"
refused undeclared "needs other libraries than its manifest says"
refused unlinked "needs other libraries than its manifest says"
refused run_path "brings a search path for libraries"
refused executable_stack "wants an executable stack"

finds "$fixtures/declared.so" load "cannot be loaded"
finds "$fixtures/declines.so" hosts "query returns NULL for this host"
finds "$fixtures/start_fails.so" load "the moon is in the wrong phase"
finds "$fixtures/root_too_small.so" load "the size of its root is wrong"
finds "$fixtures/small_stride.so" load "its size is not that of an item of this kind"
finds "$fixtures/other_name.so" load "it calls itself somebody_else"
finds "$fixtures/promises_more.so" load "does not offer it"
finds "$fixtures/promises_less.so" load "its manifest lacks the line"
finds "$fixtures/broken_operator.so" load "expected an expression"
finds "$fixtures/taker.so" load "its domain belongs to plugin standard"
finds "$fixtures/rewriter.so" load "it changes results"

# A crash ends one check, and names the function.
for place in constructor query start; do
  CRASH_IN=$place finds "$fixtures/crasher.so" load "SIGSEGV"
  says "it crashed"
done

check 3 "$folder/absent.so"
says "no such file"
check 1 "$build/CMakeCache.txt"
says "is no plugin file"
check 2 "$fixtures/good.so" --only 'no such check'
says "--only matches none"
# Without the plugin no check of a kernel is listed, and none passes.
CRASH_IN=query check 1 "$fixtures/crasher.so" --only '^values'
says "its subjects cannot be listed"
check 1 "$fixtures/no_manifest.so" --only '^values'
says "its subjects cannot be listed"
check 2 "$fixtures/good.so" --only '('
says "--only wants a regular expression"
check 2
says "FILE is missing"
check 0 "$fixtures/good.so" --only "$file" --json
says '"check": "admission"' '"result": "ok"'
check 0 "$fixtures/good.so" --only '^hosts'
says "1 checks passed, 0 failed, 0 skipped"

# A plugin with the name of an installed one is checked itself: this one is wrong, the installed one is not.
mkdir own installed
cp "$build/tests/check/rogue_namesake.so" own/mine.so
cp "$build/tests/check/rogue_honest.so" installed/
path=$TENON_PLUGIN_PATH
export TENON_PLUGIN_PATH=$folder/installed:$path
passes installed/rogue_honest.so --only '^(admission|load|values)' --cases 8
check 1 own/mine.so --only '^(admission|load|values)' --cases 8
says "is wrong"
export TENON_PLUGIN_PATH=$path
