// The one header that a plugin needs, seen from C11 and from C++.
#include <catch2/catch.hpp>
#include <iterator>
#include "plugins/abi/locus_plugin.h"

extern "C" std::size_t locus_sizes_in_c[];

TEST_CASE("the header gives C and C++ the same structs") {
  const std::size_t here[] = {sizeof(locus_host),    sizeof(locus_tensor), sizeof(locus_expr),   sizeof(locus_estimate), sizeof(locus_reduce),
                              sizeof(locus_program), sizeof(locus_kernel), sizeof(locus_report), sizeof(locus_backend),  sizeof(locus_plugin)};
  for (std::size_t k = 0; k < std::size(here); ++k) CHECK(here[k] == locus_sizes_in_c[k]);
}

TEST_CASE("the numbers of the ABI do not move") {  // rows may only be added at the end
  CHECK(LOCUS_ABI == 1);
  CHECK(LOCUS_neg == 32);
  CHECK(LOCUS_select == 72);
  CHECK(LOCUS_ARRAY_COPY == 18);
  CHECK(LOCUS_EFFECTIVE == 13);
}
