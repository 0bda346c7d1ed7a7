// Its query throws something that is not a std::exception.
#include "plugins/abi/locus_plugin.h"

#if defined(__SANITIZE_ADDRESS__)
static constexpr char sanitizer[] = "address";
#elif defined(__SANITIZE_THREAD__)
static constexpr char sanitizer[] = "thread";
#else
static constexpr char sanitizer[] = "";
#endif
static const void* query(const char*) { throw 42; }
static const locus_plugin plugin = {sizeof(locus_plugin), LOCUS_ABI, "throwing_query", "1", sanitizer, query};

extern "C" LOCUS_EXPORT const locus_plugin* locus_plugin_entry(const locus_host*) { return &plugin; }
