// Its exit code is this machine's x86-64 level.
#include "articula/kernels/processor.hpp"
int main() { return articula::x86_64_level(); }
