// Runs the program through a shell in a folder of its own, as a user does.
// Knows exit codes and text, and nothing of what lies behind them.
#pragma once
#include <filesystem>
#include <string>

namespace locus::test {

struct Finished {
  int exit = -1;  ///< 124: it did not end within 20 seconds
  double seconds = 0;
  std::string out, err;
};

/// A fresh folder below the build folder with the files that all cases use: d.csv, smooth.locus, pair.locus.
std::filesystem::path fresh_folder(const std::string& name);

/// `command` is a shell's; `locus` in it is the built program.
Finished execute(const std::string& command, const std::filesystem::path& folder);

std::string contents(const std::filesystem::path& path);

}  // namespace locus::test
