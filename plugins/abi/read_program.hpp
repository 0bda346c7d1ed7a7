// C++ sugar for backends, part two: from a C table to an owning copy in which everything holds. A backend that starts from read_program() need check
// no id, range, type or bound again. Knows the C header only.
#pragma once
#include "plugins/abi/program.hpp"

namespace locus::plugin {

namespace detail {

class Reader {
 public:
  Reader(const locus_program* source, Refusal* refusal) : in_(source), refusal_(refusal), program_(std::make_unique<Program>()), p_(*program_) {}

  std::unique_ptr<Program> read() {
    if (!copy() || !check_tensors() || !check_coordinates() || !check_kernels() || !check_exprs() || !check_nodes()) return nullptr;
    return std::move(program_);
  }

 private:
  static constexpr std::int64_t largest = std::int64_t{1} << 48;  // entries of a tensor, extents, strides: products of two stay within 128 bits
  using Ids = std::span<const std::uint32_t>;

  bool fail(std::string text) {
    refusal_->text = std::move(text);
    refusal_->node = node_;
    return false;
  }
  bool fail(const char* what, std::size_t index, const char* why) { return fail(std::string(what) + " " + std::to_string(index) + ": " + why); }

  template <class T>
  bool take(std::vector<T>& to, const T* from, std::uint32_t count, const char* what) {
    if (count != 0 && from == nullptr) return fail(std::string(what) + ": a count without an array");
    if (count > (1u << 28)) return fail(std::string(what) + ": too many");
    to.assign(from, from + count);
    return true;
  }

  bool copy() {
    if (in_ == nullptr || in_->size < offsetof(locus_program, slab_bytes) + sizeof in_->slab_bytes)
      return fail("the program is smaller than this backend needs");
    p_.real = in_->real, p_.main_count = in_->main_count, p_.buffer_count = in_->buffer_count, p_.slab_bytes = in_->slab_bytes;
    if (p_.real != LOCUS_FLOAT32 && p_.real != LOCUS_FLOAT64) return fail("real is neither float32 nor float64");
    if (p_.slab_bytes > (std::uint64_t{1} << 60)) return fail("the slab is too large");
    return copy_tensors() && take(p_.coordinates, in_->coordinates, in_->coordinate_count, "coordinates") &&
           take(p_.exprs, in_->exprs, in_->expr_count, "expressions") && take(p_.strides, in_->strides, in_->stride_count, "strides") &&
           take(p_.lists, in_->lists, in_->list_count, "lists") && take(p_.numbers, in_->numbers, in_->number_count, "numbers") &&
           take(p_.maps, in_->maps, in_->map_count, "maps") && take(p_.linears, in_->linears, in_->linear_count, "linears") &&
           take(p_.reduces, in_->reduces, in_->reduce_count, "reduces") && take(p_.estimates, in_->estimates, in_->estimate_count, "estimates") &&
           take(p_.gathers, in_->gathers, in_->gather_count, "gathers") && take(p_.iterates, in_->iterates, in_->iterate_count, "iterates") &&
           take(p_.arrays, in_->arrays, in_->array_count, "arrays") && take(p_.kernels, in_->kernels, in_->kernel_count, "kernels") &&
           take(p_.nodes, in_->nodes, in_->node_count, "nodes");
  }

  // Tensors carry their own size: a host that is newer steps through them in larger strides.
  bool copy_tensors() {
    if (in_->tensor_count == 0) return true;
    if (in_->tensors == nullptr) return fail("tensors: a count without an array");
    if (in_->tensor_count > (1u << 28)) return fail("tensors: too many");
    const std::uint32_t size = in_->tensors->size;
    if (size < offsetof(locus_tensor, name) + sizeof(const char*) || size > (1u << 16)) return fail("tensor 0: smaller than this backend needs");
    p_.tensors.resize(in_->tensor_count);
    for (std::size_t t = 0; t < p_.tensors.size(); ++t) {
      std::memcpy(&p_.tensors[t], reinterpret_cast<const std::byte*>(in_->tensors) + t * size, std::min<std::size_t>(size, sizeof(locus_tensor)));
      if (p_.tensors[t].size != size) return fail("tensor", t, "has another size than the first");
    }
    return true;
  }

