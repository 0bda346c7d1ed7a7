// What the one who runs is told where the device fails: a software driver is neither lost nor short of memory when a test wants it.
#include "backends/vulkan/words.hpp"
#include <catch2/catch.hpp>
#include <string>

using namespace locus::vulkan;

TEST_CASE("want of memory names what was asked, is free, is there, is held and may be had at once") {
  constexpr std::uint64_t gib = 1u << 30;
  CHECK(no_memory_words(20 * gib, {5 * gib, 16 * gib, 3 * gib, 12 * gib}, "") ==
        "the device has no memory for 20 GiB: 5120 MiB of its 16 GiB are free, 3072 MiB are this process's, and it gives at most 12 GiB at once");
}

TEST_CASE("a lost device is one clear sentence") {
  CHECK(std::string(words_of(VK_ERROR_DEVICE_LOST)) ==
        "the device was lost: its driver was reset or ended the work; run again, on other data of less size if it happens again, or with `--backend cpu`");
}
