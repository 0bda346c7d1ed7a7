// The one list of passes; see passes.hpp.
#include "core/passes/passes.hpp"

namespace locus::passes {

const std::vector<Pass>& order() {
  static const std::vector<Pass> all = {{"lift", lift},           {"unswitch", unswitch},   {"append", append}, {"remove_dead", remove_dead}, {"sink_maps", sink_maps},
                                        {"fuse_siblings", fuse_siblings}, {"log_domain", log_domain}, {"reassociate", reassociate}, {"hoist", hoist}, {"remove_dead", remove_dead}};
  return all;
}

}  // namespace locus::passes