  void own_name(const char*& name) { name = p_.names.emplace_back(name ? name : "").c_str(); }

  bool check_tensors() {
    std::vector<bool> taken;
    if (p_.buffer_count > (1u << 28)) return fail("too many buffers");
    taken.assign(p_.buffer_count, false);
    for (std::size_t t = 0; t < p_.tensors.size(); ++t) {
      locus_tensor& tensor = p_.tensors[t];
      if (tensor.dtype > LOCUS_FLOAT64) return fail("tensor", t, "unknown dtype");
      if (tensor.rank > LOCUS_MAX_RANK) return fail("tensor", t, "too many dims");
      if (tensor.place > LOCUS_PLACE_CONSTANT) return fail("tensor", t, "unknown place");
      std::int64_t n = 1;
      bool empty = false;
      for (std::uint32_t k = 0; k < tensor.rank; ++k) {
        if (tensor.dims[k] < 0 || tensor.dims[k] > largest) return fail("tensor", t, "a dim out of range");
        empty = empty || tensor.dims[k] == 0;
      }
      for (std::uint32_t k = 0; k < tensor.rank && !empty; ++k)
        if (__builtin_mul_overflow(n, tensor.dims[k], &n) || n > largest) return fail("tensor", t, "too many entries");
      if (!check_place(t)) return false;
      if (tensor.place == LOCUS_PLACE_INPUT || tensor.place == LOCUS_PLACE_OUTPUT) {
        if (taken[tensor.where]) return fail("tensor", t, "its buffer is another tensor's too");
        taken[tensor.where] = true;
      }
      own_name(tensor.name);
    }
    return true;
  }

  bool check_place(std::size_t t) {
    locus_tensor& tensor = p_.tensors[t];
    const std::uint64_t bytes = p_.bytes(static_cast<std::uint32_t>(t));
    if (tensor.place == LOCUS_PLACE_SLAB) {
      if (tensor.where % 64 != 0) return fail("tensor", t, "its place in the slab is not a multiple of 64");
      if (tensor.where > p_.slab_bytes || bytes > p_.slab_bytes - tensor.where) return fail("tensor", t, "reaches beyond the slab");
    } else if (tensor.place == LOCUS_PLACE_CONSTANT) {
      if (bytes != 0 && tensor.data == nullptr) return fail("tensor", t, "a constant without data");
      std::vector<std::byte>& own = p_.constants.emplace_back(bytes);
      if (bytes != 0) std::memcpy(own.data(), tensor.data, bytes);
      tensor.data = own.data();
    } else if (tensor.where >= p_.buffer_count) {
      return fail("tensor", t, "no such buffer");
    }
    return true;
  }

  bool check_coordinates() {
    for (std::size_t c = 0; c < p_.coordinates.size(); ++c) {
      if (p_.coordinates[c].extent < 0 || p_.coordinates[c].extent > largest) return fail("coordinate", c, "extent out of range");
      own_name(p_.coordinates[c].name);
    }
    return true;
  }

  bool check_kernels() {
    for (std::size_t k = 0; k < p_.kernels.size(); ++k) {
      locus_program_kernel& use = p_.kernels[k];
      if (use.kernel == nullptr) return fail("kernel", k, "missing");
      if (use.setting_count != use.kernel->setting_count || (use.setting_count != 0 && use.settings == nullptr))
        return fail("kernel", k, "wrong number of settings");
      use.settings = p_.settings.emplace_back(use.settings, use.settings + use.setting_count).data();
    }
    return true;
  }

