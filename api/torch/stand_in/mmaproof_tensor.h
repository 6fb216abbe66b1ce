// Stand-in for PyTorch's extension headers: every tensor is a Python object, and every operation on one a call of
// Python, where a recorder sees it. Nothing here has data: addresses are made up.
#pragma once
#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#ifndef MMAPROOF_FEW_HEADERS  // compilers take most of their time for what hardly any extension needs
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#endif
#include <cuda_runtime.h>

struct _object;
typedef struct _object PyObject;

namespace mmaproof {
// Implemented in mmaproof_python.cpp, so that files for nvcc need no headers of Python.
PyObject* share(PyObject*);
void release(PyObject*);
PyObject* of_int(long long);
PyObject* of_double(double);
PyObject* of_bool(bool);
PyObject* of_text(const char*);
PyObject* none();
PyObject* list_of(const std::vector<PyObject*>&);
long long as_int(PyObject*);
double as_double(PyObject*);
bool as_bool(PyObject*);
std::string as_text(PyObject*);
std::vector<PyObject*> items(PyObject*);
bool is_none(PyObject*);
PyObject* call_method(PyObject*, const char*, const std::vector<PyObject*>&, PyObject* options);
PyObject* call_function(const char*, const std::vector<PyObject*>&, PyObject* options);
PyObject* ask(const char*, const std::vector<PyObject*>&);  // of mmaproof's own calls
PyObject* attribute(PyObject*, const char*);
long long stream_made(bool non_blocking);
PyObject* options_of(const char* dtype, const char* device, PyObject* former);

struct Reference {
  PyObject* object = nullptr;
  Reference() = default;
  explicit Reference(PyObject* taken) : object(taken) {}
  Reference(const Reference& other) : object(other.object ? share(other.object) : nullptr) {}
  Reference(Reference&& other) noexcept : object(other.object) { other.object = nullptr; }
  Reference& operator=(Reference other) { std::swap(object, other.object); return *this; }
  ~Reference() { if (object) release(object); }
};
struct PythonError : std::exception {};  // Python holds the error
}  // namespace mmaproof

