# Packages (`make package`): .deb files, one for each component of cmake/install.cmake, and a tarball of all.
set(CPACK_PACKAGE_NAME articula)
set(CPACK_PACKAGE_VENDOR "The Articula developers")
set(CPACK_PACKAGE_CONTACT "The Articula developers <maintainers@articula.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "dynamics of jointed bodies by the spatial operator algebra")
set(CPACK_PACKAGE_DESCRIPTION "Forward and inverse dynamics, mass matrices and their inverses,
linearizations, closed loops and simulation of robots and other jointed
bodies, in time that grows linearly with the number of links.")
set(CPACK_PACKAGE_FILE_NAME articula-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_COMPONENTS_ALL library development program)
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(soname ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libarticula${soname})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libarticula-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libarticula${soname} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME articula)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
endforeach()
string(APPEND CPACK_COMPONENT_LIBRARY_DESCRIPTION "\n.\nThis package has the shared library.")
string(APPEND CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "\n.\nThis package has the headers, for find_package and pkg-config.")
string(APPEND CPACK_COMPONENT_PROGRAM_DESCRIPTION "\n.\nThis package has the program articula and the models shipped with it.")

# Debian wants the license and a list of changes with every package; those of the archives inside come with them.
set(debian ${CMAKE_CURRENT_BINARY_DIR}/debian)
file(WRITE ${debian}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: articula

Files: *
Copyright: 2026 The Articula developers
License: Apache-2.0
 On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.
")
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${debian}/changelog "articula (${PROJECT_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md of the sources.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
execute_process(COMMAND gzip -9nf ${debian}/changelog COMMAND_ERROR_IS_FATAL ANY)
# As Debian wants shared libraries entered; what CPack makes by itself calls ldconfig in scripts instead.
file(WRITE ${debian}/shlibs "libarticula ${soname} libarticula${soname} (>= ${PROJECT_VERSION})\n")
file(WRITE ${debian}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${debian}/shlibs ${debian}/triggers)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES ${debian}/copyright ${debian}/changelog.gz COMPONENT ${component}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  foreach(archive sundials hdf5)
    find_file(ARTICULA_COPYRIGHT_${archive} lib${archive}-dev/copyright PATHS /usr/share/doc ${sundials}/share/doc NO_DEFAULT_PATH)
    if(ARTICULA_COPYRIGHT_${archive})
      install(FILES ${ARTICULA_COPYRIGHT_${archive}} RENAME copyright.${archive} COMPONENT ${component}
              DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    endif()
  endforeach()
endforeach()
include(CPack)