  // -- expressions
  static std::uint32_t arity_of(const locus_expr& e) {
    static constexpr std::uint8_t arity[] = {
#define LOCUS_OP(name, arity, rule, low, high, text) arity,
#include "plugins/abi/locus_ops.def"
#undef LOCUS_OP
    };
    if (e.op > LOCUS_BEFORE_OPS) return arity[e.op - LOCUS_BEFORE_OPS - 1];
    if (e.op <= LOCUS_COORDINATE) return 0;
    if (e.op == LOCUS_CALL) return e.arity >= 1 && e.arity <= 3 ? e.arity : 1;
    return e.op <= LOCUS_MIN_OVER ? 1 : 2;
  }
  static char rule_of(std::uint32_t op) {  // first letter of the rule; to_real: 't'; integer: 'i'
    static constexpr const char* rules[] = {
#define LOCUS_OP(name, arity, rule, low, high, text) #rule,
#include "plugins/abi/locus_ops.def"
#undef LOCUS_OP
    };
    return rules[op - LOCUS_BEFORE_OPS - 1][0];
  }

  bool check_exprs() {
    p_.free.resize(p_.exprs.size());
    for (std::size_t e = 0; e < p_.exprs.size(); ++e)
      if (const char* why = fault_of_expr(e)) return fail("expression", e, why);
    return true;
  }

  const char* fault_of_expr(std::size_t id) {
    locus_expr& e = p_.exprs[id];
    if (e.op >= LOCUS_OP_END || (e.op > LOCUS_CALL && e.op <= LOCUS_BEFORE_OPS)) return "unknown op";
    if (e.type > LOCUS_TYPE_REAL) return "unknown type";
    if (e.arity != arity_of(e)) return "wrong number of arguments";
    for (std::uint32_t k = 0; k < e.arity; ++k)
      if (e.args[k] >= id) return "an argument does not stand before it";
    if (e.op == LOCUS_READ) {
      if (const char* why = fault_of_read(e)) return why;
    } else if (e.op == LOCUS_COORDINATE || bound_by(e) != LOCUS_NONE || (e.op >= LOCUS_SUM_OVER && e.op <= LOCUS_MIN_OVER)) {
      if (e.index >= p_.coordinates.size()) return "no such coordinate";
    } else if (e.op == LOCUS_CALL && e.index >= p_.kernels.size()) {
      return "no such kernel";
    }
    collect_free(id);
    return fault_of_type(e);
  }