namespace at {
enum class ScalarType : int8_t {
  Byte = 0, Char = 1, Short = 2, Int = 3, Long = 4, Half = 5, Float = 6, Double = 7,
  ComplexHalf = 8, ComplexFloat = 9, ComplexDouble = 10, Bool = 11, BFloat16 = 15,
  Float8_e5m2 = 23, Float8_e4m3fn = 24, Undefined = 45
};
inline const char* toString(ScalarType type) {
  switch (type) {
    case ScalarType::Byte: return "uint8";
    case ScalarType::Char: return "int8";
    case ScalarType::Short: return "int16";
    case ScalarType::Int: return "int32";
    case ScalarType::Long: return "int64";
    case ScalarType::Half: return "float16";
    case ScalarType::Float: return "float32";
    case ScalarType::Double: return "float64";
    case ScalarType::Bool: return "bool";
    case ScalarType::BFloat16: return "bfloat16";
    case ScalarType::Float8_e5m2: return "float8_e5m2";
    case ScalarType::Float8_e4m3fn: return "float8_e4m3fn";
    default: return "undefined";
  }
}
template <typename Stream> Stream& operator<<(Stream& out, ScalarType type) { out << toString(type); return out; }
inline ScalarType scalar_type_named(const std::string& name) {
  for (int code = 0; code < 45; ++code)
    if (name == toString(static_cast<ScalarType>(code))) return static_cast<ScalarType>(code);
  return ScalarType::Undefined;
}
inline size_t elementSize(ScalarType type) {
  switch (type) {
    case ScalarType::Byte: case ScalarType::Char: case ScalarType::Bool:
    case ScalarType::Float8_e5m2: case ScalarType::Float8_e4m3fn: return 1;
    case ScalarType::Short: case ScalarType::Half: case ScalarType::BFloat16: return 2;
    case ScalarType::Int: case ScalarType::Float: return 4;
    default: return 8;
  }
}
constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte, kChar = ScalarType::Char,
    kInt8 = ScalarType::Char, kShort = ScalarType::Short, kInt16 = ScalarType::Short, kInt = ScalarType::Int,
    kInt32 = ScalarType::Int, kLong = ScalarType::Long, kInt64 = ScalarType::Long, kHalf = ScalarType::Half,
    kFloat16 = ScalarType::Half, kFloat = ScalarType::Float, kFloat32 = ScalarType::Float,
    kDouble = ScalarType::Double, kFloat64 = ScalarType::Double, kBool = ScalarType::Bool,
    kBFloat16 = ScalarType::BFloat16;

enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
using DeviceIndex = int8_t;
struct Device {
  DeviceType kind;
  DeviceIndex number;
  Device(DeviceType type, DeviceIndex index = -1) : kind(type), number(index) {}
  Device(const std::string& name) : kind(name.rfind("cuda", 0) == 0 ? kCUDA : kCPU), number(-1) {}
  bool is_cuda() const { return kind == kCUDA; }
  bool is_cpu() const { return kind == kCPU; }
  DeviceType type() const { return kind; }
  DeviceIndex index() const { return number < 0 ? 0 : number; }
  bool operator==(const Device& other) const { return kind == other.kind && index() == other.index(); }
  bool operator!=(const Device& other) const { return !(*this == other); }
  std::string str() const { return kind == kCUDA ? "cuda" : "cpu"; }
};
template <typename Stream> Stream& operator<<(Stream& out, const Device& device) { out << device.str(); return out; }

struct IntArrayRef : std::vector<int64_t> {
  using std::vector<int64_t>::vector;
  IntArrayRef(const std::vector<int64_t>& values) : std::vector<int64_t>(values) {}
  IntArrayRef(int64_t value) : std::vector<int64_t>(1, value) {}
  std::vector<int64_t> vec() const { return *this; }
  IntArrayRef slice(size_t first, size_t count) const {
    return IntArrayRef(std::vector<int64_t>(begin() + first, begin() + first + count));
  }
  IntArrayRef slice(size_t first) const { return slice(first, size() - first); }
};
using OptionalIntArrayRef = std::optional<IntArrayRef>;

#define MMAPROOF_BOTH __host__ __device__ inline
inline unsigned bits_of(float value) { unsigned bits; std::memcpy(&bits, &value, 4); return bits; }
inline unsigned short as_half(float value) {  // rounded to nearest, ties to even
  unsigned sign = bits_of(value) >> 16 & 0x8000, bits = bits_of(value) & 0x7fffffff;
  if (bits > 0x7f800000) return sign | 0x7e00;
  if (bits >= 0x477ff000) return sign | 0x7c00;
  if (bits < 0x38800000) return sign | (bits_of(std::fabs(value) + 0.5f) - 0x3f000000);
  return sign | (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
}
inline float of_half(unsigned short bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = exponent == 31 ? (fraction ? NAN : INFINITY)
                               : std::ldexp(exponent ? fraction + 1024.0f : fraction, (exponent ? exponent : 1) - 25);
  return bits & 0x8000 ? -value : value;
}
inline unsigned short as_bfloat(float value) {
  unsigned bits = bits_of(value);
  return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
inline float of_bfloat(unsigned short bits) {
  unsigned wide = static_cast<unsigned>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
struct alignas(2) Half {
  unsigned short x;
  Half() = default;
  MMAPROOF_BOTH Half(float value) {
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x) : "f"(value));
#else
    x = as_half(value);
#endif
  }
  MMAPROOF_BOTH operator float() const {
#ifdef __CUDA_ARCH__
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x));
    return value;
#else
    return of_half(x);
#endif
  }
};
struct alignas(2) BFloat16 {
  unsigned short x;
  BFloat16() = default;
  MMAPROOF_BOTH BFloat16(float value) {
#ifdef __CUDA_ARCH__
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(value));
#else
    x = as_bfloat(value);
#endif
  }
  MMAPROOF_BOTH operator float() const {
#ifdef __CUDA_ARCH__
    return __uint_as_float(static_cast<unsigned>(x) << 16);
#else
    return of_bfloat(x);
#endif
  }
};
// As PyTorch has them: computed in float, and rounded.
#define MMAPROOF_ARITHMETIC(Type)                                                                         \
  MMAPROOF_BOTH Type operator+(Type a, Type b) { return Type(float(a) + float(b)); }                      \
  MMAPROOF_BOTH Type operator-(Type a, Type b) { return Type(float(a) - float(b)); }                      \
  MMAPROOF_BOTH Type operator*(Type a, Type b) { return Type(float(a) * float(b)); }                      \
  MMAPROOF_BOTH Type operator/(Type a, Type b) { return Type(float(a) / float(b)); }                      \
  MMAPROOF_BOTH Type operator-(Type a) { return Type(-float(a)); }                                        \
  MMAPROOF_BOTH Type& operator+=(Type& a, Type b) { a = a + b; return a; }                                \
  MMAPROOF_BOTH Type& operator-=(Type& a, Type b) { a = a - b; return a; }                                \
  MMAPROOF_BOTH Type& operator*=(Type& a, Type b) { a = a * b; return a; }                                \
  MMAPROOF_BOTH float operator+(Type a, float b) { return float(a) + b; }                                 \
  MMAPROOF_BOTH float operator+(float a, Type b) { return a + float(b); }                                 \
  MMAPROOF_BOTH float operator-(Type a, float b) { return float(a) - b; }                                 \
  MMAPROOF_BOTH float operator-(float a, Type b) { return a - float(b); }                                 \
  MMAPROOF_BOTH float operator*(Type a, float b) { return float(a) * b; }                                 \
  MMAPROOF_BOTH float operator*(float a, Type b) { return a * float(b); }                                 \
  MMAPROOF_BOTH float operator/(Type a, float b) { return float(a) / b; }                                 \
  MMAPROOF_BOTH float operator/(float a, Type b) { return a / float(b); }                                 \
  MMAPROOF_BOTH Type operator+(Type a, int b) { return a + Type(float(b)); }                              \
  MMAPROOF_BOTH Type operator*(Type a, int b) { return a * Type(float(b)); }
MMAPROOF_ARITHMETIC(Half)
MMAPROOF_ARITHMETIC(BFloat16)

template <typename T> struct DefaultPtrTraits { typedef T* PtrType; };
template <typename T> struct RestrictPtrTraits { typedef T* __restrict__ PtrType; };

