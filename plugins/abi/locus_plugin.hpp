// What a C++ backend may include instead of the C header: the validated program, the driver, and the value of scalar ops. Optional: the C header alone is the
// contract.
#pragma once
#include "plugins/abi/driver.hpp"
#include "plugins/abi/locus_plugin.h"
#include "plugins/abi/program.hpp"
#include "plugins/abi/read_program.hpp"
#include "plugins/abi/scalar.hpp"