  void collect_free(std::size_t id) {
    const locus_expr& e = p_.exprs[id];
    std::vector<std::uint32_t>& all = p_.free[id];
    if (e.op == LOCUS_COORDINATE) all.push_back(e.index);
    if (e.op == LOCUS_READ)
      for (const locus_stride& s : p_.read_strides(e)) all.push_back(s.coordinate);
    for (std::uint32_t k = 0; k < e.arity; ++k) all.insert(all.end(), p_.free[e.args[k]].begin(), p_.free[e.args[k]].end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (bound_by(e) != LOCUS_NONE) std::erase(all, e.index);
  }

  const char* fault_of_read(const locus_expr& e) {
    if (e.index >= p_.tensors.size()) return "no such tensor";
    if (e.first_stride > p_.strides.size() || e.stride_count > p_.strides.size() - e.first_stride) return "strides out of range";
    const auto strides = p_.read_strides(e);
    for (std::size_t k = 0; k < strides.size(); ++k) {
      if (strides[k].coordinate >= p_.coordinates.size()) return "no such coordinate";
      if (k > 0 && strides[k - 1].coordinate >= strides[k].coordinate) return "strides are not sorted by coordinate";
    }
    if (p_.dtype_of(e.type) != p_.tensors[e.index].dtype) return "its type is not the tensor's";
    return within(e.index, e.offset, strides, {}) ? nullptr : "reads outside its tensor";
  }

  struct Run {
    std::int64_t extent, stride;
  };
  // Does offset + sum of stride * index stay inside the tensor? True if nothing is ever read.
  bool within(std::uint32_t tensor, std::int64_t offset, std::span<const locus_stride> strides, std::span<const Run> more) const {
    __int128 low = offset, high = offset;
    const auto extend = [&](std::int64_t extent, std::int64_t stride) {
      const __int128 reach = static_cast<__int128>(stride) * (extent - 1);
      (reach < 0 ? low : high) += reach;
      return extent > 0;
    };
    bool any = true;
    for (const locus_stride& s : strides) any = extend(p_.extent(s.coordinate), s.stride) && any;
    for (const Run& r : more) any = extend(r.extent, r.stride) && any;
    return !any || (low >= 0 && high < p_.count(tensor));
  }

  const char* fault_of_type(const locus_expr& e) {
    const auto type = [&](std::uint32_t k) { return std::uint32_t{p_.exprs[e.args[k]].type}; };
    const auto number = [](std::uint32_t t) { return t >= LOCUS_TYPE_EXACT; };
    const auto alike = [&](std::uint32_t a, std::uint32_t b) { return a == b || (number(a) && number(b)); };
    const std::uint32_t result = e.type;
    if (e.op == LOCUS_CONSTANT) {
      if (result == LOCUS_TYPE_BOOL && e.value != 0 && e.value != 1) return "a bool that is neither 0 nor 1";
      if (result == LOCUS_TYPE_INTEGER && !(e.value == std::floor(e.value) && std::abs(e.value) < 0x1p63)) return "an int that is not whole";
      return nullptr;
    }
    if (e.op == LOCUS_READ) return nullptr;
    if (e.op == LOCUS_COORDINATE) return result == LOCUS_TYPE_INTEGER ? nullptr : "a coordinate is an int";
    if (e.op <= LOCUS_MIN_OVER) return type(0) == result && result != LOCUS_TYPE_BOOL ? nullptr : "its type is not its argument's";
    if (e.op <= LOCUS_CALL) {
      std::uint32_t common = e.op == LOCUS_CALL ? result : std::uint32_t{LOCUS_TYPE_EXACT};
      for (std::uint32_t k = 0; k < e.arity; ++k) {
        if (!number(type(k))) return "takes real numbers";
        common = std::max(common, e.op == LOCUS_CALL ? common : type(k));
      }
      return number(result) && result == common ? nullptr : "its type is not its arguments'";
    }
    const char rule = rule_of(e.op);
    if (rule == 't') return number(result) && result >= type(0) ? nullptr : "its type is not real";
    if (rule == 'l' || rule == 'c') {
      if (result != LOCUS_TYPE_BOOL) return "gives a bool";
      for (std::uint32_t k = 0; k < e.arity; ++k)
        if (rule == 'l' ? type(k) != LOCUS_TYPE_BOOL : !alike(type(0), type(k))) return "its arguments' types do not fit";
      return nullptr;
    }
    const std::uint32_t first = rule == 's' ? 1 : 0;
    if (first == 1 && type(0) != LOCUS_TYPE_BOOL) return "select needs a bool";
    std::uint32_t common = type(first);
    for (std::uint32_t k = first; k < e.arity; ++k) {
      if (!alike(type(k), common) || (rule != 's' && type(k) == LOCUS_TYPE_BOOL)) return "its arguments' types do not fit";
      if (rule == 'r' && !number(type(k))) return "takes real numbers";
      if (rule == 'i' && type(k) != LOCUS_TYPE_INTEGER) return "takes ints";
      common = std::max(common, type(k));
    }
    return result == common ? nullptr : "its type is not its arguments'";
  }

  // -- nodes
  bool in(locus_range r, std::size_t size) const { return r.first <= size && r.count <= size - r.first; }

  // Is the range within `lists` and does it name coordinates, each once and none of `others`?
  bool coordinates(locus_range r, std::initializer_list<Ids> others) const {
    if (!in(r, p_.lists.size()) || r.count > LOCUS_MAX_RANK) return false;
    const Ids ids = p_.list(r);
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (ids[k] >= p_.coordinates.size() || std::find(ids.begin(), ids.begin() + k, ids[k]) != ids.begin() + k) return false;
      for (Ids other : others)
        if (std::find(other.begin(), other.end(), ids[k]) != other.end()) return false;
    }
    return true;
  }

