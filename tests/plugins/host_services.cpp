// The services that plugins get: the cut of parallel_for, its threads, its failures; log, progress, array functions.
#include "plugins/host/host_services.hpp"
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

using namespace locus;

namespace {

struct Cuts {
  std::mutex lock;
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
};

std::vector<std::pair<std::int64_t, std::int64_t>> cuts(HostServices& services, std::int64_t count, std::int64_t grain) {
  Cuts seen;
  const locus_host* host = services.table();
  host->parallel_for(
      host->context, count, grain,
      [](void* argument, std::int64_t begin, std::int64_t end) {
        auto& list = *static_cast<Cuts*>(argument);
        const std::lock_guard guard(list.lock);
        list.all.emplace_back(begin, end);
      },
      &seen);
  std::sort(seen.all.begin(), seen.all.end());
  return seen.all;
}

}  // namespace

TEST_CASE("parallel_for cuts by count and grain alone, whatever the threads") {
  HostServices services;
  for (const unsigned threads : {1u, 2u, 7u}) {
    services.use_threads(threads);
    CHECK(services.table()->threads(services.table()->context) == threads);
    CHECK(cuts(services, 10, 4) == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 4}, {4, 8}, {8, 10}});
    CHECK(cuts(services, 0, 4).empty());
    CHECK(cuts(services, 3, 100) == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 3}});
    CHECK(cuts(services, INT64_MAX, INT64_MAX - 1).back() == std::pair<std::int64_t, std::int64_t>{INT64_MAX - 1, INT64_MAX});
    const auto many = cuts(services, 1000, 7);
    REQUIRE(many.size() == 143);
    for (std::size_t k = 0; k < many.size(); ++k)
      CHECK(many[k] ==
            std::pair<std::int64_t, std::int64_t>(7 * static_cast<std::int64_t>(k), std::min<std::int64_t>(1000, 7 * static_cast<std::int64_t>(k) + 7)));
  }
}

TEST_CASE("parallel_for returns when all chunks are done") {
  HostServices services;
  services.use_threads(4);
  const locus_host* host = services.table();
  std::atomic<std::int64_t> sum{0};
  for (int turn = 0; turn < 50; ++turn) {
    sum = 0;
    host->parallel_for(
        host->context, 10000, 3,
        [](void* argument, std::int64_t begin, std::int64_t end) {
          for (std::int64_t k = begin; k < end; ++k) *static_cast<std::atomic<std::int64_t>*>(argument) += k;
        },
        &sum);
    REQUIRE(sum == 49995000);
  }
}

TEST_CASE("a body that throws is a failure to be asked for, not an exception") {
  HostServices services;
  const locus_host* host = services.table();
  for (const unsigned threads : {1u, 3u}) {
    services.use_threads(threads);
    host->parallel_for(
        host->context, 100, 1,
        [](void*, std::int64_t begin, std::int64_t) {
          if (begin == 40) throw std::runtime_error("row 40");
        },
        nullptr);
    CHECK(services.take_failure() == "the body of a plugin's parallel_for threw: row 40");
    CHECK(services.take_failure().empty());
  }
}

TEST_CASE("log lines are kept in order until they are taken") {
  HostServices services;
  const locus_host* host = services.table();
  host->log(host->context, 0, "first");
  host->log(host->context, 1, "second");
  const auto lines = services.take_log();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].text == "first");
  CHECK(lines[1].level == 1);
  CHECK(services.take_log().empty());
}

TEST_CASE("progress asks the hook whether to stop") {
  HostServices services;
  const locus_host* host = services.table();
  CHECK(host->progress(host->context, 1, 10) == 0);
  double seen = 0;
  services.use_progress([&](double done, double total) {
    seen = done;
    return done * 2 > total;
  });
  CHECK(host->progress(host->context, 3, 10) == 0);
  CHECK(host->progress(host->context, 6, 10) != 0);
  CHECK(seen == 6);
  services.use_progress({});
  CHECK(host->progress(host->context, 9, 10) == 0);
  services.use_progress([](double, double) -> bool { throw std::runtime_error("terminal gone"); });
  CHECK(host->progress(host->context, 1, 10) != 0);
  CHECK(services.take_failure() == "the progress hook threw: terminal gone");
}

TEST_CASE("array functions are those that were hooked in") {
  HostServices services;
  const locus_host* host = services.table();
  const auto call = [&](std::uint32_t function) { return host->array_function(host->context, function, 0, nullptr, 0, nullptr, 0, nullptr); };
  CHECK(call(3) == LOCUS_UNSUPPORTED);
  services.use_array_function(
      [](std::uint32_t function, std::uint32_t, const locus_host_array*, std::uint32_t, locus_host_array*, std::uint32_t, const double*) -> int {
        if (function == 1) throw std::bad_alloc();
        if (function == 2) throw std::runtime_error("odd");
        return LOCUS_OK;
      });
  CHECK(call(0) == LOCUS_OK);
  CHECK(call(1) == LOCUS_OUT_OF_MEMORY);
  CHECK(call(2) == LOCUS_FAILED);
  CHECK(services.take_failure() == "an array function failed: odd");
}
