// Feeds every file of the given folders to a fuzz target once, without a fuzzer: what was found before must stay mended.
// Knows nothing of the target but libFuzzer's entry.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** folders) {
  std::size_t files = 0;
  for (int k = 1; k < count; ++k)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folders[k])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(in)), {});
      std::cout << entry.path().filename().string() << std::endl;  // flushed: a crash leaves the name of its file as the last line
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
  std::cout << files << " files\n";
  return files > 0 ? 0 : 1;
}