  // An expression over no other coordinates than these, of a type in [low, high].
  bool expression(std::uint32_t e, std::initializer_list<Ids> over, std::uint32_t low, std::uint32_t high) const {
    if (e >= p_.exprs.size() || p_.exprs[e].type < low || p_.exprs[e].type > high) return false;
    return std::all_of(p_.free[e].begin(), p_.free[e].end(), [&](std::uint32_t c) {
      return std::any_of(over.begin(), over.end(), [c](Ids ids) { return std::find(ids.begin(), ids.end(), c) != ids.end(); });
    });
  }

  bool has_dims(std::uint32_t tensor, std::initializer_list<Ids> coordinates_in_order, std::initializer_list<std::int64_t> more = {}) const {
    std::vector<std::int64_t> wanted;
    for (Ids ids : coordinates_in_order)
      for (std::uint32_t c : ids) wanted.push_back(p_.extent(c));
    wanted.insert(wanted.end(), more.begin(), more.end());
    const auto dims = p_.dims(tensor);
    return std::equal(dims.begin(), dims.end(), wanted.begin(), wanted.end());
  }

  bool writable(std::uint32_t t) const {
    return t < p_.tensors.size() && (p_.tensors[t].place == LOCUS_PLACE_OUTPUT || p_.tensors[t].place == LOCUS_PLACE_SLAB);
  }
  bool is_float(std::uint32_t t) const { return p_.tensors[t].dtype >= LOCUS_FLOAT32; }

  bool check_nodes() {
    if (p_.main_count > p_.nodes.size()) return fail("the main list is longer than the list of nodes");
    p_.twin.assign(p_.estimates.size(), LOCUS_NONE);
    std::vector<bool> inside(p_.nodes.size(), false);
    for (std::uint32_t n = 0; n < p_.nodes.size(); ++n) {
      node_ = n;
      const char* why = fault_of_node(p_.nodes[n], inside);
      if (why) return fail(why);
    }
    for (std::uint32_t n = p_.main_count; n < p_.nodes.size(); ++n)
      if (!inside[n]) return node_ = n, fail("stands in no loop and not in the main list");
    node_ = LOCUS_NONE;
    return true;
  }

  const char* fault_of_node(const locus_node& node, std::vector<bool>& inside) {
    const std::size_t counts[] = {0, p_.maps.size(), p_.linears.size(), p_.reduces.size(), p_.gathers.size(), p_.iterates.size(), p_.arrays.size()};
    if (node.kind < LOCUS_MAP || node.kind > LOCUS_ARRAY) return "unknown kind of node";
    if (node.detail >= counts[node.kind]) return "its detail is out of range";
    switch (node.kind) {
      case LOCUS_MAP: return fault_of(p_.maps[node.detail]);
      case LOCUS_LINEAR: return fault_of(p_.linears[node.detail]);
      case LOCUS_REDUCE: return fault_of(p_.reduces[node.detail]);
      case LOCUS_GATHER: return fault_of(p_.gathers[node.detail]);
      case LOCUS_ITERATE: return fault_of(p_.iterates[node.detail], inside);
      default: return fault_of(p_.arrays[node.detail]);
    }
  }

  const char* fault_of(const locus_map& m) {
    if (!coordinates(m.space, {})) return "map: its space is no list of coordinates";
    if (!writable(m.out)) return "map: its output cannot be written";
    const Ids space = p_.list(m.space);
    if (!has_dims(m.out, {space})) return "map: its output has other dims than its space";
    if (!expression(m.value, {space}, LOCUS_TYPE_BOOL, LOCUS_TYPE_REAL)) return "map: its value is no expression over its space";
    const bool number = p_.exprs[m.value].type >= LOCUS_TYPE_EXACT;
    if (number ? !is_float(m.out) : p_.dtype_of(p_.exprs[m.value].type) != p_.tensors[m.out].dtype) return "map: its value has another type than its output";
    return nullptr;
  }

