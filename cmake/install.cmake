# What is installed, as find_package(articula) and pkg-config find it, and the packages that `make package` makes of it:
# the components are one Debian package each.
include(CMakePackageConfigHelpers)
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/articula)
install(TARGETS articula EXPORT articula-targets
        LIBRARY COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE COMPONENT development)
file(STRINGS cmake/private_headers.txt patterns REGEX "^articula")
set(private "")
foreach(pattern IN LISTS patterns)
  file(GLOB found ${pattern})
  foreach(header IN LISTS found)
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${header})
    list(APPEND private REGEX "${name}$" EXCLUDE)
  endforeach()
endforeach()
install(DIRECTORY articula DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp"
        ${private})
install(EXPORT articula-targets NAMESPACE articula:: DESTINATION ${config} COMPONENT development)
configure_package_config_file(cmake/articula-config.cmake.in articula-config.cmake INSTALL_DESTINATION ${config})
write_basic_package_version_file(articula-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/articula-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/articula-config-version.cmake
        DESTINATION ${config} COMPONENT development)

# pkg-config: what a static library leaves to the final link is private to a shared one.
if(BUILD_SHARED_LIBS)
  set(ARTICULA_PC_PRIVATE "")
else()
  set(ARTICULA_PC_PRIVATE "-ltinyxml2 -lfmt ${ARTICULA_SUNDIALS} ${ARTICULA_HDF5_LIBRARY} -ldl -lstdc++ -lm -lpthread")
  string(REPLACE ";" " " ARTICULA_PC_PRIVATE "${ARTICULA_PC_PRIVATE}")
endif()
file(RELATIVE_PATH ARTICULA_PC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/articula.pc.in articula.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/articula.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

if(ARTICULA_BUILD_CLI)
  install(TARGETS articula_program COMPONENT program)
  install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/articula COMPONENT program)
  # Completion and manual are what the program says of itself.
  set(said ${CMAKE_CURRENT_BINARY_DIR}/said)
  add_custom_command(OUTPUT ${said}/articula ${said}/_articula ${said}/articula.fish ${said}/articula.1.gz
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${said}
                     COMMAND articula_program completion bash > ${said}/articula
                     COMMAND articula_program completion zsh > ${said}/_articula
                     COMMAND articula_program completion fish > ${said}/articula.fish
                     COMMAND articula_program completion man > ${said}/articula.1
                     COMMAND gzip -9nf ${said}/articula.1
                     DEPENDS articula_program VERBATIM)
  add_custom_target(articula_said ALL DEPENDS ${said}/articula)
  install(FILES ${said}/articula DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  install(FILES ${said}/_articula DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
  install(FILES ${said}/articula.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
  install(FILES ${said}/articula.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
else()
  install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/articula COMPONENT development)
endif()

if(PROJECT_IS_TOP_LEVEL)
  include(cmake/package.cmake)
endif()
