# How a plugin is built: the same function in this tree and, after find_package(Tenon), in yours.
#
#   tenon_plugin(NAME SOURCES ... [LIBRARIES ...] [OPTIONS ...])
#       builds plugins/NAME.so (target plugin_NAME) from C sources that see the SDK's headers and
#       their own folder. LIBRARIES are other people's; Tenon has none to link. The objects are also
#       the target plugin_NAME_objects, for unit tests.
#   tenon_plugin_folder(FOLDER)
#       the same from every .c below FOLDER, except *_test.c and *_fuzz.c.
#
# A source named x_avx2.c is compiled for that instruction set, see TENON_ISA_* below; on another
# kind of processor it is left out, and TENON_WITH_AVX2 (and so on) is not defined.
#
# Where a project names no build type, plugins are optimised all the same: a kernel at -O0 is five times
# slower, and loses every trial.
include_guard(GLOBAL)
# This file's own, whatever version the project that includes it demands; it may demand none.
cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

set(TENON_PLUGIN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
set(TENON_ISA_SUFFIXES avx2 avx512 avx512vnni avx512bf16 amx)
set(TENON_ISA_avx2 -mavx2 -mfma -mf16c)
set(TENON_ISA_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c
  -mprefer-vector-width=512)
set(TENON_ISA_avx512vnni ${TENON_ISA_avx512} -mavx512vnni)
set(TENON_ISA_avx512bf16 ${TENON_ISA_avx512} -mavx512bf16)
set(TENON_ISA_amx ${TENON_ISA_avx512} -mavx512vnni -mavx512bf16 -mamx-tile -mamx-int8 -mamx-bf16)

# Sets ${out_sources} and ${out_definitions} from `sources`, with each source's instruction set.
function(tenon_plugin_isa sources out_sources out_definitions)
  set(kept)
  set(definitions)
  foreach(source IN LISTS sources)
    set(suffix)
    if(source MATCHES "_([a-z0-9]+)\\.c$" AND CMAKE_MATCH_1 IN_LIST TENON_ISA_SUFFIXES)
      set(suffix ${CMAKE_MATCH_1})
    endif()
    if(NOT suffix)
      list(APPEND kept ${source})
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
      string(TOUPPER ${suffix} upper)
      list(APPEND kept ${source})
      list(APPEND definitions TENON_WITH_${upper}=1)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${TENON_ISA_${suffix}})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES definitions)
  set(${out_sources} ${kept} PARENT_SCOPE)
  set(${out_definitions} ${definitions} PARENT_SCOPE)
endfunction()

function(tenon_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;OPTIONS")
  tenon_plugin_isa("${arg_SOURCES}" sources definitions)
  set(objects plugin_${name}_objects)
  add_library(${objects} OBJECT ${sources})
  set_target_properties(${objects} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON
    C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_include_directories(${objects} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${objects} PRIVATE ${definitions})
  target_link_libraries(${objects} PUBLIC Tenon::headers ${arg_LIBRARIES})
  if(NOT TENON_SANITIZE)
    set(is_fast $<OR:$<CONFIG:Release,RelWithDebInfo>,$<STREQUAL:$<CONFIG>,>>)
    target_compile_options(${objects} PRIVATE $<${is_fast}:-O3>)
  endif()
  target_compile_options(${objects} PRIVATE -ffp-contract=off ${arg_OPTIONS})

  set(map ${TENON_PLUGIN_CMAKE_DIR}/plugin.map)
  add_library(plugin_${name} MODULE $<TARGET_OBJECTS:${objects}>)
  set_target_properties(plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} SUFFIX ".so"
    LINKER_LANGUAGE C SKIP_BUILD_RPATH ON LINK_DEPENDS ${map}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
  target_link_libraries(plugin_${name} PRIVATE ${arg_LIBRARIES} m)
  target_link_options(plugin_${name} PRIVATE -Wl,--version-script=${map} -Wl,-z,relro -Wl,-z,now
    -Wl,-z,noexecstack)
  # Under clang's sanitizers the run-time library is in the executable alone.
  if(NOT (TENON_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES "Clang"))
    target_link_options(plugin_${name} PRIVATE -Wl,--no-undefined -Wl,-z,defs)
  endif()
  install(TARGETS plugin_${name} LIBRARY DESTINATION lib/tenon/plugins)
endfunction()

# The folder's description is its caller's, so relative includes are found next to the sources.
function(tenon_plugin_folder folder)
  cmake_path(GET folder FILENAME name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.c$")
  tenon_plugin(${name} SOURCES ${sources})
  target_include_directories(plugin_${name}_objects PRIVATE ${folder})
endfunction()

cmake_policy(POP)