  const char* fault_of(const locus_linear& l) {
    if (!coordinates(l.batch, {})) return "linear: its batch is no list of coordinates";
    if (!writable(l.out) || l.a >= p_.tensors.size() || l.b >= p_.tensors.size()) return "linear: no such tensors";
    if (!is_float(l.out) || !is_float(l.a) || !is_float(l.b)) return "linear: takes real numbers";
    for (std::int64_t n : {l.rows, l.inner, l.columns})
      if (n < 0 || n > largest) return "linear: a size out of range";
    __int128 n = static_cast<__int128>(l.rows) * l.columns;
    for (std::uint32_t c : p_.list(l.batch)) n = n > largest ? n : n * p_.extent(c);
    if (n != p_.count(l.out)) return "linear: its output has another number of entries";
    for (locus_range r : {l.a_batch, l.b_batch}) {
      if (!in(r, p_.strides.size())) return "linear: batch strides out of range";
      for (const locus_stride& s : p_.stride_list(r))
        if (const Ids batch = p_.list(l.batch); std::find(batch.begin(), batch.end(), s.coordinate) == batch.end())
          return "linear: a batch stride over another coordinate";
    }
    if (n == 0) return nullptr;
    const Run a[] = {{l.rows, l.a_row}, {l.inner, l.a_inner}}, b[] = {{l.inner, l.b_inner}, {l.columns, l.b_column}};
    if (!within(l.a, l.a_offset, p_.stride_list(l.a_batch), a) || !within(l.b, l.b_offset, p_.stride_list(l.b_batch), b))
      return "linear: reads outside its operands";
    return nullptr;
  }

  const char* fault_of(const locus_reduce& r) {
    if (!coordinates(r.rows, {})) return "reduce: its rows are no list of coordinates";
    const Ids rows = p_.list(r.rows), sample{&r.sample, 1};
    if (r.sample >= p_.coordinates.size() || std::find(rows.begin(), rows.end(), r.sample) != rows.end())
      return "reduce: its sample is no coordinate of its own";
    for (std::uint32_t e : {r.factor, r.score})
      if (e != LOCUS_NONE && !expression(e, {rows, sample}, LOCUS_TYPE_EXACT, LOCUS_TYPE_REAL))
        return "reduce: its weight is no real expression over rows and sample";
    if (r.where != LOCUS_NONE && !expression(r.where, {rows, sample}, LOCUS_TYPE_BOOL, LOCUS_TYPE_BOOL))
      return "reduce: its mask is no condition over rows and sample";
    if (r.list != LOCUS_NONE) {
      if (r.list >= p_.tensors.size() || p_.tensors[r.list].dtype != LOCUS_INT64 || p_.tensors[r.list].rank == 0)
        return "reduce: its list is no tensor of ints";
      const auto dims = p_.dims(r.list);
      if (!has_dims(r.list, {rows}, {dims.back()})) return "reduce: its list has other dims than its rows";
    }
    if (r.first_estimate > p_.estimates.size() || r.estimate_count > p_.estimates.size() - r.first_estimate) return "reduce: estimates out of range";
    for (std::uint32_t k = 0; k < r.estimate_count; ++k)
      if (const char* why = fault_of(r.first_estimate + k, rows, sample)) return why;
    return nullptr;
  }

