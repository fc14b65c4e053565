# shellcheck shell=bash disable=SC2154
# Cases below a folder.
mkdir -p cases/wrong/test_data_set_0
cp "$digits/model.onnx" cases/wrong
cp "$digits/test_data_set_0/input_0.pb" "$digits/test_data_set_0/output_0.pb" \
  cases/wrong/test_data_set_0
try 0 suite cases
says "1 passed, 0 failed, 0 skipped"
cp "$digits/test_data_set_1/output_0.pb" cases/wrong/test_data_set_0
try 1 suite cases
says "wrong: output 'probabilities' has shape 1x10, not 10x10" "0 passed, 1 failed, 0 skipped"
echo '*wrong* its recorded output is of another shape' >known.txt
try 0 suite cases --known known.txt
echo '*coins* said to fail' >known.txt
try 1 suite "$root/sdk/demo" --known known.txt --timeout 900
says "unexpected pass: coins is known to fail (said to fail)" "2 passed, 0 failed, 0 skipped"
try 0 suite "$root/sdk/demo" --json
prints_json
says '"passed": 2'
# A case that does not end is ended, and nothing is left.
mkdir -p tmp endless/case/test_data_set_0
make_endless endless/case/model.onnx
mv endless/case/model.onnx.n.npy endless/case/test_data_set_0/input_0.npy
make_array endless/case/test_data_set_0/input_1.npy '<f4' 2 "0000803f00000040"
make_array endless/case/test_data_set_0/output_0.npy '<f4' 2 "0000803f00000040"
TMPDIR=$folder/tmp try 1 suite endless --timeout 1
says "case: took longer than " "0 passed, 1 failed"
[[ -z $(ls -A tmp) ]] || complain "temporary files were left: $(ls tmp)"
# Several by one process: what ends it is that case's failure alone, and another goes on.
for name in a c e; do
  cp -r cases/wrong several_$name
  cp "$digits/test_data_set_0/output_0.pb" several_$name/test_data_set_0
done
mkdir several
mv several_a several/a && mv several_c several/c && mv several_e several/e
cp -r endless/case several/b
cp -r cases/wrong several/d
try 1 suite several --timeout 5 --jobs 1 --cases-a-process 9 --verbose
says "passed  a" "b: took longer than " "passed  c" "d: output" "passed  e" "3 passed, 2 failed"
try 3 suite "$root/sdk/demo" --filter 'nothing*'
says "matches"
try 3 suite absent
try 0 compare "$digits/model.onnx" --json
prints_json
try 0 build "$digits/model.onnx" -o json.plan --json
prints_json
