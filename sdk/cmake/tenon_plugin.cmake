# How a plugin is built: the same function in this tree and, after find_package(Tenon), in yours.
#
#   tenon_plugin(NAME SOURCES ... [LIBRARIES ...] [OPTIONS ...])
#       builds plugins/NAME.so (target plugin_NAME) from C and C++ sources that see the SDK's headers and
#       their own folder. LIBRARIES are other people's; Tenon has none to link. The objects are also
#       the target plugin_NAME_objects, for unit tests. The library of C++ is linked into the plugin.
#   tenon_plugin(NAME SOURCES FILE.rs [DEPENDS ...] [OPTIONS ...])
#       the same from a crate without Cargo: FILE.rs is its root, DEPENDS are its other files. Needs rustc 1.63
#       or newer.
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
    if(source MATCHES "_([a-z0-9]+)\\.(c|cc|cpp|cxx)$" AND CMAKE_MATCH_1 IN_LIST TENON_ISA_SUFFIXES)
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
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;DEPENDS;OPTIONS")
  set(language C)
  set(link_options)
  if(arg_SOURCES MATCHES "\\.rs$")
    # Of an archive the linker takes the members that it needs, the others' sections are left out.
    set(link_options -Wl,-u,tenon_plugin_query -Wl,--gc-sections -Wl,--strip-debug -static-libgcc)
    tenon_plugin_rust(${name} "${arg_SOURCES}" "${arg_DEPENDS}" "${arg_OPTIONS}" objects)
    add_library(plugin_${name} MODULE ${objects})
  else()
    if(arg_SOURCES MATCHES "\\.(cc|cpp|cxx)(;|$)")
      set(language CXX)
      set(link_options -static-libstdc++ -static-libgcc)
    endif()
    tenon_plugin_objects(${name} "${arg_SOURCES}" "${arg_LIBRARIES}" "${arg_OPTIONS}")
    add_library(plugin_${name} MODULE $<TARGET_OBJECTS:plugin_${name}_objects>)
  endif()

  set(map ${TENON_PLUGIN_CMAKE_DIR}/plugin.map)
  set_target_properties(plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} SUFFIX ".so"
    LINKER_LANGUAGE ${language} SKIP_BUILD_RPATH ON LINK_DEPENDS ${map}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
  target_link_libraries(plugin_${name} PRIVATE ${arg_LIBRARIES} m)
  target_link_options(plugin_${name} PRIVATE -Wl,--version-script=${map} -Wl,-z,relro -Wl,-z,now
    -Wl,-z,noexecstack ${link_options})
  # Under clang's sanitizers the run-time library is in the executable alone.
  if(NOT (TENON_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES "Clang"))
    target_link_options(plugin_${name} PRIVATE -Wl,--no-undefined -Wl,-z,defs)
  endif()
  install(TARGETS plugin_${name} LIBRARY DESTINATION lib/tenon/plugins)
endfunction()

# The target plugin_NAME_objects, of C and C++.
function(tenon_plugin_objects name sources libraries options)
  tenon_plugin_isa("${sources}" sources definitions)
  set(objects plugin_${name}_objects)
  add_library(${objects} OBJECT ${sources})
  set_target_properties(${objects} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${objects} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${objects} PRIVATE ${definitions})
  target_link_libraries(${objects} PUBLIC Tenon::headers ${libraries})
  if(NOT TENON_SANITIZE)
    set(is_fast $<OR:$<CONFIG:Release,RelWithDebInfo>,$<STREQUAL:$<CONFIG>,>>)
    target_compile_options(${objects} PRIVATE $<${is_fast}:-O3>)
  endif()
  target_compile_options(${objects} PRIVATE -ffp-contract=off ${options})
endfunction()

# Sets ${out_objects} to an archive of the crate and Rust's library. A panic ends the process, for it must not
# unwind into the host.
function(tenon_plugin_rust name root depends options out_objects)
  find_program(TENON_RUSTC rustc REQUIRED)
  cmake_path(ABSOLUTE_PATH root)
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/plugin_${name}.a)
  set(include $<TARGET_PROPERTY:Tenon::headers,INTERFACE_INCLUDE_DIRECTORIES>)
  add_custom_command(OUTPUT ${archive} DEPENDS ${root} ${depends} ${include}/tenon/plugin.rs VERBATIM
    COMMAND ${CMAKE_COMMAND} -E env TENON_INCLUDE=${include} ${TENON_RUSTC} --crate-type staticlib --crate-name plugin --edition 2021 -C opt-level=3
      -C codegen-units=1 -C panic=abort -C relocation-model=pic ${options} -o ${archive} ${root})
  set_source_files_properties(${archive} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${out_objects} ${archive} PARENT_SCOPE)
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
