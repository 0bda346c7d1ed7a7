/* Does not export the entry. */
#include "plugins/abi/locus_plugin.h"

LOCUS_EXPORT int locus_plugin_other(void) { return 0; }
