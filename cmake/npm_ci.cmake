# Installs web/node_modules as the lock file says, unless that has been done: then nothing is asked of the network.
# -DWEB=folder -DNPM=npm
file(SHA256 ${WEB}/package-lock.json wanted)
set(mark ${WEB}/node_modules/.articula-installed)
file(MAKE_DIRECTORY ${WEB}/node_modules)
file(LOCK ${WEB}/node_modules.lock GUARD PROCESS TIMEOUT 600)  # two build folders at once
set(installed "")
if(EXISTS ${mark})
  file(READ ${mark} installed)
endif()
if(NOT installed STREQUAL wanted)
  # Node.js brings its own list of authorities; the machine's may have more.
  set(authorities /etc/ssl/certs/ca-certificates.crt)
  if(NOT DEFINED ENV{NODE_EXTRA_CA_CERTS} AND EXISTS ${authorities})
    set(ENV{NODE_EXTRA_CA_CERTS} ${authorities})
  endif()
  execute_process(COMMAND ${NPM} ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
                  WORKING_DIRECTORY ${WEB} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "npm ci failed in web/")
  endif()
  file(WRITE ${mark} ${wanted})
endif()
