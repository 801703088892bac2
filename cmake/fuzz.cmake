# The libFuzzer targets of tests/fuzz, one a file: `cmake --preset fuzz`, `make fuzz`. What reads input is compiled once
# more, with the sanitizers and coverage, and goes before the library's own; what computes is left as it is.
if(ARTICULA_JOINED)  # an object of the library would bring along what is compiled anew here: everything twice
  message(FATAL_ERROR "fuzz targets need the library's objects one by one: configure with -DARTICULA_JOINED=OFF")
endif()
set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
# -fPIC: as the precompiled headers are, which programs and libraries share here.
set(instrumented -fsanitize=fuzzer-no-link ${sanitizers} -fno-omit-frame-pointer -g1 -O1 -fPIC ${ARTICULA_WARNINGS})
set(libraries articula Eigen3::Eigen tinyxml2::tinyxml2 fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11 Threads::Threads)

file(GLOB sources CONFIGURE_DEPENDS articula/files/*.cpp articula/operators/*.cpp articula/loops/scene.cpp
     articula/simulation/recording*.cpp articula/simulation/table.cpp articula/simulation/*forces.cpp
     articula/simulation/controllers.cpp articula/batch/run_*.cpp articula/batch/block_file.cpp articula/batch/design.cpp
     articula/batch/monte_carlo_draws.cpp)
# The program's own readers; its subcommands are run whole (tests/fuzz/commands.py).
list(APPEND sources ${ARTICULA_CLI_SOURCES})
list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|cli/(main|info|check|convert|eval.*|operators|count|bench|plot|simulate|scene_motion|view)\\.cpp$")
add_library(fuzz_readers STATIC ${sources} tests/support/urdf_mutations.cpp)
get_target_property(definitions articula_program COMPILE_DEFINITIONS)
target_compile_definitions(fuzz_readers PRIVATE ${definitions})
target_compile_options(fuzz_readers PRIVATE ${instrumented})
target_include_directories(fuzz_readers SYSTEM PRIVATE ${ARTICULA_HDF5_INCLUDE})
target_link_libraries(fuzz_readers PUBLIC ${libraries})
target_precompile_headers(fuzz_readers PRIVATE ${ARTICULA_STANDARD_HEADERS} <Eigen/Dense> <CLI/CLI.hpp> <nlohmann/json.hpp>)

add_custom_target(fuzzers DEPENDS articula_program)
file(GLOB sources CONFIGURE_DEPENDS tests/fuzz/*.cpp)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(fuzz_${name} ${source})
  target_compile_options(fuzz_${name} PRIVATE ${instrumented})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer ${sanitizers})
  target_link_libraries(fuzz_${name} PRIVATE fuzz_readers)
  target_precompile_headers(fuzz_${name} REUSE_FROM fuzz_readers)
  add_dependencies(fuzzers fuzz_${name})
endforeach()
