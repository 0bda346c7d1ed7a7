// The layout of a text for Graphviz; see hierarchy.hpp. The only user of libgvc.
#include <gvc.h>
#include "host/hierarchy.hpp"

namespace locus::host {

std::string svg_of_dot(const std::string& dot) {
  GVC_t* context = gvContext();
  Agraph_t* graph = agmemread(dot.c_str());
  char* text = nullptr;
  unsigned size = 0;
  gvLayout(context, graph, "dot");
  gvRenderData(context, graph, "svg", &text, &size);
  std::string svg(text, size);
  gvFreeRenderData(text);
  gvFreeLayout(context, graph);
  agclose(graph);
  gvFreeContext(context);
  return svg;
}

}  // namespace locus::host
