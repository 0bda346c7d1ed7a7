// Its entry throws, which no C++ plugin may let out.
#include <stdexcept>
#include "plugins/abi/locus_plugin.h"

extern "C" LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host*) { throw std::runtime_error("no licence"); }