template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits, typename Index = int64_t>
struct TensorAccessor {
  typename Traits<T>::PtrType data_;
  const Index *sizes_, *strides_;
  MMAPROOF_BOTH TensorAccessor(typename Traits<T>::PtrType data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  MMAPROOF_BOTH Index size(Index axis) const { return sizes_[axis]; }
  MMAPROOF_BOTH Index stride(Index axis) const { return strides_[axis]; }
  MMAPROOF_BOTH typename Traits<T>::PtrType data() { return data_; }
  template <size_t M = N> MMAPROOF_BOTH std::enable_if_t<(M > 1), TensorAccessor<T, M - 1, Traits, Index>>
  operator[](Index i) const {
    return TensorAccessor<T, M - 1, Traits, Index>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
  }
  template <size_t M = N> MMAPROOF_BOTH std::enable_if_t<(M == 1), T&> operator[](Index i) const {
    return data_[strides_[0] * i];
  }
};
template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits, typename Index = int64_t>
struct GenericPackedTensorAccessor {
  typename Traits<T>::PtrType data_;
  Index sizes_[N];
  Index strides_[N];
  MMAPROOF_BOTH Index size(Index axis) const { return sizes_[axis]; }
  MMAPROOF_BOTH Index stride(Index axis) const { return strides_[axis]; }
  MMAPROOF_BOTH typename Traits<T>::PtrType data() const { return data_; }
  template <size_t M = N> MMAPROOF_BOTH std::enable_if_t<(M > 1), TensorAccessor<T, M - 1, Traits, Index>>
  operator[](Index i) const {
    return TensorAccessor<T, M - 1, Traits, Index>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
  }
  template <size_t M = N> MMAPROOF_BOTH std::enable_if_t<(M == 1), T&> operator[](Index i) const {
    return data_[strides_[0] * i];
  }
};
template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;
template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, int64_t>;

enum class MemoryFormat { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
inline void require_row_major(MemoryFormat format) {
  if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d) {
    mmaproof::Reference text(mmaproof::of_text("a tensor in channels_last"));
    mmaproof::Reference never(mmaproof::ask("refused", {text.object}));
  }
}
enum class Layout : int8_t { Strided };
constexpr Layout kStrided = Layout::Strided;
struct TensorOptions {
  std::optional<ScalarType> type;
  std::optional<Device> place;
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : type(dtype) {}
  TensorOptions(Device device) : place(device) {}
  TensorOptions(DeviceType device) : place(Device(device)) {}
  TensorOptions dtype(ScalarType value) const { TensorOptions made = *this; made.type = value; return made; }
  TensorOptions device(Device value) const { TensorOptions made = *this; made.place = value; return made; }
  TensorOptions device(DeviceType kind, int index = -1) const { return device(Device(kind, index)); }
  TensorOptions requires_grad(bool) const { return *this; }
  TensorOptions memory_format(MemoryFormat format) const { require_row_major(format); return *this; }
  TensorOptions layout(Layout) const { return *this; }
  TensorOptions pinned_memory(bool) const { return *this; }
  ScalarType dtype() const { return type.value_or(kFloat); }
  Device device() const { return place.value_or(Device(kCPU)); }
};
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device place) { return TensorOptions(place); }

template <typename T> struct type_code;
#define MMAPROOF_CODE(T, Code) template <> struct type_code<T> { static constexpr ScalarType value = ScalarType::Code; };
MMAPROOF_CODE(uint8_t, Byte) MMAPROOF_CODE(int8_t, Char) MMAPROOF_CODE(int16_t, Short) MMAPROOF_CODE(int, Int)
MMAPROOF_CODE(int64_t, Long) MMAPROOF_CODE(long long, Long) MMAPROOF_CODE(float, Float) MMAPROOF_CODE(double, Double)
MMAPROOF_CODE(bool, Bool) MMAPROOF_CODE(Half, Half) MMAPROOF_CODE(BFloat16, BFloat16)

class Tensor;
using mmaproof::Reference;
struct Arguments {
  std::vector<PyObject*> values;
  Reference options;
  ~Arguments() { for (PyObject* each : values) mmaproof::release(each); }
  void add(const TensorOptions& given) {
    options = Reference(mmaproof::options_of(given.type ? toString(*given.type) : nullptr,
                                             given.place ? given.place->str().c_str() : nullptr, options.object));
  }
  void add(long long value) { values.push_back(mmaproof::of_int(value)); }
  void add(long value) { add(static_cast<long long>(value)); }
  void add(int value) { add(static_cast<long long>(value)); }
  void add(unsigned value) { add(static_cast<long long>(value)); }
  void add(unsigned long value) { add(static_cast<long long>(value)); }
  void add(double value) { values.push_back(mmaproof::of_double(value)); }
  void add(float value) { add(static_cast<double>(value)); }
  void add(bool value) { values.push_back(mmaproof::of_bool(value)); }
  void add(const char* value) { values.push_back(mmaproof::of_text(value)); }
  void add(const std::string& value) { add(value.c_str()); }
  void add(std::nullopt_t) { values.push_back(mmaproof::none()); }
  void add(MemoryFormat format) { require_row_major(format); }
  void add(const Device& value) { values.push_back(mmaproof::of_text(value.str().c_str())); }
  void add(DeviceType value) { add(Device(value)); }
  void add(ScalarType value) {
    Arguments name;
    name.add(toString(value));
    values.push_back(mmaproof::ask("dtype_named", name.values));
  }
  void add(const std::vector<int64_t>& list) {
    std::vector<PyObject*> made;
    for (int64_t each : list) made.push_back(mmaproof::of_int(each));
    values.push_back(mmaproof::list_of(made));
  }
  void add(const IntArrayRef& list) { add(static_cast<const std::vector<int64_t>&>(list)); }
  void add(std::initializer_list<int64_t> list) { add(std::vector<int64_t>(list)); }
  void add(const std::vector<Tensor>& list);
  void add(const Tensor& tensor);
  template <typename T> void add(const std::optional<T>& value) { value ? add(*value) : add(std::nullopt); }
};
template <typename... A> void collect(Arguments& into, const A&... given) { (into.add(given), ...); }

using Scalar = double;

// What a tensor's deprecated type() gives: taken for a ScalarType by the macros that dispatch on one.
struct DeprecatedType {
  ScalarType type;
  Device place;
  operator ScalarType() const { return type; }
  ScalarType scalarType() const { return type; }
  bool is_cuda() const { return place.is_cuda(); }
};

