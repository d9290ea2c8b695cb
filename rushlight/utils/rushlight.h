// rushlight.h: rushlight's interface for operators in C++. In PyTorch this is ATen.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace rl {

enum class dtype : int32_t { bool_, uint8, int32, int64, float16, float32, float64, bfloat16, int8, int16 };

inline const char* name_of(dtype type) {
  const char* names[] = {"Bool", "Byte", "Int", "Long", "Half", "Float", "Double", "BFloat16", "Char", "Short"};
  return names[static_cast<int>(type)];
}

// A tensor: a pointer to its first element, its sizes, and its strides in elements. It owns no memory.
struct Tensor {
  void* data;
  const int64_t* sizes;
  const int64_t* strides;
  int32_t ndim;
  rl::dtype type;
  int64_t id;  // the tensor's index on the Python side

  int64_t dim() const { return ndim; }
  rl::dtype dtype() const { return type; }
  int64_t size(int64_t dim) const { return sizes[wrap(dim)]; }
  int64_t stride(int64_t dim) const { return strides[wrap(dim)]; }
  int64_t numel() const {
    int64_t product = 1;
    for (int32_t d = 0; d < ndim; d++) product *= sizes[d];
    return product;
  }
  int64_t wrap(int64_t dim) const {
    if (dim < -ndim || dim >= ndim) throw std::out_of_range("Dimension out of range");
    return dim < 0 ? dim + ndim : dim;
  }
};

// Error checks. Python raises RuntimeError; NotImplemented becomes NotImplementedError, std::out_of_range IndexError.
struct NotImplemented : std::runtime_error {
  using std::runtime_error::runtime_error;
};
#define CHECK(condition, message) \
  if (!(condition)) throw std::runtime_error(message)

// A new tensor with contiguous strides. Python owns its memory, which is uninitialized.
using Allocate = void (*)(const int64_t* sizes, int64_t ndim, int32_t type, Tensor* out);
static thread_local Allocate allocate = nullptr;
inline Tensor empty(const std::vector<int64_t>& sizes, dtype type) {
  Tensor out;
  allocate(sizes.data(), static_cast<int64_t>(sizes.size()), static_cast<int32_t>(type), &out);
  CHECK(out.id >= 0, "empty: not enough memory for a tensor of these sizes");
  return out;
}
inline Tensor empty_like(const Tensor& x) { return empty({x.sizes, x.sizes + x.ndim}, x.type); }

// The memory of a tensor, if its elements are of type T.
template <class T>
T* data_ptr(const Tensor& x) {
  using U = std::remove_const_t<T>;
  const dtype type = std::is_same_v<U, bool>      ? dtype::bool_
                     : std::is_same_v<U, uint8_t> ? dtype::uint8
                     : std::is_same_v<U, int32_t> ? dtype::int32
                     : std::is_same_v<U, int64_t> ? dtype::int64
                     : std::is_same_v<U, float>   ? dtype::float32
                                                  : dtype::float64;
  CHECK(x.type == type, std::string("expected scalar type ") + name_of(type) + " but found " + name_of(x.type));
  return static_cast<T*>(x.data);
}

// The elements of a tensor with N dimensions: x[i][j]. Indices are not checked.
template <class T, int N>
struct Accessor {
  T* data;
  const int64_t* sizes;
  const int64_t* strides;
  explicit Accessor(const Tensor& x) : Accessor(data_ptr<T>(x), x.sizes, x.strides) {
    CHECK(x.ndim == N, "Accessor: wrong number of dimensions");
  }
  Accessor(T* data, const int64_t* sizes, const int64_t* strides) : data(data), sizes(sizes), strides(strides) {}
  int64_t size(int64_t dim) const { return sizes[dim]; }
  int64_t stride(int64_t dim) const { return strides[dim]; }
  decltype(auto) operator[](int64_t i) const {
    if constexpr (N == 1) return (data[i * strides[0]]);
    else return Accessor<T, N - 1>(data + i * strides[0], sizes + 1, strides + 1);
  }
};

// A tensor with at least one dimension, as rows along the last dimension: element j of row i is at row(i)[j * stride].
// The rows are numbered in row-major order of the other dimensions.
template <class T>
struct Rows {
  const Tensor& x;
  T* data;
  int64_t count, size, stride;
  explicit Rows(const Tensor& x) : x(x), data(data_ptr<T>(x)), count(1), size(x.size(-1)), stride(x.stride(-1)) {
    for (int32_t d = 0; d + 1 < x.ndim; d++) count *= x.sizes[d];
  }
  int64_t grain() const { return 1 + 32768 / (size + 1); }  // the smallest number of rows worth a thread
  T* row(int64_t i) const {
    T* start = data;
    for (int32_t d = x.ndim - 2; d >= 0; d--) {
      start += i % x.sizes[d] * x.strides[d];
      i /= x.sizes[d];
    }
    return start;
  }
};

