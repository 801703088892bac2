// The kernels are compiled once for each instruction set, each time in a namespace of its own.
#pragma once

#ifndef ARTICULA_ISA
#define ARTICULA_ISA portable
#endif