class Tensor {
 public:
  Reference self;
  Tensor() = default;
  explicit Tensor(PyObject* taken) : self(taken) {}
  bool defined() const { return self.object && !mmaproof::is_none(self.object); }
  template <typename... A> Reference call(const char* name, const A&... given) const {
    Arguments arguments;
    collect(arguments, given...);
    return Reference(mmaproof::call_method(self.object, name, arguments.values, arguments.options.object));
  }
  Reference asked(const char* name) const {
    std::vector<PyObject*> one{self.object};
    return Reference(mmaproof::ask(name, one));
  }
  int64_t dim() const { return mmaproof::as_int(call("dim").object); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return mmaproof::as_int(call("numel").object); }
  int64_t size(int64_t axis) const { return mmaproof::as_int(call("size", axis).object); }
  int64_t stride(int64_t axis) const { return mmaproof::as_int(call("stride", axis).object); }
  int64_t storage_offset() const { return mmaproof::as_int(call("storage_offset").object); }
  int64_t element_size() const { return mmaproof::as_int(call("element_size").object); }
  int64_t itemsize() const { return element_size(); }
  int64_t nbytes() const { return numel() * element_size(); }
  IntArrayRef list(const char* name) const {
    IntArrayRef found;
    Reference given = call(name);
    for (PyObject* each : mmaproof::items(given.object)) { found.push_back(mmaproof::as_int(each)); mmaproof::release(each); }
    return found;
  }
  IntArrayRef sizes() const { return list("size"); }
  IntArrayRef strides() const { return list("stride"); }
  bool is_contiguous() const { return mmaproof::as_bool(call("is_contiguous").object); }
  bool is_contiguous(MemoryFormat format) const {
    require_row_major(format);
    return is_contiguous();
  }
  bool is_floating_point() const { return mmaproof::as_bool(call("is_floating_point").object); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool requires_grad() const { return false; }
  bool is_same(const Tensor& other) const { return self.object == other.self.object; }
  Device device() const { return Device(mmaproof::as_text(asked("device_of").object)); }
  int64_t get_device() const { return 0; }
  ScalarType scalar_type() const { return scalar_type_named(mmaproof::as_text(asked("dtype_of").object)); }
  ScalarType dtype() const { return scalar_type(); }
  DeprecatedType type() const { return {scalar_type(), device()}; }
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
  void* data_ptr() const { return reinterpret_cast<void*>(mmaproof::as_int(asked("address_of").object)); }
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <typename T> T* data_ptr() const {
    check_type<std::remove_const_t<T>>();
    return reinterpret_cast<T*>(data_ptr());
  }
  template <typename T> T* data() const { return data_ptr<T>(); }
  template <typename T> const T* const_data_ptr() const { return data_ptr<T>(); }
  template <typename T> T* mutable_data_ptr() const { return data_ptr<T>(); }
  template <typename T, size_t N, template <typename U> class Traits, typename Index>
  GenericPackedTensorAccessor<T, N, Traits, Index> packed() const {
    if (dim() != static_cast<int64_t>(N)) throw std::runtime_error("packed_accessor of another number of axes");
    check_type<T>();
    GenericPackedTensorAccessor<T, N, Traits, Index> made;
    made.data_ = reinterpret_cast<T*>(data_ptr());
    IntArrayRef extents = sizes(), steps = strides();
    for (size_t axis = 0; axis < N; ++axis) { made.sizes_[axis] = extents[axis]; made.strides_[axis] = steps[axis]; }
    return made;
  }
  template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits>
  GenericPackedTensorAccessor<T, N, Traits, int32_t> packed_accessor32() const { return packed<T, N, Traits, int32_t>(); }
  template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits>
  GenericPackedTensorAccessor<T, N, Traits, int64_t> packed_accessor64() const { return packed<T, N, Traits, int64_t>(); }
  template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits, typename Index = int64_t>
  GenericPackedTensorAccessor<T, N, Traits, Index> packed_accessor() const { return packed<T, N, Traits, Index>(); }
  template <typename T> T item() const { return static_cast<T>(mmaproof::as_double(call("item").object)); }
  Scalar item() const { return mmaproof::as_double(call("item").object); }
  Tensor operator[](int64_t index) const { return Tensor(take(call("__getitem__", index))); }
  static PyObject* take(Reference made) { PyObject* object = made.object; made.object = nullptr; return object; }
#define MMAPROOF_METHOD(name)                                                                     \
  template <typename... A> Tensor name(const A&... given) const { return Tensor(take(call(#name, given...))); }
#define MMAPROOF_LIST_METHOD(name)                                                                \
  MMAPROOF_METHOD(name)                                                                           \
  template <typename... A> Tensor name(std::initializer_list<int64_t> first, const A&... given) const { \
    return Tensor(take(call(#name, std::vector<int64_t>(first), given...)));                      \
  }
  MMAPROOF_METHOD(to) MMAPROOF_METHOD(cuda) MMAPROOF_METHOD(cpu) MMAPROOF_METHOD(clone) MMAPROOF_METHOD(detach)
  MMAPROOF_METHOD(t) MMAPROOF_METHOD(transpose) MMAPROOF_METHOD(unsqueeze) MMAPROOF_METHOD(flatten)
  MMAPROOF_METHOD(select) MMAPROOF_METHOD(narrow) MMAPROOF_METHOD(contiguous)
  MMAPROOF_METHOD(zero_) MMAPROOF_METHOD(fill_) MMAPROOF_METHOD(copy_) MMAPROOF_METHOD(add_) MMAPROOF_METHOD(mul_)
  MMAPROOF_METHOD(sub_) MMAPROOF_METHOD(div_) MMAPROOF_METHOD(add) MMAPROOF_METHOD(sub) MMAPROOF_METHOD(mul)
  MMAPROOF_METHOD(div) MMAPROOF_METHOD(matmul) MMAPROOF_METHOD(mm) MMAPROOF_METHOD(bmm) MMAPROOF_METHOD(addmm)
  MMAPROOF_METHOD(exp) MMAPROOF_METHOD(log) MMAPROOF_METHOD(sqrt) MMAPROOF_METHOD(rsqrt) MMAPROOF_METHOD(abs)
  MMAPROOF_METHOD(neg) MMAPROOF_METHOD(relu) MMAPROOF_METHOD(sigmoid) MMAPROOF_METHOD(tanh) MMAPROOF_METHOD(pow)
  MMAPROOF_METHOD(clamp) MMAPROOF_METHOD(clamp_min) MMAPROOF_METHOD(clamp_max) MMAPROOF_METHOD(softmax)
  MMAPROOF_METHOD(argmax) MMAPROOF_METHOD(argmin) MMAPROOF_METHOD(cumsum) MMAPROOF_METHOD(type_as)
  MMAPROOF_METHOD(expand_as) MMAPROOF_METHOD(view_as) MMAPROOF_METHOD(reshape_as) MMAPROOF_METHOD(square)
  MMAPROOF_METHOD(var) MMAPROOF_METHOD(std) MMAPROOF_METHOD(norm) MMAPROOF_METHOD(log_softmax) MMAPROOF_METHOD(logsumexp)
  MMAPROOF_METHOD(cumprod) MMAPROOF_METHOD(prod) MMAPROOF_METHOD(baddbmm)
  std::vector<Tensor> several(const Reference& given) const {
    std::vector<Tensor> made;
    for (PyObject* each : mmaproof::items(given.object)) made.push_back(Tensor(each));
    return made;
  }
  std::tuple<Tensor, Tensor> two(const Reference& given) const {
    std::vector<Tensor> made = several(given);
    return {made.at(0), made.at(1)};
  }
  Tensor max() const { return Tensor(take(call("max"))); }
  Tensor min() const { return Tensor(take(call("min"))); }
  std::tuple<Tensor, Tensor> max(int64_t axis, bool keep = false) const { return two(call("max", axis, keep)); }
  std::tuple<Tensor, Tensor> min(int64_t axis, bool keep = false) const { return two(call("min", axis, keep)); }
  std::vector<Tensor> chunk(int64_t count, int64_t axis = 0) const { return several(call("chunk", count, axis)); }
  std::vector<Tensor> split(int64_t size, int64_t axis = 0) const { return several(call("split", size, axis)); }
  std::vector<Tensor> unbind(int64_t axis = 0) const { return several(call("unbind", axis)); }
  MMAPROOF_METHOD(mv) MMAPROOF_METHOD(dot) MMAPROOF_METHOD(reciprocal) MMAPROOF_METHOD(index_select) MMAPROOF_METHOD(gather)
  MMAPROOF_METHOD(eq) MMAPROOF_METHOD(ne) MMAPROOF_METHOD(lt) MMAPROOF_METHOD(le) MMAPROOF_METHOD(gt) MMAPROOF_METHOD(ge)
  MMAPROOF_METHOD(maximum) MMAPROOF_METHOD(minimum) MMAPROOF_METHOD(erf) MMAPROOF_METHOD(sin) MMAPROOF_METHOD(cos)
  MMAPROOF_METHOD(floor) MMAPROOF_METHOD(ceil) MMAPROOF_METHOD(round) MMAPROOF_METHOD(trunc) MMAPROOF_METHOD(sign)
  MMAPROOF_METHOD(exp_) MMAPROOF_METHOD(sqrt_) MMAPROOF_METHOD(relu_) MMAPROOF_METHOD(sigmoid_) MMAPROOF_METHOD(tanh_)
  MMAPROOF_METHOD(clamp_) MMAPROOF_METHOD(neg_) MMAPROOF_METHOD(movedim) MMAPROOF_METHOD(swapaxes) MMAPROOF_METHOD(diag)
  MMAPROOF_METHOD(tril) MMAPROOF_METHOD(triu) MMAPROOF_METHOD(masked_fill) MMAPROOF_METHOD(roll) MMAPROOF_METHOD(index)
  MMAPROOF_METHOD(log1p) MMAPROOF_METHOD(expm1) MMAPROOF_METHOD(log2) MMAPROOF_METHOD(outer) MMAPROOF_METHOD(addmv)
  MMAPROOF_METHOD(unfold) MMAPROOF_METHOD(unflatten) MMAPROOF_METHOD(masked_fill_) MMAPROOF_METHOD(where)
  MMAPROOF_METHOD(logical_not) MMAPROOF_METHOD(logical_and) MMAPROOF_METHOD(logical_or) MMAPROOF_METHOD(pow_)
  MMAPROOF_LIST_METHOD(view) MMAPROOF_LIST_METHOD(reshape) MMAPROOF_LIST_METHOD(permute) MMAPROOF_LIST_METHOD(expand)
  MMAPROOF_LIST_METHOD(sum) MMAPROOF_LIST_METHOD(mean) MMAPROOF_LIST_METHOD(repeat) MMAPROOF_LIST_METHOD(flip)
  MMAPROOF_LIST_METHOD(amax) MMAPROOF_LIST_METHOD(amin) MMAPROOF_LIST_METHOD(squeeze) MMAPROOF_LIST_METHOD(new_empty)
  MMAPROOF_LIST_METHOD(new_zeros) MMAPROOF_LIST_METHOD(new_ones) MMAPROOF_LIST_METHOD(new_full)
#define MMAPROOF_SCALED(name)                                                                     \
  template <typename T, typename S, typename = std::enable_if_t<std::is_arithmetic_v<S>>>         \
  Tensor name(const T& other, S factor) const { return name(other * static_cast<double>(factor)); }
  MMAPROOF_SCALED(add) MMAPROOF_SCALED(sub) MMAPROOF_SCALED(add_) MMAPROOF_SCALED(sub_)
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor slice(int64_t axis, int64_t first, int64_t last, int64_t step = 1) const {
    if (step != 1) throw std::runtime_error("slice with a step is not recorded");
    return narrow(axis, first, std::min(last, size(axis)) - first);
  }
  Tensor& operator+=(const Tensor& other) { add_(other); return *this; }
  Tensor& operator*=(const Tensor& other) { mul_(other); return *this; }
  Tensor& operator-=(const Tensor& other) { sub_(other); return *this; }
  Tensor& operator/=(const Tensor& other) { div_(other); return *this; }
  Tensor& operator+=(double other) { add_(other); return *this; }
  Tensor& operator-=(double other) { sub_(other); return *this; }
  Tensor& operator*=(double other) { mul_(other); return *this; }
  Tensor& operator/=(double other) { div_(other); return *this; }

 private:
  template <typename T, typename = void> struct known { static constexpr bool value = false; };
  template <typename T> struct known<T, std::void_t<decltype(type_code<T>::value)>> { static constexpr bool value = true; };
  template <typename T> void check_type() const {
    if constexpr (known<T>::value)
      if (type_code<T>::value != scalar_type())
        throw std::runtime_error(std::string("expected scalar type ") + toString(type_code<T>::value) +
                                 " but found " + toString(scalar_type()));
  }
};
inline void Arguments::add(const Tensor& tensor) {
  values.push_back(tensor.self.object ? mmaproof::share(tensor.self.object) : mmaproof::none());
}
inline void Arguments::add(const std::vector<Tensor>& list) {
  std::vector<PyObject*> made;
  for (const Tensor& each : list) made.push_back(mmaproof::share(each.self.object));
  values.push_back(mmaproof::list_of(made));
}
template <typename... A> Tensor called(const char* name, const A&... given) {
  Arguments arguments;
  collect(arguments, given...);
  return Tensor(mmaproof::call_function(name, arguments.values, arguments.options.object));
}
// An argument in braces, which no template takes: a list of numbers or of tensors, or nothing.
struct Given {
  Arguments held;
  bool present = false;
  Given() = default;
  Given(const Given&) = delete;
  template <typename T> Given(const T& value) : present(true) { held.add(value); }
  Given(std::initializer_list<int64_t> list) : present(true) { held.add(std::vector<int64_t>(list)); }
  Given(std::initializer_list<Tensor> list) : present(true) { held.add(std::vector<Tensor>(list)); }
};
inline Tensor called_with(const char* name, std::initializer_list<const Given*> every) {
  Arguments arguments;
  size_t left_out = 0;
  for (const Given* each : every) {
    if (!each->present) { ++left_out; continue; }
    for (; left_out; --left_out) arguments.add(std::nullopt);
    for (PyObject* value : each->held.values) arguments.values.push_back(mmaproof::share(value));
    if (each->held.options.object) arguments.options = each->held.options;
  }
  return Tensor(mmaproof::call_function(name, arguments.values, arguments.options.object));
}
#define MMAPROOF_FUNCTION(name)                                                                   \
  template <typename... A> Tensor name(const A&... given) { return called(#name, given...); }     \
  inline Tensor name(const Given& a, const Given& b = {}, const Given& c = {}, const Given& d = {}, \
                     const Given& e = {}, const Given& f = {}, const Given& g = {}, const Given& h = {}) { \
    return called_with(#name, {&a, &b, &c, &d, &e, &f, &g, &h});                                  \
  }
#define MMAPROOF_LIST_FUNCTION(name)                                                              \
  MMAPROOF_FUNCTION(name)                                                                         \
  template <typename... A> Tensor name(std::initializer_list<int64_t> first, const A&... given) { \
    return called(#name, std::vector<int64_t>(first), given...);                                  \
  }
MMAPROOF_LIST_FUNCTION(zeros) MMAPROOF_LIST_FUNCTION(ones) MMAPROOF_LIST_FUNCTION(empty) MMAPROOF_LIST_FUNCTION(full)
MMAPROOF_FUNCTION(zeros_like) MMAPROOF_FUNCTION(ones_like) MMAPROOF_FUNCTION(empty_like) MMAPROOF_FUNCTION(full_like)
MMAPROOF_FUNCTION(matmul) MMAPROOF_FUNCTION(mm) MMAPROOF_FUNCTION(bmm) MMAPROOF_FUNCTION(addmm)
MMAPROOF_FUNCTION(sum) MMAPROOF_FUNCTION(mean) MMAPROOF_FUNCTION(cat) MMAPROOF_FUNCTION(stack) MMAPROOF_FUNCTION(exp)
MMAPROOF_FUNCTION(log) MMAPROOF_FUNCTION(sqrt) MMAPROOF_FUNCTION(rsqrt) MMAPROOF_FUNCTION(tanh) MMAPROOF_FUNCTION(relu)
MMAPROOF_FUNCTION(sigmoid) MMAPROOF_FUNCTION(softmax) MMAPROOF_FUNCTION(clamp) MMAPROOF_FUNCTION(add)
MMAPROOF_FUNCTION(sub) MMAPROOF_FUNCTION(mul) MMAPROOF_FUNCTION(div) MMAPROOF_FUNCTION(transpose)
MMAPROOF_FUNCTION(arange) MMAPROOF_FUNCTION(conv1d) MMAPROOF_FUNCTION(conv2d) MMAPROOF_FUNCTION(conv3d)
MMAPROOF_FUNCTION(conv_transpose1d) MMAPROOF_FUNCTION(conv_transpose2d) MMAPROOF_FUNCTION(conv_transpose3d)
MMAPROOF_FUNCTION(linear) MMAPROOF_FUNCTION(maximum) MMAPROOF_FUNCTION(minimum) MMAPROOF_FUNCTION(abs)
MMAPROOF_FUNCTION(pow) MMAPROOF_FUNCTION(square) MMAPROOF_FUNCTION(where) MMAPROOF_FUNCTION(amax) MMAPROOF_FUNCTION(amin)
MMAPROOF_FUNCTION(argmax) MMAPROOF_FUNCTION(argmin) MMAPROOF_FUNCTION(logsumexp) MMAPROOF_FUNCTION(log_softmax)
MMAPROOF_FUNCTION(var) MMAPROOF_FUNCTION(norm) MMAPROOF_FUNCTION(cumsum) MMAPROOF_FUNCTION(cumprod) MMAPROOF_FUNCTION(prod)
MMAPROOF_FUNCTION(baddbmm) MMAPROOF_FUNCTION(mv) MMAPROOF_FUNCTION(dot) MMAPROOF_FUNCTION(erf) MMAPROOF_FUNCTION(gelu)
MMAPROOF_FUNCTION(silu) MMAPROOF_FUNCTION(leaky_relu) MMAPROOF_FUNCTION(elu) MMAPROOF_FUNCTION(softplus) MMAPROOF_FUNCTION(mish)
MMAPROOF_FUNCTION(hardtanh) MMAPROOF_FUNCTION(hardswish) MMAPROOF_FUNCTION(batch_norm) MMAPROOF_FUNCTION(layer_norm)
MMAPROOF_FUNCTION(group_norm) MMAPROOF_FUNCTION(instance_norm) MMAPROOF_FUNCTION(max_pool2d) MMAPROOF_FUNCTION(avg_pool2d)
MMAPROOF_FUNCTION(adaptive_avg_pool2d) MMAPROOF_FUNCTION(reshape) MMAPROOF_FUNCTION(permute) MMAPROOF_FUNCTION(squeeze)
MMAPROOF_FUNCTION(unsqueeze) MMAPROOF_FUNCTION(flatten) MMAPROOF_FUNCTION(tril) MMAPROOF_FUNCTION(triu) MMAPROOF_FUNCTION(diag)
MMAPROOF_FUNCTION(clamp_min) MMAPROOF_FUNCTION(clamp_max) MMAPROOF_FUNCTION(flip) MMAPROOF_FUNCTION(masked_fill) MMAPROOF_FUNCTION(neg) MMAPROOF_FUNCTION(reciprocal)
MMAPROOF_FUNCTION(max_pool1d) MMAPROOF_FUNCTION(max_pool3d) MMAPROOF_FUNCTION(avg_pool1d) MMAPROOF_FUNCTION(avg_pool3d)
MMAPROOF_FUNCTION(adaptive_avg_pool1d) MMAPROOF_FUNCTION(adaptive_avg_pool3d) MMAPROOF_FUNCTION(constant_pad_nd)
MMAPROOF_FUNCTION(einsum) MMAPROOF_FUNCTION(outer) MMAPROOF_FUNCTION(ger) MMAPROOF_FUNCTION(addmv) MMAPROOF_FUNCTION(clamp_)
MMAPROOF_FUNCTION(scalar_tensor)
// No templates: with `using namespace at`, floor(1) is no tensor's.
#define MMAPROOF_UNARY(name) inline Tensor name(const Tensor& a) { return called(#name, a); }
MMAPROOF_UNARY(sign) MMAPROOF_UNARY(floor) MMAPROOF_UNARY(ceil) MMAPROOF_UNARY(round) MMAPROOF_UNARY(sin)
MMAPROOF_UNARY(cos) MMAPROOF_UNARY(selu) MMAPROOF_UNARY(hardsigmoid) MMAPROOF_UNARY(log_sigmoid) MMAPROOF_UNARY(log1p)
MMAPROOF_UNARY(expm1) MMAPROOF_UNARY(log2) MMAPROOF_UNARY(relu_) MMAPROOF_UNARY(tanh_) MMAPROOF_UNARY(sigmoid_)
MMAPROOF_UNARY(exp_) MMAPROOF_UNARY(logical_not)
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator+(const Tensor& a, double b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, double b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, double b) { return mul(a, b); }
inline Tensor operator*(double a, const Tensor& b) { return mul(b, a); }
inline Tensor operator/(const Tensor& a, double b) { return div(a, b); }
inline Tensor operator/(double a, const Tensor& b) { return mul(reciprocal(b), a); }
inline Tensor operator+(double a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(double a, const Tensor& b) { return add(neg(b), a); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
#define MMAPROOF_COMPARISON(op, name)                                                             \
  inline Tensor operator op(const Tensor& a, const Tensor& b) { return a.name(b); }               \
  inline Tensor operator op(const Tensor& a, double b) { return a.name(b); }
MMAPROOF_COMPARISON(>, gt) MMAPROOF_COMPARISON(>=, ge) MMAPROOF_COMPARISON(<, lt) MMAPROOF_COMPARISON(<=, le)
MMAPROOF_COMPARISON(==, eq) MMAPROOF_COMPARISON(!=, ne)
#define MMAPROOF_WITH_INDEX(name)                                                                 \
  inline Tensor name(const Tensor& a) { return a.name(); }                                        \
  inline Tensor name(const Tensor& a, const Tensor& b) { return called(#name, a, b); }            \
  inline std::tuple<Tensor, Tensor> name(const Tensor& a, int64_t axis, bool keep = false) { return a.name(axis, keep); }
MMAPROOF_WITH_INDEX(max) MMAPROOF_WITH_INDEX(min)
inline Device device_of(const Tensor& tensor) { return tensor.device(); }

namespace indexing {}
namespace cuda {
struct CUDAStream {
  operator cudaStream_t() const { return nullptr; }
  cudaStream_t stream() const { return nullptr; }
  void synchronize() const { cudaStreamSynchronize(nullptr); }
};
struct CUDAStreamOfItsOwn {
  long long made;
  operator cudaStream_t() const { return stream(); }
  cudaStream_t stream() const { return reinterpret_cast<cudaStream_t>(made); }
  void synchronize() const { cudaStreamSynchronize(stream()); }
};
inline CUDAStreamOfItsOwn getStreamFromPool(bool = false, int = -1) { return {mmaproof::stream_made(true)}; }
inline CUDAStream getCurrentCUDAStream(int = -1) { return {}; }
inline CUDAStream getDefaultCUDAStream(int = -1) { return {}; }
struct CUDAGuard {
  CUDAGuard(Device) {}
  CUDAGuard(int) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() {}
  OptionalCUDAGuard(Device) {}
  template <typename T> OptionalCUDAGuard(const std::optional<T>&) {}
};
inline int current_device() { return 0; }
inline int warp_size() { return 32; }
inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp found;
  cudaGetDeviceProperties(&found, 0);
  return &found;
}
}  // namespace cuda

struct NoGradGuard {};
struct DeviceGuard {
  explicit DeviceGuard(Device) {}
};
using OptionalDeviceGuard = cuda::OptionalCUDAGuard;
// The types that PyTorch computes in.
template <typename T> struct OpMathType { using type = T; };
template <> struct OpMathType<Half> { using type = float; };
template <> struct OpMathType<BFloat16> { using type = float; };
template <typename T> using opmath_type = typename OpMathType<T>::type;
template <typename T, bool is_cuda> using acc_type = opmath_type<T>;
template <typename T, typename U> constexpr T ceil_div(T a, U b) { return (a + b - 1) / b; }
inline std::string piece(const std::string& value) { return value; }
inline std::string piece(const char* value) { return value; }
inline std::string piece(ScalarType type) { return toString(type); }
inline std::string piece(const Device& device) { return device.str(); }
inline std::string piece(const std::vector<int64_t>& list) {
  std::string made = "[";
  for (int64_t each : list) made += std::to_string(each) + ", ";
  return made + "]";
}
template <typename T> std::enable_if_t<std::is_arithmetic_v<T>, std::string> piece(T value) { return std::to_string(value); }
template <typename T> std::enable_if_t<!std::is_arithmetic_v<T>, std::string> piece(const T&) { return "?"; }
template <typename... A> std::string str(const A&... given) { return (std::string() + ... + piece(given)); }
}  // namespace at

namespace c10 {
using namespace at;
using std::optional;
using std::nullopt;
namespace cuda { using namespace at::cuda; }
template <typename T> using ArrayRef = std::vector<T>;
}  // namespace c10
namespace torch {
using namespace at;
using std::optional;
using std::nullopt;
namespace cuda { using namespace at::cuda; inline void synchronize(int = -1) { cudaDeviceSynchronize(); } inline bool is_available() { return true; } }
namespace nn { namespace functional {
using at::elu; using at::gelu; using at::mish; using at::relu; using at::selu; using at::silu; using at::softplus;
} }
}  // namespace torch

#define TORCH_CHECK(condition, ...) \
  do { if (!(condition)) throw std::runtime_error(::at::str("check failed: " #condition " " __VA_OPT__(,) __VA_ARGS__)); } while (0)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b))
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b))
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b))
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b))
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b))
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b))
#define TORCH_CHECK_TYPE TORCH_CHECK
#define TORCH_CHECK_INDEX TORCH_CHECK
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define TORCH_CHECK_VALUE TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ERROR(...) throw std::runtime_error(::at::str(__VA_ARGS__))
#define TORCH_WARN(...)
#define TORCH_WARN_ONCE(...)
#define C10_CUDA_CHECK(call) do { if ((call) != cudaSuccess) throw std::runtime_error("failed: " #call); } while (0)
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK()
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_ALWAYS_INLINE inline
#define C10_LAUNCH_BOUNDS_1(count) __launch_bounds__(count)
#define TORCH_API

#define MMAPROOF_CASE(Code, Type, ...) \
  case ::at::ScalarType::Code: { using scalar_t [[maybe_unused]] = Type; return __VA_ARGS__(); }
#define MMAPROOF_DISPATCH(TYPE, NAME, ...)                                                            \
  [&] {                                                                                               \
    const auto mmaproof_type = TYPE;                                                                  \
    switch (mmaproof_type) {                                                                          \
      __VA_ARGS__                                                                                     \
      default: throw std::runtime_error(std::string("\"") + NAME + "\" is not implemented for '" +    \
                                        ::at::toString(mmaproof_type) + "'");                         \
    }                                                                                                 \
  }()
#define MMAPROOF_FLOATS(...) MMAPROOF_CASE(Double, double, __VA_ARGS__) MMAPROOF_CASE(Float, float, __VA_ARGS__)
#define MMAPROOF_HALF(...) MMAPROOF_CASE(Half, ::at::Half, __VA_ARGS__)
#define MMAPROOF_BFLOAT(...) MMAPROOF_CASE(BFloat16, ::at::BFloat16, __VA_ARGS__)
#define MMAPROOF_INTEGERS(...)                                                                        \
  MMAPROOF_CASE(Byte, uint8_t, __VA_ARGS__) MMAPROOF_CASE(Char, int8_t, __VA_ARGS__)                  \
  MMAPROOF_CASE(Short, int16_t, __VA_ARGS__) MMAPROOF_CASE(Int, int, __VA_ARGS__)                     \
  MMAPROOF_CASE(Long, int64_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) MMAPROOF_DISPATCH(TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) MMAPROOF_FLOATS(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) MMAPROOF_FLOATS(__VA_ARGS__) MMAPROOF_HALF(__VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) MMAPROOF_INTEGERS(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) MMAPROOF_DISPATCH(TYPE, NAME, MMAPROOF_FLOATS(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  MMAPROOF_DISPATCH(TYPE, NAME, MMAPROOF_FLOATS(__VA_ARGS__) MMAPROOF_HALF(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(MORE, TYPE, NAME, ...)                                         \
  MMAPROOF_DISPATCH(TYPE, NAME, MMAPROOF_FLOATS(__VA_ARGS__) MMAPROOF_HALF(__VA_ARGS__) MMAPROOF_BFLOAT(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(MORE, OTHER, TYPE, NAME, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(MORE, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) \
  MMAPROOF_DISPATCH(TYPE, NAME, MMAPROOF_HALF(__VA_ARGS__) MMAPROOF_BFLOAT(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) MMAPROOF_DISPATCH(TYPE, NAME, MMAPROOF_INTEGERS(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  MMAPROOF_DISPATCH(TYPE, NAME, MMAPROOF_FLOATS(__VA_ARGS__) MMAPROOF_INTEGERS(__VA_ARGS__))
