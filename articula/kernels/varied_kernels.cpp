// The kernels of batch_kernels.cpp once more, the model's constants being lanes as everything else: states
// whose masses and inertias differ (Batch::vary). A file of its own, so that builds make both at once.
#define ARTICULA_VARIED_KERNELS
#include "articula/kernels/batch_kernels.cpp"