  const char* fault_of(std::uint32_t id, Ids rows, Ids sample) {
    const locus_estimate& e = p_.estimates[id];
    if (e.estimator > LOCUS_EFFECTIVE) return "reduce: unknown estimator";
    if (!writable(e.out)) return "reduce: an output cannot be written";
    if (!coordinates(e.features, {rows, sample})) return "reduce: features are no coordinates of their own";
    const Ids features = p_.list(e.features);
    const bool ints = e.estimator == LOCUS_COUNT || e.estimator == LOCUS_NEAREST;
    if (ints ? p_.tensors[e.out].dtype != LOCUS_INT64 : !is_float(e.out)) return "reduce: an output of another dtype";
    const bool valued = e.estimator <= LOCUS_COV || e.estimator == LOCUS_NEAREST;
    if (valued && !expression(e.value, {rows, sample, features}, LOCUS_TYPE_EXACT, LOCUS_TYPE_REAL))
      return "reduce: a value is no real expression over rows, sample and features";
    if (!valued && !features.empty()) return "reduce: features without a value";
    if (e.estimator == LOCUS_QUANTILE && !expression(e.parameter, {rows, features}, LOCUS_TYPE_EXACT, LOCUS_TYPE_REAL))
      return "reduce: a quantile needs a real parameter over rows and features";
    if (e.estimator == LOCUS_COV) return fault_of_cov(id, rows, sample);
    if (e.estimator == LOCUS_GRAM || e.estimator == LOCUS_WEIGHTS)
      return has_dims(e.out, {rows, sample}) ? nullptr : "reduce: a matrix of pairs has other dims";
    if (e.estimator == LOCUS_NEAREST) {
      if (!features.empty()) return "reduce: neighbours have no features";
      if (!expression(e.parameter, {rows}, LOCUS_TYPE_INTEGER, LOCUS_TYPE_INTEGER)) return "reduce: neighbours need an int parameter over rows";
      const auto dims = p_.dims(e.out);
      return !dims.empty() && has_dims(e.out, {rows}, {dims.back()}) ? nullptr : "reduce: a list of neighbours has other dims";
    }
    return has_dims(e.out, {rows, features}) ? nullptr : "reduce: an output has other dims than rows and features";
  }

  const char* fault_of_cov(std::uint32_t id, Ids rows, Ids sample) {
    const locus_estimate& e = p_.estimates[id];
    const Ids features = p_.list(e.features);
    if (features.empty()) return has_dims(e.out, {rows}) ? nullptr : "reduce: a variance has other dims than its rows";
    if (e.second >= p_.exprs.size() || p_.exprs[e.second].type < LOCUS_TYPE_EXACT) return "reduce: cov needs its value over the twin coordinate";
    for (std::uint32_t c : p_.free[e.second]) {
      const auto known = [c](Ids ids) { return std::find(ids.begin(), ids.end(), c) != ids.end(); };
      if (known(rows) || known(sample) || known(features.first(features.size() - 1))) continue;
      if (p_.twin[id] != LOCUS_NONE || c == features.back()) return "reduce: cov's second value is over other coordinates than one twin";
      p_.twin[id] = c;
    }
    const std::int64_t last = p_.extent(features.back());
    if (p_.twin[id] != LOCUS_NONE && p_.extent(p_.twin[id]) != last) return "reduce: cov's twin coordinate has another extent";
    return has_dims(e.out, {rows, features}, {last}) ? nullptr : "reduce: a covariance has other dims";
  }

  const char* fault_of(const locus_gather& g) {
    if (!coordinates(g.space, {})) return "gather: its space is no list of coordinates";
    if (!writable(g.out) || g.table >= p_.tensors.size() || p_.tensors[g.out].dtype != p_.tensors[g.table].dtype) return "gather: its tensors do not fit";
    const Ids space = p_.list(g.space);
    if (!has_dims(g.out, {space})) return "gather: its output has other dims than its space";
    if (!in(g.strides, p_.strides.size()) || !in(g.indices, p_.lists.size()) || g.indices.count % 3 != 0) return "gather: lists out of range";
    for (const locus_stride& s : p_.stride_list(g.strides))
      if (std::find(space.begin(), space.end(), s.coordinate) == space.end()) return "gather: a stride over another coordinate";
    const Ids triples = p_.list(g.indices);
    std::vector<Run> runs;
    for (std::size_t k = 0; k < triples.size(); k += 3) {
      if (!expression(triples[k], {space}, LOCUS_TYPE_INTEGER, LOCUS_TYPE_INTEGER)) return "gather: an index is no int expression over its space";
      if (triples[k + 1] >= p_.numbers.size() || triples[k + 2] >= p_.numbers.size()) return "gather: numbers out of range";
      const double extent = p_.numbers[triples[k + 1]], stride = p_.numbers[triples[k + 2]];
      if (!(extent >= 0 && extent <= static_cast<double>(largest) && extent == std::floor(extent)) ||
          !(std::abs(stride) <= static_cast<double>(largest) && stride == std::floor(stride)))
        return "gather: an extent or stride is no whole number";
      runs.push_back({static_cast<std::int64_t>(extent), static_cast<std::int64_t>(stride)});
    }
    return within(g.table, g.offset, p_.stride_list(g.strides), runs) ? nullptr : "gather: reads outside its table";
  }

