// Prints the last of its arguments, names of instruction sets, that this machine runs.
#include <cstdio>

#include "articula/kernels/processor.hpp"
int main(int count, char** names) {
  const char* best = "";
  for (int i = 1; i < count; ++i)
    if (articula::machine_runs(names[i])) best = names[i];
  std::fputs(best, stdout);
}