// DISPATCH_FLOATING(x.dtype(), "name", [&] { ... scalar_t ... }): compile the body once per dtype, and run the one for x's.
#define CASE(TYPE, T, ...)      \
  case rl::dtype::TYPE: {       \
    using scalar_t = T;         \
    return __VA_ARGS__();       \
  }
#define SWITCH(TYPE, NAME, CASES)                                                                               \
  [&] {                                                                                                         \
    switch (TYPE) {                                                                                             \
      CASES default : throw rl::NotImplemented(std::string("\"") + NAME + "\" not implemented for '" +          \
                                               rl::name_of(TYPE) + "'");                                        \
    }                                                                                                           \
  }()
#define FLOATING_CASES(...) CASE(float32, float, __VA_ARGS__) CASE(float64, double, __VA_ARGS__)
#define INTEGRAL_CASES(...) \
  CASE(uint8, uint8_t, __VA_ARGS__) CASE(int32, int32_t, __VA_ARGS__) CASE(int64, int64_t, __VA_ARGS__)
#define DISPATCH_FLOATING(TYPE, NAME, ...) SWITCH(TYPE, NAME, FLOATING_CASES(__VA_ARGS__))
#define DISPATCH_ALL(TYPE, NAME, ...) SWITCH(TYPE, NAME, FLOATING_CASES(__VA_ARGS__) INTEGRAL_CASES(__VA_ARGS__))

// Call f(begin, end) on parts of the range, on several threads. A part smaller than `grain` gets no thread of its own.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  const int64_t most = std::thread::hardware_concurrency(), wanted = (end - begin) / (grain > 0 ? grain : 1);
  const int64_t threads = wanted < most ? wanted : most;
  if (threads <= 1) {
    if (begin < end) f(begin, end);
    return;
  }
  std::vector<std::thread> others;
  std::vector<std::exception_ptr> errors(threads);
  auto part = [&](int64_t t) {
    try {
      f(begin + (end - begin) * t / threads, begin + (end - begin) * (t + 1) / threads);
    } catch (...) {
      errors[t] = std::current_exception();
    }
  };
  for (int64_t t = 1; t < threads; t++) others.emplace_back(part, t);
  part(0);
  for (auto& other : others) other.join();
  for (auto& error : errors)
    if (error) std::rethrow_exception(error);
}

// Python calls every operator in the same way, boxed, with an array of values. OPERATOR unboxes them.
struct Value {
  Tensor tensor;
  double number;
  int64_t integer;
};
template <class T> struct Unbox;
template <> struct Unbox<Tensor> { static Tensor from(const Value& v) { return v.tensor; } };
template <> struct Unbox<double> { static double from(const Value& v) { return v.number; } };
template <> struct Unbox<int64_t> { static int64_t from(const Value& v) { return v.integer; } };
template <> struct Unbox<bool> { static bool from(const Value& v) { return v.integer != 0; } };

template <auto F> struct Boxed;
template <class... Args, Tensor (*F)(Args...)>
struct Boxed<F> {
  template <size_t... I>
  static Tensor unbox(const Value* stack, std::index_sequence<I...>) {
    return F(Unbox<std::decay_t<Args>>::from(stack[I])...);
  }
  static Tensor call(const Value* stack) { return unbox(stack, std::index_sequence_for<Args...>{}); }
};

struct Operator {
  const char* schema;
  Tensor (*call)(const Value*);
};
// static: each library has its own list, although all include this header
static std::vector<Operator>& operators() {
  static std::vector<Operator> all;
  return all;
}
#define OPERATOR(function, schema) \
  static const bool registered_##function = (rl::operators().push_back({schema, rl::Boxed<&function>::call}), true);

}  // namespace rl

extern "C" int64_t rushlight_count() { return static_cast<int64_t>(rl::operators().size()); }
extern "C" const char* rushlight_schema(int64_t i) { return rl::operators()[i].schema; }
extern "C" int rushlight_call(int64_t i, const rl::Value* stack, rl::Allocate allocate, rl::Tensor* out, char* why) {
  rl::allocate = allocate;
  try {
    *out = rl::operators()[i].call(stack);
    return 0;
  } catch (const rl::NotImplemented& error) {
    std::snprintf(why, 500, "%s", error.what());
    return 2;
  } catch (const std::out_of_range& error) {
    std::snprintf(why, 500, "%s", error.what());
    return 3;
  } catch (const std::exception& error) {
    std::snprintf(why, 500, "%s", error.what());
    return 1;
  }
}
