/* Calls a function that nothing defines. */
#include "plugins/abi/locus_plugin.h"

int locus_defined_nowhere(void);

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return locus_defined_nowhere() ? NULL : NULL;
}
