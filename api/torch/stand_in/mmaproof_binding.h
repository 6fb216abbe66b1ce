// Stand-in for pybind11: functions of an extension, called with Python's objects.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include "mmaproof_tensor.h"

namespace mmaproof {
struct Call {
  std::vector<PyObject*> positional;
  std::map<std::string, PyObject*> named;
};
using Function = std::function<PyObject*(const Call&)>;
void define(const char* name, Function function);

template <typename T> struct type_tag {};
inline at::Tensor from(type_tag<at::Tensor>, PyObject* given) {
  if (is_none(given)) throw std::runtime_error("None for a torch::Tensor: incompatible function arguments");
  return at::Tensor(share(given));
}
inline std::string from(type_tag<std::string>, PyObject* given) { return as_text(given); }
inline bool from(type_tag<bool>, PyObject* given) { return as_bool(given); }
inline at::ScalarType from(type_tag<at::ScalarType>, PyObject* given) {
  std::vector<PyObject*> one{given};
  Reference name(ask("name_of_dtype", one));
  return at::scalar_type_named(as_text(name.object));
}
template <typename T> std::enable_if_t<std::is_integral_v<T>, T> from(type_tag<T>, PyObject* given) {
  return static_cast<T>(as_int(given));
}
template <typename T> std::enable_if_t<std::is_floating_point_v<T>, T> from(type_tag<T>, PyObject* given) {
  return static_cast<T>(as_double(given));
}
template <typename T> std::vector<T> from(type_tag<std::vector<T>>, PyObject* given) {
  std::vector<T> made;
  for (PyObject* each : items(given)) {
    Reference held(each);
    made.push_back(from(type_tag<T>{}, each));
  }
  return made;
}
inline at::IntArrayRef from(type_tag<at::IntArrayRef>, PyObject* given) {
  return at::IntArrayRef(from(type_tag<std::vector<int64_t>>{}, given));
}
template <typename T> std::optional<T> from(type_tag<std::optional<T>>, PyObject* given) {
  if (is_none(given)) return std::nullopt;
  return from(type_tag<T>{}, given);
}
inline PyObject* to(const at::Tensor& tensor) { return tensor.self.object ? share(tensor.self.object) : none(); }
inline PyObject* to(bool value) { return of_bool(value); }
inline PyObject* to(const std::string& value) { return of_text(value.c_str()); }
template <typename T> std::enable_if_t<std::is_integral_v<T>, PyObject*> to(T value) { return of_int(value); }
template <typename T> std::enable_if_t<std::is_floating_point_v<T>, PyObject*> to(T value) { return of_double(value); }
template <typename T> PyObject* to(const std::vector<T>& list) {
  std::vector<PyObject*> made;
  for (const T& each : list) made.push_back(to(each));
  return list_of(made);
}
inline PyObject* as_tuple(std::vector<PyObject*> made) {
  Reference list(list_of(made));
  std::vector<PyObject*> one{list.object};
  return ask("as_tuple", one);
}
template <typename... T> PyObject* to(const std::tuple<T...>& values) {
  return as_tuple(std::apply([](const auto&... each) { return std::vector<PyObject*>{to(each)...}; }, values));
}
template <typename T, typename U> PyObject* to(const std::pair<T, U>& values) {
  return as_tuple({to(values.first), to(values.second)});
}

struct Argument {
  std::string name;
  std::shared_ptr<at::Arguments> value;  // the default, if there is one
  explicit Argument(const char* given) : name(given) {}
  Argument& noconvert() { return *this; }
  Argument& none(bool = true) { return *this; }
  template <typename T> Argument operator=(const T& given) const {
    Argument made(*this);
    made.value = std::make_shared<at::Arguments>();
    made.value->add(given);
    return made;
  }
};
inline void note(std::vector<Argument>& into, const Argument& given) { into.push_back(given); }
template <typename T> void note(std::vector<Argument>&, const T&) {}

inline PyObject* argument(const Call& call, size_t place, const std::vector<Argument>& names) {
  if (place < call.positional.size()) return call.positional[place];
  if (place < names.size()) {
    auto given = call.named.find(names[place].name);
    if (given != call.named.end()) return given->second;
    if (names[place].value) return names[place].value->values.at(0);
  }
  throw std::runtime_error("an argument is missing: number " + std::to_string(place + 1));
}
template <typename R, typename... A, size_t... I>
PyObject* invoked(const std::function<R(A...)>& function, const Call& call, const std::vector<Argument>& names,
                  std::index_sequence<I...>) {
  if (call.positional.size() > sizeof...(A)) throw std::runtime_error("too many arguments");
  if constexpr (std::is_void_v<R>) {
    function(from(type_tag<std::decay_t<A>>{}, argument(call, I, names))...);
    return none();
  } else {
    return to(function(from(type_tag<std::decay_t<A>>{}, argument(call, I, names))...));
  }
}
template <typename R, typename... A>
void define_function(const char* name, std::function<R(A...)> function, std::vector<Argument> names) {
  define(name, [=](const Call& call) { return invoked(function, call, names, std::index_sequence_for<A...>{}); });
}
struct Module {
  template <typename F, typename... E> Module& def(const char* name, F function, const E&... extras) {
    std::vector<Argument> names;
    (note(names, extras), ...);
    define_function(name, std::function(function), names);
    return *this;
  }
  std::string text;
  std::string& doc() { return text; }
};
struct Registered { explicit Registered(void (*function)(Module&)); };
}  // namespace mmaproof

namespace pybind11 {
using module = mmaproof::Module;
using module_ = mmaproof::Module;
using arg = mmaproof::Argument;
struct gil_scoped_release {};
struct gil_scoped_acquire {};
inline std::nullopt_t none() { return std::nullopt; }
template <typename T> struct call_guard {};
namespace literals {
inline mmaproof::Argument operator""_a(const char* name, size_t) { return mmaproof::Argument(name); }
}
}  // namespace pybind11
namespace py = pybind11;

#define PYBIND11_MODULE(name, variable)                            \
  static void mmaproof_module(::mmaproof::Module&);                \
  static ::mmaproof::Registered mmaproof_registered(&mmaproof_module); \
  static void mmaproof_module([[maybe_unused]] ::mmaproof::Module& variable)
