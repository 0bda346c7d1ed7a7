// Where results go: files as asked for with -o and --out, or a short view on standard output.
// Must not know how they came about.
#pragma once
#include <map>
#include <string>
#include "host/engine.hpp"
#include "host/request.hpp"

namespace locus::host {

/// A place for one result; name "" means the first.
struct Target {
  std::string name, path;
};
/// What -o and --out ask for, checked against the declared results before anything is run (E809).
struct Destination {
  std::vector<Target> targets;
  std::string folder;
  std::string format;  ///< "npy" or "csv": of files in the folder
};
std::optional<Destination> read_destination(const Chosen& chosen, Diagnostics& diagnostics);

/// Writes everything; a line on standard error for each file. False after a message.
bool write_outcome(const Outcome& outcome, const Destination& destination, const Data& data, Session& session);

/// The first rows of a result as a table for people.
std::string view(const Result& result, std::int64_t rows);

}  // namespace locus::host
