# articula_bench, with a source file for each peer that is on this machine (Debian: libmujoco-dev libsimbody-dev
# libdart-dev libdart-external-ikfast-dev liborocos-kdl-dev; `make bench` installs them).
file(GLOB ARTICULA_BENCH_SOURCES CONFIGURE_DEPENDS bench/*.cpp)
list(FILTER ARTICULA_BENCH_SOURCES EXCLUDE REGEX "peer_[a-z]+\\.cpp$")
add_executable(articula_bench ${ARTICULA_BENCH_SOURCES})
target_link_libraries(articula_bench PRIVATE articula Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
target_include_directories(articula_bench PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(articula_bench PRIVATE ${ARTICULA_WARNINGS})
string(TOUPPER "${CMAKE_BUILD_TYPE}" ARTICULA_BENCH_TYPE)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${ARTICULA_BENCH_TYPE}}" ARTICULA_BENCH_FLAGS)
target_compile_definitions(articula_bench PRIVATE
  ARTICULA_MODELS_DIR="${CMAKE_CURRENT_SOURCE_DIR}/models"
  ARTICULA_BENCH_NOTES="${CMAKE_CURRENT_SOURCE_DIR}/bench/performance_notes.md"
  ARTICULA_BENCH_COMPILER="${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
  ARTICULA_BENCH_FLAGS="${ARTICULA_BENCH_FLAGS}")

macro(articula_bench_peer name)
  string(TOUPPER ${name} upper)
  target_sources(articula_bench PRIVATE bench/peer_${name}.cpp)
  target_compile_definitions(articula_bench PRIVATE ARTICULA_BENCH_${upper})
  # -UNDEBUG: as Debian compiles them; members of some of their classes depend on it.
  set_source_files_properties(bench/peer_${name}.cpp PROPERTIES COMPILE_OPTIONS "-std=c++17;-w;-UNDEBUG")
  list(APPEND ARTICULA_BENCH_FOUND ${name})
endmacro()

find_path(MUJOCO_INCLUDE mujoco/mujoco.h)
find_library(MUJOCO_LIBRARY mujoco)
if(MUJOCO_INCLUDE AND MUJOCO_LIBRARY)
  articula_bench_peer(mujoco)
  target_include_directories(articula_bench SYSTEM PRIVATE ${MUJOCO_INCLUDE})
  target_link_libraries(articula_bench PRIVATE ${MUJOCO_LIBRARY})
endif()
find_package(Simbody QUIET)
if(Simbody_FOUND)
  articula_bench_peer(simbody)
  target_include_directories(articula_bench SYSTEM PRIVATE ${Simbody_INCLUDE_DIR})
  target_link_libraries(articula_bench PRIVATE ${Simbody_LIBRARIES})
endif()
find_package(DART QUIET)
if(DART_FOUND)
  articula_bench_peer(dart)
  target_link_libraries(articula_bench PRIVATE dart)
endif()
find_path(KDL_INCLUDE kdl/chain.hpp)
find_library(KDL_LIBRARY orocos-kdl)
if(KDL_INCLUDE AND KDL_LIBRARY)
  articula_bench_peer(kdl)
  target_include_directories(articula_bench SYSTEM PRIVATE ${KDL_INCLUDE})
  target_link_libraries(articula_bench PRIVATE ${KDL_LIBRARY})
endif()
list(JOIN ARTICULA_BENCH_FOUND ", " ARTICULA_BENCH_FOUND)
message(STATUS "articula_bench: peers found: ${ARTICULA_BENCH_FOUND}")

if(ARTICULA_BUILD_TESTS)  # every case, hardly timed; and that results which differ make it fail
  add_test(NAME bench COMMAND articula_bench --quick)
  add_library(articula_bench_wrong_peer MODULE bench/peer_wrong.cpp)
  target_include_directories(articula_bench_wrong_peer PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  add_test(NAME bench.notices_differences
           COMMAND sh -c "\"$0\" --quick --no-peers --only robots --peer \"$1\" > /dev/null 2>&1; test $? = 1"
                   $<TARGET_FILE:articula_bench> $<TARGET_FILE:articula_bench_wrong_peer>)
  # What a model cannot do is named on the page, and loses nothing else: this one's tip has no inertia.
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/massless_tip.urdf "<robot name='r'><link name='a'/><link name='b'/><joint name='j' \
type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/>\
</joint></robot>\n")
  add_test(NAME bench.goes_on_after_errors
           COMMAND articula_bench --quick --no-peers --only robots,batch ${CMAKE_CURRENT_BINARY_DIR}/massless_tip.urdf)
  set_tests_properties(bench.goes_on_after_errors PROPERTIES PASS_REGULAR_EXPRESSION
    "kinematics.*inverse dynamics.*## Left out.*massless_tip, forward_dynamics.*massless_tip, batch, forward dynamics")
endif()
