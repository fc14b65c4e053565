# shellcheck shell=bash disable=SC2154
# Help is true: every example in it works as it stands there.
mkdir -p work/my-plugins work/build/plugins work/cases/test_conv_digits bin
cp "${TENON_PLUGIN_PATH%%:*}/uff.so" work/build/plugins/acme.so
cp "$digits/model.onnx" "$digits/labels.txt" "$digits/digit_7.pgm" "$coins/coins.pgm" work
cp "$digits/model.onnx" work/digits.onnx
cp "$coins/model.onnx" work/unet.onnx
cp "$root/tests/fuzz/corpus/parser_uff_graph_def/batch_norm" work/frozen.pb
cp -r "$digits/test_data_set_0" work
cp -r "$digits/model.onnx" "$digits/test_data_set_0" work/cases/test_conv_digits
echo '~* nothing is known to fail' >work/known.txt
try 0 run work/unet.onnx --input work/coins.pgm --picture work/photo.png
try 0 build work/model.onnx -o work/model.plan
ln -s "$tenon" bin/tenon
export PATH=$folder/bin:$PATH LD_LIBRARY_PATH=$(dirname "$tenon")/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

count=0
((${#subcommands[@]} >= 9)) || complain "only ${#subcommands[@]} subcommands were found"
for command_name in "${subcommands[@]}"; do
  # shellcheck disable=SC2086 # a name has one word or two
  "$tenon" $command_name --help-all >all 2>&1
  command="$command_name --help-all"
  ! tr -s '\n ' ' ' <all | grep -oE '.{40}[^(]default.{20}' || complain "a default is not given as (default: X)"
  mapfile -t examples < <(sed -n '/^examples$/,/^$/s/^  \(tenon .*\)/\1/p' all)
  ((${#examples[@]} > 0)) || complain "tenon $command_name --help-all shows no example"
  for example in "${examples[@]}"; do
    command="(example) $example"
    (cd work && bash -c "$example") >out 2>err
    status=$?
    ((status == 0)) || complain "its exit status is $status"
    count=$((count + 1))
  done
done
((count >= 24)) || complain "only $count examples were found"

# The manual is all of it, or there is none.
command="(the manual)"
: >out
: >err
"$root/sdk/tool/manual.sh" "$tenon" 1.2.3 >manual 2>err || complain "it is not written"
for command_name in "${subcommands[@]}"; do
  grep -q "^.SH tenon $command_name$" manual || complain "it does not explain $command_name"
done
cat >bin/half <<'SH'
#!/bin/sh
case $* in
  *--help-all) exit 3 ;;
  *) exec tenon "$@" ;;
esac
SH
chmod +x bin/half
"$root/sdk/tool/manual.sh" "$folder/bin/half" 1.2.3 >manual 2>err &&
  complain "it is written although the command fails"

# The short one is one screen or two, the long one holds everything.
try 0 run --help
(($(wc -l <out) <= 75)) || complain "the short help has $(wc -l <out) lines"
says "more, shown by --help-all"
! grep -q -- '--optimizer-limit' out || complain "the short help shows what is rare"
try 0 run --help-all
says "--optimizer-limit"
try 0 build --help
says "--optimizer-limit"
