// `locus run`: a hierarchy of a spec on data, results to files.
// Must not know the language, file formats and backends: it only calls them in order.
#include <fstream>
#include <iostream>
#include "host/engine.hpp"
#include "host/progress.hpp"
#include "host/request.hpp"
#include "host/results.hpp"
#include "host/trace.hpp"
#include "plugins/host/host_services.hpp"

namespace locus::host {
namespace {

/// " (GeForce …)" where a backend has a device with a driver; the processor needs no mention.
std::string device_of(const LoadedBackend& backend) {
  std::uint32_t count = 0;
  locus_device device{};
  if (backend.backend->devices(1, &device, &count) != LOCUS_OK || count == 0 || !device.driver || !*device.driver) return "";
  return std::string(" (") + device.name + ')';
}

void header(const Chosen& chosen, const Session& session, const LoadedBackend& backend) {
  if (session.common.quiet) return;
  const unsigned threads = host_services().threads();
  std::cerr << "locus: " << chosen.hierarchy.name << " on " << backend.name << device_of(backend) << ", " << name_of(session.common.dtype) << ", " << threads
            << (threads == 1 ? " thread" : " threads") << ", seed " << session.common.seed << '\n';
  for (const std::string& formula : formulas(chosen, session.sources)) std::cerr << "  " << formula << '\n';
}

/// One more value of the result that is followed: as text where an alphabet says how, else a line of numbers.
void stream(const Array& entry, const std::optional<Alphabet>& alphabet) {
  if (alphabet && entry.dtype() == Dtype::int64) {
    std::cout << alphabet->text(entry) << std::flush;
    return;
  }
  for (std::int64_t k = 0; k < entry.count(); ++k) std::cout << (k ? " " : "") << number_text(entry, k);
  std::cout << std::endl;
}

void run_chosen(const Chosen& chosen, Session& session) {
  if (!check_names(chosen, false, session.diagnostics)) return;
  const auto destination = read_destination(chosen, session.diagnostics);
  if (!destination) return;
  const LoadedBackend* backend = session.choose_backend();
  if (!backend) return;
  auto data = read_data(chosen, session);
  if (!data) return;
  header(chosen, session, *backend);
  RunOptions options;
  options.backend = backend->backend;
  options.real = session.common.dtype;
  options.memory = session.common.memory;
  std::string trace;
  if (chosen.line.has("profile"))
    options.profile = [&](const graph::Graph& g, const std::vector<NodeTime>& times) { trace = trace_text(g, times, backend->name + device_of(*backend), options.real); };
  if (chosen.line.has("stream")) {
    data->request.follow = true;
    options.follow = [&](std::int64_t, const Array& entry) { stream(entry, data->alphabet); };
  }
  std::optional<Outcome> outcome;
  {
    const Progress progress(session.common.quiet);
    outcome = run_request(chosen.spec, data->request, options, session.sources, session.diagnostics);
  }
  if (!outcome) return;
  for (const std::string& note : outcome->notes) session.note(note);
  if (data->request.follow && data->alphabet) std::cout << std::endl;
  if (!data->request.follow || !destination->targets.empty() || !destination->folder.empty()) write_outcome(*outcome, *destination, *data, session);
  if (trace.empty()) return;
  const std::string path = chosen.line.value("profile");
  std::ofstream out(path);
  out << trace;
  out.close();
  if (!out) session.diagnostics.add({Code::E430, {}, "cannot write '" + path + "'", "", {}, "name a file in a folder that can be written: `--profile trace.json`", "--profile"});
}

int run_run(const CommandLine& line) {
  Session session(line);
  if (!session.open()) return session.finish();
  if (const auto chosen = choose_hierarchy(session)) run_chosen(*chosen, session);
  return session.finish();
}

}  // namespace

Command run_command() {
  return {"run", "SPEC [HIERARCHY] [--NAME FILE | --NAME VALUE ...] [-o FILE | -o NAME=FILE | --out DIR]", "run a hierarchy of a spec on data",
          "Inputs and settings go by the names that the spec gives them: --x data.csv:age,dose --y data.csv:price --h 0.5,1.0 --query grid.npy.\n"
          "FILE is a table (.csv, .tsv; columns behind a colon), a .npy array, or - for standard input. SPEC may be - too.\n"
          "Where the spec gives an input the name of an option, the input has it; the option is then written --locus-NAME.",
          1, 2,
          {{"output", "FILE", "write the first result, or with NAME=FILE that one: .npy, .csv, .tsv, - for standard output", "", true, 'o'},
           {"out", "DIR", "write every result into this folder"},
           {"format", "KIND", "of files in --out: npy (the default) or csv", "csv"},
           {"weights", "FILE", "learnt parameters: .safetensors, .npz or a folder of .npy"},
           {"alphabet", "FILE", "characters in the order of the numbers they stand for, or the word bytes: inputs of integers may then be given as text:WORDS", "bytes"},
           {"stream", "", "print the first result that is a `path` of a loop while the loop runs: a line for each turn, or characters of the alphabet"},
           {"profile", "FILE", "write how long each node took, for chrome://tracing or Perfetto", "trace.json"}},
          {"backend", "threads", "dtype", "seed", "memory", "missing", "header", "delimiter", "status", "plugin", "quiet", "verbose"}, true, run_run};
}

}  // namespace locus::host
