# The libFuzzer targets of tests/fuzz, one a file: `cmake --preset fuzz`, `make fuzz`. Everything that reads input is
# instrumented; the kernels read none.
set(ARTICULA_FUZZ_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
target_compile_options(articula PRIVATE -fsanitize=fuzzer-no-link ${ARTICULA_FUZZ_FLAGS} -g1)
target_link_options(articula INTERFACE ${ARTICULA_FUZZ_FLAGS})

set(sources ${ARTICULA_CLI_SOURCES})
list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
add_library(fuzz_program OBJECT ${sources})
get_target_property(definitions articula_program COMPILE_DEFINITIONS)
target_compile_definitions(fuzz_program PRIVATE ${definitions})
target_compile_options(fuzz_program PRIVATE -fsanitize=fuzzer-no-link ${ARTICULA_FUZZ_FLAGS} -g1 ${ARTICULA_WARNINGS} -O1)
target_link_libraries(fuzz_program PUBLIC articula CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt tinyxml2::tinyxml2
                                          Threads::Threads PkgConfig::CAIRO)
target_precompile_headers(fuzz_program PRIVATE ${ARTICULA_STANDARD_HEADERS} <CLI/CLI.hpp> <nlohmann/json.hpp>)

file(GLOB targets CONFIGURE_DEPENDS tests/fuzz/*.cpp)
add_custom_target(fuzzers)
foreach(source IN LISTS targets)
  get_filename_component(name ${source} NAME_WE)
  add_executable(fuzz_${name} ${source} tests/support/urdf_mutations.cpp)
  target_include_directories(fuzz_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer ${ARTICULA_FUZZ_FLAGS} ${ARTICULA_WARNINGS} -g1 -O1)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${name} PRIVATE fuzz_program)
  add_dependencies(fuzzers fuzz_${name})
endforeach()
