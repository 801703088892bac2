# The kernels' texts as strings of the library, for GPUs (articula/cuda): the header of device programs and all that it
# includes. As a module: adds the source; as a script (-DOUTPUT=.. -DSOURCE=..): writes it.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  set(pending articula/cuda/device_prelude.hpp articula/cuda/device_kernel.hpp)
  # Made for each program, or with nothing that a device needs: see articula/cuda/program.cpp.
  set(done articula/cuda/device_tables.hpp articula/spatial/aligned.hpp articula/model/model.hpp)
  set(body "")
  while(pending)
    list(POP_FRONT pending name)
    if(name IN_LIST done)
      continue()
    endif()
    list(APPEND done ${name})
    file(READ ${SOURCE}/${name} text)
    string(REGEX MATCHALL "#include \"articula/[a-z0-9_/]+\\.hpp\"" includes "${text}")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "#include \"(.*)\"" "\\1" include "${include}")
      list(APPEND pending ${include})
    endforeach()
    string(APPEND body "    {\"${name}\", R\"articula(${text})articula\"},\n")
  endwhile()
  file(WRITE ${OUTPUT}.new "#include \"articula/cuda/texts.hpp\"\nnamespace articula::cuda {\nstd::span<const Text> texts() {\n  static constexpr Text all[] = {\n${body}  };\n  return all;\n}\n}\n")
  file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
  file(REMOVE ${OUTPUT}.new)
  return()
endif()

file(GLOB ARTICULA_DEVICE_TEXTS CONFIGURE_DEPENDS articula/kernels/*.hpp articula/spatial/*.hpp articula/model/*.hpp
     articula/cuda/*.hpp)
set(ARTICULA_CUDA_TEXTS ${CMAKE_CURRENT_BINARY_DIR}/cuda_texts.cpp)
add_custom_command(
  OUTPUT ${ARTICULA_CUDA_TEXTS}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DOUTPUT=${ARTICULA_CUDA_TEXTS}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/cuda_texts.cmake
  DEPENDS ${ARTICULA_DEVICE_TEXTS} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/cuda_texts.cmake
  COMMENT "Embedding the kernels' texts for GPUs" VERBATIM)
set_source_files_properties(${ARTICULA_CUDA_TEXTS} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
