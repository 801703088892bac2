# Installs web/node_modules as the lock file says, unless that has been done: then nothing is asked of the network.
# -DWEB=folder -DNPM=npm -DSTAMP=file that tells the build it is done
file(SHA256 ${WEB}/package-lock.json wanted)
set(mark ${WEB}/node_modules/.articula-installed)
file(MAKE_DIRECTORY ${WEB}/node_modules)
file(LOCK ${WEB}/node_modules.lock GUARD PROCESS TIMEOUT 600)  # two build folders at once
set(installed "")
if(EXISTS ${mark})
  file(READ ${mark} installed)
endif()
if(NOT installed STREQUAL wanted)
  execute_process(COMMAND ${NPM} ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
                  WORKING_DIRECTORY ${WEB} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "npm ci failed in web/: the first build needs the network for the report page's packages.\n"
                        "To build without the page: cmake -DARTICULA_WEB=OFF")
  endif()
  file(WRITE ${mark} ${wanted})
endif()
file(TOUCH ${STAMP})