  // Each node behind the main list belongs to one loop that stands before it: then bodies nest, and no loop holds itself.
  const char* fault_of(const locus_iterate& l, std::vector<bool>& inside) {
    if (l.first_node > p_.nodes.size() || l.node_count > p_.nodes.size() - l.first_node) return "loop: its body is out of range";
    if (l.first_node < p_.main_count || l.first_node <= node_) return "loop: its body does not lie behind it";
    for (std::uint32_t n = l.first_node; n < l.first_node + l.node_count; ++n) {
      if (inside[n]) return "loop: its body is another's too";
      inside[n] = true;
    }
    if (l.limit < 0 || l.limit > largest) return "loop: its limit is out of range";
    if (!writable(l.turn) || p_.tensors[l.turn].dtype != LOCUS_INT64 || p_.count(l.turn) != 1) return "loop: its turn is no int";
    if (l.stop != LOCUS_NONE && (l.stop >= p_.tensors.size() || p_.tensors[l.stop].dtype != LOCUS_BOOL || p_.count(l.stop) != 1))
      return "loop: its stop is no bool";
    if (!in(l.carries, p_.lists.size()) || l.carries.count % 3 != 0 || !in(l.paths, p_.lists.size()) || l.paths.count % 2 != 0)
      return "loop: lists out of range";
    const Ids carries = p_.list(l.carries), paths = p_.list(l.paths);
    for (std::size_t k = 0; k < carries.size(); k += 3) {
      if (!writable(carries[k + 1])) return "loop: a state cannot be written";
      for (std::uint32_t t : {carries[k], carries[k + 2]})
        if (t >= p_.tensors.size() || p_.tensors[t].dtype != p_.tensors[carries[k + 1]].dtype || p_.count(t) != p_.count(carries[k + 1]))
          return "loop: a state does not fit its initial or next value";
    }
    for (std::size_t k = 0; k < paths.size(); k += 2) {
      if (paths[k] >= p_.tensors.size() || !writable(paths[k + 1]) || p_.tensors[paths[k]].dtype != p_.tensors[paths[k + 1]].dtype)
        return "loop: a path's tensors do not fit";
      bool state = false;
      for (std::size_t c = 1; c < carries.size(); c += 3) state = state || carries[c] == paths[k];
      if (p_.count(paths[k]) != 0 && static_cast<__int128>(p_.count(paths[k])) * (l.limit + (state ? 1 : 0)) != p_.count(paths[k + 1]))
        return "loop: a path has not one entry for each turn";
    }
    return nullptr;
  }

  const char* fault_of(const locus_array& a) {
    if (a.function > LOCUS_ARRAY_PAIRS_EIGEN) return "array: unknown function";
    if (!in(a.inputs, p_.lists.size()) || !in(a.outputs, p_.lists.size()) || !in(a.parameters, p_.numbers.size())) return "array: lists out of range";
    for (std::uint32_t t : p_.list(a.inputs))
      if (t >= p_.tensors.size()) return "array: no such tensor";
    for (std::uint32_t t : p_.list(a.outputs))
      if (!writable(t)) return "array: an output cannot be written";
    return nullptr;
  }

  const locus_program* in_;
  Refusal* refusal_;
  std::unique_ptr<Program> program_;
  Program& p_;
  std::uint32_t node_ = LOCUS_NONE;
};

}  // namespace detail

/// A deep copy in which all counts, ids, ranges, types and bounds hold, or null and why. What a run must still check: the indices of gathers,
/// the entries of neighbour lists, integer division, and the shapes of whole-array functions (the host's array_function checks these).
inline std::unique_ptr<Program> read_program(const locus_program* program, Refusal* refusal) {
  *refusal = {};
  return detail::Reader(program, refusal).read();
}

}  // namespace locus::plugin
