/* Its entry refuses to work with this host. */
#include "plugins/abi/locus_plugin.h"

LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host* host) {
  (void)host;
  return NULL;
}
