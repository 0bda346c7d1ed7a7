// The whole-array functions of the C table, on host memory. Knows nothing of graphs and backends.
#pragma once
#include "core/base/array.hpp"
#include "plugins/abi/locus_plugin.h"

namespace locus {

/// Runs a whole-array function (enum locus_array_function). LOCUS_OK; LOCUS_FAULT if an index lies outside; LOCUS_FAILED if shapes or parameters do not
/// fit; LOCUS_UNSUPPORTED for an unknown function; LOCUS_OUT_OF_MEMORY. Real arrays may differ in precision. Any thread.
int array_function(std::uint32_t function, std::uint32_t inputs, const locus_host_array* input, std::uint32_t outputs, locus_host_array* output,
                   std::uint32_t parameters, const double* parameter);

}  // namespace locus
