# shellcheck shell=bash disable=SC2154
# The cache folder: what fails there is a warning, and the work goes on.
seven=(run "$digits/model.onnx" --input "$digits/digit_7.pgm" --scale 0.003921569 --top 1)

# A plan that was built before says so, and how it is built anew.
try 0 "${seven[@]}"
says "(cache: miss)"
try 0 "${seven[@]}" --verbose
says "was built before, of the same model and plugins" "--no-cache builds anew"
try 0 "${seven[@]}"
! grep -q 'was built before' err || complain "it is said without --verbose"

# A plugin that is installed again is the same plugin. Other contents are not.
mkdir -p own other
cp "$(dirname "$tenon")/../tests/far_device/far_device.so" own/other.so
XDG_CACHE_HOME=$folder/other try 0 "${seven[@]}" --plugins own
says "(cache: miss)"
touch own/other.so
XDG_CACHE_HOME=$folder/other try 0 "${seven[@]}" --plugins own
says "(hit)"

# A place that takes no plan: a folder lies where it should go.
plan=$(ls "$XDG_CACHE_HOME"/tenon/plans/*.plan)
rm "$plan"
mkdir -p "$plan/in-the-way"
for command_name in run bench inspect; do
  arguments=("$command_name" "$digits/model.onnx")
  case $command_name in
    run) arguments=("${seven[@]}") ;;
    bench) arguments+=(--seconds 0 --input "$digits/digit_7.pgm") ;;
    *) arguments+=(--input "$digits/digit_7.pgm") ;;
  esac
  try 0 "${arguments[@]}"
  says "$plan: the plan is not kept in the cache"
  ! grep -q '^error' err || complain "an error is told"
done
try 0 "${seven[@]}"
says "> 7 "

# A folder that cannot be made, and none.
echo x >file
XDG_CACHE_HOME=$folder/file try 0 "${seven[@]}"
says "plans are not kept: the cache folder cannot be written" "> 7 "
HOME='' XDG_CACHE_HOME='' try 0 "${seven[@]}"
says "plans are not kept: neither XDG_CACHE_HOME nor HOME is set" "> 7 "

# A plan that is not kept needs no file.
try 0 build "$digits/model.onnx" -o digits.plan
for arguments in "bench digits.plan --seconds 0" "run $digits/model.onnx --no-cache" \
  "bench $digits/model.onnx --no-cache --seconds 0" "compare $digits/model.onnx --outputs-only"; do
  # shellcheck disable=SC2086
  HOME='' XDG_CACHE_HOME='' TMPDIR=$folder/file try 0 $arguments
done

# Times that are no regular file are not read, and not written.
mkdir -p odd/tenon/timings
XDG_CACHE_HOME=$folder/odd try 0 "${seven[@]}"
says "warning: " "is not a regular file" "> 7 "
[[ -d odd/tenon/timings ]] || complain "it was replaced"
rmdir odd/tenon/timings
mkfifo odd/tenon/timings
XDG_CACHE_HOME=$folder/odd try 0 "${seven[@]}" --no-cache
try 3 run "$digits/model.onnx" --no-cache --timing-cache odd/tenon

# A file system that is full, where one can be mounted.
mkdir small
if mount -t tmpfs -o size=200k tmpfs small 2>/dev/null; then
  XDG_CACHE_HOME=$folder/small try 0 "${seven[@]}"
  says "No space left on device" "the plan is not kept in the cache" "> 7 "
  ! grep -q '^error' err || complain "an error is told"
  [[ -z $(find small -name 'tenon-*' -o -name '*.tmp-*') ]] || complain "it leaves $(ls -R small)"
  umount small
else
  echo "skipped: no file system can be mounted here"
fi
