// The entry of every test program. Built once and without optimisation: it is most of what Catch2 costs.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
