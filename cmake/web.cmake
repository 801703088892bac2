# The page of `--report` and `articula view`: made from web/ by Vite into one HTML file, which becomes a string in
# the library. Without Node.js the library is built all the same; asking it for a page is then a clear error.
set(ARTICULA_WEB AUTO CACHE STRING "Build the report page: AUTO (if Node.js 18 or newer and npm are there), ON, OFF")
set_property(CACHE ARTICULA_WEB PROPERTY STRINGS AUTO ON OFF)
find_program(ARTICULA_NODE NAMES node nodejs)
find_program(ARTICULA_NPM npm)
set(ARTICULA_HAS_WEB OFF)
if(ARTICULA_WEB AND ARTICULA_NODE AND ARTICULA_NPM)
  execute_process(COMMAND ${ARTICULA_NODE} --version OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
  if(node_version MATCHES "^v([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 18)
    set(ARTICULA_HAS_WEB ON)
  endif()
endif()
set(web ${CMAKE_CURRENT_SOURCE_DIR}/web)
set(web_missing "Node.js 18 or newer with npm was not found")
if(ARTICULA_HAS_WEB)
  # The packages are installed in web/node_modules once for all build folders, and again only if the lock file changes.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web}/package-lock.json)
  execute_process(COMMAND ${CMAKE_COMMAND} -DWEB=${web} -DNPM=${ARTICULA_NPM}
                          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/npm_ci.cmake RESULT_VARIABLE failed)
  if(failed)
    set(ARTICULA_HAS_WEB OFF)
    set(web_missing "its npm packages could not be installed (the first build needs the network)")
  endif()
endif()
if(NOT ARTICULA_HAS_WEB AND ARTICULA_WEB STREQUAL "ON")
  message(FATAL_ERROR "ARTICULA_WEB=ON, but ${web_missing}")
endif()

set(web_build ${CMAKE_CURRENT_BINARY_DIR}/web)
set(ARTICULA_PAGE_SOURCE ${web_build}/page_text.cpp)
if(ARTICULA_HAS_WEB)
  file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.css)
  add_custom_command(
    OUTPUT ${web_build}/page/index.html
    COMMAND ${ARTICULA_NODE} ${web}/node_modules/vite/bin/vite.js build --logLevel warn --emptyOutDir
            --outDir ${web_build}/page
    WORKING_DIRECTORY ${web}
    DEPENDS ${web}/package-lock.json ${web_sources} ${web}/index.html ${web}/vite.config.ts ${web}/package.json
    COMMENT "Building the report page" VERBATIM)
  add_custom_command(
    OUTPUT ${ARTICULA_PAGE_SOURCE}
    COMMAND ${ARTICULA_NODE} ${web}/tools/embed.mjs ${web_build}/page/index.html ${ARTICULA_PAGE_SOURCE}
    DEPENDS ${web_build}/page/index.html ${web}/tools/embed.mjs
    COMMENT "Embedding the report page" VERBATIM)
else()
  if(ARTICULA_WEB)
    message(WARNING "building without the report page: ${web_missing}")
  endif()
  set(ARTICULA_PAGE_SOURCE ${web_build}/no_page.cpp)
  file(CONFIGURE OUTPUT ${ARTICULA_PAGE_SOURCE} CONTENT
       "#include \"articula/report/page.hpp\"\nnamespace articula {\nstd::string_view page_template() { return {}; }\n}\n")
endif()
