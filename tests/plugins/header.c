/* Compiled as C11 with all warnings as errors: the contract must stand alone in C. The sizes let C++ check that it sees the same structs. */
#include "plugins/abi/locus_plugin.h"

size_t locus_sizes_in_c[] = {sizeof(locus_host),    sizeof(locus_tensor), sizeof(locus_expr),   sizeof(locus_estimate), sizeof(locus_reduce),
                             sizeof(locus_program), sizeof(locus_kernel), sizeof(locus_report), sizeof(locus_backend),  sizeof(locus_plugin)};
