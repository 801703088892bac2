# Installs the build into a folder of its own, builds all examples against it with find_package, and runs one; builds
# that one again with pkg-config; configures a project that takes Articula by FetchContent, and builds one of its files.
# Arguments: BUILD, SOURCE, WORK, COMPILER.
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "${ARGV}\n${output}")
  endif()
  set(output ${output} PARENT_SCOPE)
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/consumer -B ${WORK}/build -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=${FLAGS}
    -DEXAMPLES=${SOURCE}/examples)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/first_steps ${WORK}/prefix/share/articula/models/arm7.urdf)
message("${output}")
string(REGEX MATCHALL ": -?[0-9]" lines "${output}")
list(LENGTH lines count)
if(NOT count EQUAL 7)
  message(FATAL_ERROR "expected seven joint accelerations, got: ${output}")
endif()

set(ENV{PKG_CONFIG_PATH} ${WORK}/prefix/lib/pkgconfig:$ENV{PKG_CONFIG_PATH})
run(sh -c "${COMPILER} ${FLAGS} '${SOURCE}/examples/first_steps.cpp' -o '${WORK}/by_pkg_config' $(pkg-config --static --cflags --libs articula)")
run(${WORK}/by_pkg_config ${WORK}/prefix/share/articula/models/arm7.urdf)

# By FetchContent: the library alone, without its tests, program and install rules.
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/fetching -B ${WORK}/fetching -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_BUILD_TYPE=Release -DFETCHCONTENT_SOURCE_DIR_ARTICULA=${SOURCE} -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/fetching --target help)
if(output MATCHES "articula_tests|articula_program|articula_bench")
  message(FATAL_ERROR "a project that fetches Articula gets more than the library: ${output}")
endif()
run(${CMAKE_COMMAND} --build ${WORK}/fetching --target CMakeFiles/mine.dir/main.cpp.o)
