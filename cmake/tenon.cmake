# How every folder of ours is built. A folder says what it has; the flags live here.
#
#   tenon_library(NAME SOURCES ... [LIBRARIES ...])      static, hidden, position independent
#   tenon_room(NAME FOLDER [LIBRARIES ...])              a folder of x.c, x_test.c, x_fuzz.c
#   tenon_test(NAME SOURCES ... [LABELS ...] [LIBRARIES ...] [ARGUMENTS ...] [TIMEOUT seconds])
#   tenon_fuzz(NAME SOURCE [SOURCES ...] [LIBRARIES ...] [OPTIONS ...])
#                                                        a libFuzzer target, or a replay of its corpus
#   tenon_generated(FILE ...)                            sources we did not write: no warnings
#   tenon_folders(PARENT)                                each subfolder with CMakeLists.txt or plugin.c
#   tenon_plugin(...)                                    sdk/cmake/tenon_plugin.cmake
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/../sdk/cmake/tenon_plugin.cmake)

set(TENON_ROOT ${CMAKE_CURRENT_LIST_DIR}/..)
cmake_path(NORMAL_PATH TENON_ROOT)
string(REGEX REPLACE "/$" "" TENON_ROOT "${TENON_ROOT}")

# Files of kernels, which are all unrolled loops, take minutes to compile under all sanitizers and with
# coverage. Fuzz targets ask for the baseline's kernels, which keep the address sanitizer.
if(TENON_FUZZ AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  foreach(suffix IN LISTS TENON_ISA_SUFFIXES)
    list(APPEND TENON_ISA_${suffix} -fno-sanitize=all)
  endforeach()
  list(APPEND TENON_ISA_SUFFIXES baseline)
  set(TENON_ISA_baseline -fno-sanitize=undefined,fuzzer-no-link)
endif()

# Warnings of all of ours. Plugins and tests get the same. A manifest is one string literal, and long.
add_library(tenon_warnings INTERFACE)
target_compile_options(tenon_warnings INTERFACE -Wall -Wextra -Wpedantic -Wmissing-prototypes
  -Wstrict-prototypes -Wshadow -Wconversion -Wno-overlength-strings
  $<$<BOOL:${TENON_WERROR}>:-Werror>)

# The headers that a plugin sees.
add_library(tenon_headers INTERFACE)
add_library(Tenon::headers ALIAS tenon_headers)
target_include_directories(tenon_headers INTERFACE ${TENON_ROOT}/sdk/include)

# What the rooms of the core see besides: one another, from the root, and the GNU C library.
add_library(tenon_core_flags INTERFACE)
target_include_directories(tenon_core_flags INTERFACE ${TENON_ROOT})
target_compile_definitions(tenon_core_flags INTERFACE _GNU_SOURCE)
target_link_libraries(tenon_core_flags INTERFACE tenon_headers)

function(tenon_generated)
  set_source_files_properties(${ARGV} PROPERTIES COMPILE_OPTIONS "-w")
endfunction()

function(tenon_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(NOT arg_SOURCES)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE tenon_core_flags ${arg_LIBRARIES})
    return()
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_link_libraries(${name} PUBLIC tenon_core_flags ${arg_LIBRARIES} PRIVATE tenon_warnings)
endfunction()

# `target` belongs to what the target tests_LABEL builds: all that ctest -L LABEL needs.
function(tenon_test_group label)
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
  add_dependencies(tests_${label} ${ARGN})
endfunction()

# Every test is one program. Labels choose what the sanitizer runs repeat, see CONTRIBUTING.md.
function(tenon_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LABELS;LIBRARIES;ARGUMENTS")
  string(MAKE_C_IDENTIFIER "test_${name}" target)
  add_executable(${target} ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE tenon_core_flags tenon_warnings ${arg_LIBRARIES} m)
  add_test(NAME ${name} COMMAND ${target} ${arg_ARGUMENTS} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "${TENON_TEST_ENVIRONMENT}")
  foreach(label IN LISTS arg_LABELS)
    tenon_test_group(${label} ${target})
  endforeach()
endfunction()

# LLVMFuzzerTestOneInput under libFuzzer when TENON_FUZZ is on. Otherwise a program that replays the
# corpus tests/fuzz/corpus/NAME, so that what was once found stays found in every build.
function(tenon_fuzz name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LIBRARIES;OPTIONS")
  string(MAKE_C_IDENTIFIER "fuzz_${name}" target)
  set(corpus ${TENON_ROOT}/tests/fuzz/corpus/${name})
  set(driver ${TENON_ROOT}/tests/fuzz/replay.c)
  if(TENON_FUZZ)
    set(driver)
  endif()
  add_executable(${target} ${source} ${arg_SOURCES} ${driver})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  target_link_libraries(${target} PRIVATE tenon_core_flags tenon_warnings ${arg_LIBRARIES} m)
  tenon_test_group(fuzz ${target})
  if(TENON_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    set(found ${CMAKE_BINARY_DIR}/fuzz/corpus_${name})
    file(MAKE_DIRECTORY ${found} ${found}_crashes)
    set(known)
    if(IS_DIRECTORY ${corpus})
      set(known ${corpus})
    endif()
    add_test(NAME fuzz.${name} COMMAND ${target} -max_total_time=${TENON_FUZZ_SECONDS}
      -seed=${TENON_FUZZ_SEED} -timeout=10 -rss_limit_mb=2048 -max_len=65536 ${arg_OPTIONS}
      -artifact_prefix=${found}_crashes/ ${found} ${known})
    math(EXPR timeout "${TENON_FUZZ_SECONDS} + 120")
    set_tests_properties(fuzz.${name} PROPERTIES LABELS "fuzz" TIMEOUT ${timeout})
  else()
    add_test(NAME fuzz.${name} COMMAND ${target} ${corpus})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS "unit;fuzz" TIMEOUT 300)
  endif()
endfunction()

# x_test.c and x_fuzz.c of one folder, linked to that folder's library.
function(tenon_folder_tests prefix folder library)
  file(GLOB tests CONFIGURE_DEPENDS ${folder}/*_test.c)
  foreach(source IN LISTS tests)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "_test$" "" stem ${stem})
    # Tests that start threads.
    file(STRINGS ${source} threads REGEX "pthread_create|thread_pool_create")
    set(labels unit)
    if(threads)
      list(APPEND labels threads)
    endif()
    tenon_test(${prefix}.${stem} SOURCES ${source} LABELS ${labels} LIBRARIES ${library})
    target_include_directories(test_${prefix}_${stem} PRIVATE ${folder})
  endforeach()
  file(GLOB fuzzers CONFIGURE_DEPENDS ${folder}/*_fuzz.c)
  foreach(source IN LISTS fuzzers)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "_fuzz$" "" stem ${stem})
    tenon_fuzz(${prefix}_${stem} ${source} LIBRARIES ${library})
    target_include_directories(fuzz_${prefix}_${stem} PRIVATE ${folder})
  endforeach()
endfunction()

# A room: library tenon_NAME from FOLDER's sources, and its tests, which may stand on more (TESTS).
# Without sources yet, an interface.
function(tenon_room name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES;TESTS")
  set(folder ${TENON_ROOT}/${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.c$")
  tenon_library(tenon_${name} SOURCES ${sources} LIBRARIES ${arg_LIBRARIES})
  tenon_folder_tests(${name} ${folder} "${arg_TESTS};tenon_${name}")
endfunction()

# Subfolders that other people may add: those with a CMakeLists.txt describe themselves, those with
# a plugin.c alone are a plugin made of all their sources.
function(tenon_folders parent)
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${TENON_ROOT}/${parent}/*)
  foreach(folder IN LISTS folders)
    tenon_folder(${folder})
  endforeach()
endfunction()

function(tenon_folder folder)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${TENON_ROOT})
  if(NOT IS_DIRECTORY ${folder})
    return()
  endif()
  file(GLOB description CONFIGURE_DEPENDS ${folder}/CMakeLists.txt)
  file(GLOB plugin CONFIGURE_DEPENDS ${folder}/plugin.c)
  if(description)
    add_subdirectory(${folder})
    # A plugin need not be named like its folder.
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(target MATCHES "^plugin_" AND type STREQUAL "MODULE_LIBRARY")
        add_dependencies(product ${target})
      endif()
    endforeach()
  elseif(plugin)
    tenon_plugin_folder(${folder})
  else()
    return()
  endif()
  cmake_path(GET folder FILENAME name)
  if(TARGET plugin_${name})
    add_dependencies(product plugin_${name})
    target_link_libraries(plugin_${name}_objects PRIVATE tenon_warnings)
    tenon_folder_tests(${name} ${folder} "plugin_${name}_objects;tenon_base")
  endif()
endfunction()
