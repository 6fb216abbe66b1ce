// The other side of the stand-ins: Python's interface, and a CUDA runtime that records what it is asked for.
#include <Python.h>
#include <dlfcn.h>
#include <link.h>
#include <cstring>
#include <functional>
#include <map>
#include "mmaproof_binding.h"

namespace mmaproof {
static PyObject* checked(PyObject* made) { if (!made) throw PythonError(); return made; }
PyObject* share(PyObject* object) { Py_XINCREF(object); return object; }
void release(PyObject* object) { Py_XDECREF(object); }
PyObject* of_int(long long value) { return checked(PyLong_FromLongLong(value)); }
PyObject* of_double(double value) { return checked(PyFloat_FromDouble(value)); }
PyObject* of_bool(bool value) { return PyBool_FromLong(value); }
PyObject* of_text(const char* value) { return checked(PyUnicode_FromString(value)); }
PyObject* none() { Py_RETURN_NONE; }
PyObject* list_of(const std::vector<PyObject*>& values) {
  PyObject* made = checked(PyList_New(values.size()));
  for (size_t i = 0; i < values.size(); ++i) PyList_SET_ITEM(made, i, values[i]);
  return made;
}
long long as_int(PyObject* value) {
  Reference index(checked(PyNumber_Index(value)));
  long long found = PyLong_AsLongLong(index.object);
  if (found == -1 && PyErr_Occurred()) throw PythonError();
  return found;
}
double as_double(PyObject* value) {
  double found = PyFloat_AsDouble(value);
  if (found == -1 && PyErr_Occurred()) throw PythonError();
  return found;
}
bool as_bool(PyObject* value) {
  int found = PyObject_IsTrue(value);
  if (found < 0) throw PythonError();
  return found;
}
std::string as_text(PyObject* value) {
  const char* found = PyUnicode_AsUTF8(value);
  if (!found) throw PythonError();
  return found;
}
std::vector<PyObject*> items(PyObject* value) {
  Reference fast(checked(PySequence_Fast(value, "a list is needed")));
  std::vector<PyObject*> found;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.object); ++i)
    found.push_back(share(PySequence_Fast_GET_ITEM(fast.object, i)));
  return found;
}
bool is_none(PyObject* value) { return value == Py_None; }
static PyObject* applied(PyObject* function, const std::vector<PyObject*>& given, PyObject* options) {
  Reference held(function);
  Reference arguments(checked(PyTuple_New(given.size())));
  for (size_t i = 0; i < given.size(); ++i) PyTuple_SET_ITEM(arguments.object, i, share(given[i]));
  return checked(PyObject_Call(function, arguments.object, options));
}
PyObject* attribute(PyObject* object, const char* name) { return checked(PyObject_GetAttrString(object, name)); }
PyObject* call_method(PyObject* object, const char* name, const std::vector<PyObject*>& given, PyObject* options) {
  if (!object) throw std::runtime_error(std::string(name) + " of an undefined tensor");
  return applied(attribute(object, name), given, options);
}
static PyObject* in_module(const char* module, const char* name) {
  Reference found(checked(PyImport_ImportModule(module)));
  return attribute(found.object, name);
}
PyObject* call_function(const char* name, const std::vector<PyObject*>& given, PyObject* options) {
  Reference text(of_text(name));
  return applied(ask("function_named", {text.object}), given, options);
}
PyObject* ask(const char* name, const std::vector<PyObject*>& given) {
  return applied(in_module("mmaproof.api.torch.extension_calls", name), given, nullptr);
}
PyObject* options_of(const char* dtype, const char* device, PyObject* former) {
  PyObject* made = former ? checked(PyDict_Copy(former)) : checked(PyDict_New());
  if (dtype) {
    std::vector<PyObject*> one{of_text(dtype)};
    Reference name(one[0]), found(ask("dtype_named", one));
    PyDict_SetItemString(made, "dtype", found.object);
  }
  if (device) {
    Reference found(of_text(device));
    PyDict_SetItemString(made, "device", found.object);
  }
  return made;
}

static std::vector<void (*)(Module&)>& modules() {
  static std::vector<void (*)(Module&)> found;
  return found;
}
Registered::Registered(void (*function)(Module&)) { modules().push_back(function); }

static PyObject* run(PyObject* self, PyObject* positional, PyObject* named) {
  auto* function = static_cast<Function*>(PyCapsule_GetPointer(self, "mmaproof"));
  try {
    Call call;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(positional); ++i)
      call.positional.push_back(PyTuple_GET_ITEM(positional, i));
    PyObject *key, *value;
    Py_ssize_t place = 0;
    while (named && PyDict_Next(named, &place, &key, &value)) call.named[as_text(key)] = value;
    return (*function)(call);
  } catch (const PythonError&) {
    return nullptr;
  } catch (const std::exception& error) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}
static PyObject* defined_in = nullptr;
void define(const char* name, Function function) {
  auto* kept = new Function(std::move(function));
  auto* method = new PyMethodDef{strdup(name), reinterpret_cast<PyCFunction>(run), METH_VARARGS | METH_KEYWORDS, nullptr};
  Reference capsule(checked(PyCapsule_New(kept, "mmaproof", nullptr)));
  Reference made(checked(PyCFunction_New(method, capsule.object)));
  PyObject_SetAttrString(defined_in, name, made.object);
}
}  // namespace mmaproof

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "mmaproof_extension", nullptr, -1, nullptr};
PyMODINIT_FUNC PyInit_mmaproof_extension() {
  PyObject* made = PyModule_Create(&definition);
  mmaproof::defined_in = made;
  try {
    mmaproof::Module module;
    for (auto* function : mmaproof::modules()) function(module);
  } catch (const mmaproof::PythonError&) {
    return nullptr;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
  return made;
}

// -- the CUDA runtime
static std::map<const void*, std::string>& kernels() {
  static std::map<const void*, std::string> found;
  return found;
}
struct Variable { std::string name; size_t size; bool constant; };
static std::map<const void*, Variable>& variables() {
  static std::map<const void*, Variable> found;
  return found;
}
struct Configuration { dim3 grid, block; size_t shared; void* stream; };
static std::vector<Configuration> configurations;

static void told(const char* name, std::vector<PyObject*> given) {
  PyObject* answer = nullptr;
  try {
    answer = mmaproof::ask(name, given);
  } catch (...) {
    for (PyObject* each : given) mmaproof::release(each);
    throw;
  }
  for (PyObject* each : given) mmaproof::release(each);
  mmaproof::release(answer);
}
static PyObject* handle(const void* value) { return mmaproof::of_int(reinterpret_cast<long long>(value)); }
static long long answer(const char* name, std::vector<PyObject*> given) {
  std::vector<mmaproof::Reference> held;
  for (PyObject* each : given) held.emplace_back(each);
  mmaproof::Reference found(mmaproof::ask(name, given));
  return mmaproof::as_int(found.object);
}
namespace mmaproof {
long long stream_made(bool non_blocking) { return answer("stream_made", {of_bool(non_blocking)}); }
}  // namespace mmaproof
static long long fact(const char* name) { return answer("device_fact", {mmaproof::of_text(name)}); }
static void refused(const char* what) { told("refused", {mmaproof::of_text(what)}); }
// Bytes of dynamic shared memory that a kernel may have where its host code says so.
static std::map<const void*, size_t>& allowed() {
  static std::map<const void*, size_t> found;
  return found;
}
// The symbol that an address is in; kernels whose stubs are not nvcc's are not registered, and named so.
static Dl_info symbol_at(const void* address) {
  Dl_info found{};
  const ElfW(Sym)* symbol = nullptr;
  bool known = dladdr1(address, &found, (void**)&symbol, RTLD_DL_SYMENT) && symbol;
  auto offset = static_cast<const char*>(address) - static_cast<const char*>(found.dli_saddr);
  return known && offset < static_cast<long long>(symbol->st_size) ? found : Dl_info{};
}
static std::string name_of(const void* function) {
  auto found = kernels().find(function);
  if (found != kernels().end()) return found->second;
  Dl_info symbol = symbol_at(function);
  return symbol.dli_saddr == function ? symbol.dli_sname : "";
}
static void launched(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, void* stream) {
  std::string name = name_of(function);
  if (name.empty()) { refused("a launch of a kernel that is not registered"); return; }
  auto more = allowed().find(function);
  using mmaproof::of_int;
  told("launched", {mmaproof::of_text(name.c_str()), of_int(grid.x), of_int(grid.y), of_int(grid.z),
                    of_int(block.x), of_int(block.y), of_int(block.z), of_int(reinterpret_cast<long long>(arguments)),
                    of_int(shared), of_int(more == allowed().end() ? -1 : static_cast<long long>(more->second)),
                    of_int(reinterpret_cast<long long>(stream))});
}
extern "C" {
void** __cudaRegisterFatBinary(void*) { static void* handle; return &handle; }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  kernels()[host] = name;
}
void __cudaRegisterVar(void**, char* host, char*, const char* name, int, size_t size, int constant, int) {
  variables()[host] = {name, size, constant != 0};
}
char __cudaInitModule(void**) { return 1; }
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid; *block = last.block; *shared = last.shared; *static_cast<void**>(stream) = last.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
  launched(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared, stream);
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
  launched(function, grid, block, arguments, shared, stream);
  return cudaSuccess;
}
}
namespace mmaproof {
int configured(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  return __cudaPushCallConfiguration(grid, block, shared, stream);
}
void stub(void** arguments) {  // the body of a kernel on the host, which is what has called
  if (configurations.empty()) { refused("a call of a kernel that is no launch"); return; }
  Configuration last = configurations.back();
  configurations.pop_back();
  launched(symbol_at(static_cast<char*>(__builtin_return_address(0)) - 1).dli_saddr, last.grid, last.block, arguments,
           last.shared, last.stream);
}
}  // namespace mmaproof
extern "C" {
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) {
  refused("cudaLaunchCooperativeKernel");
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* function, void** arguments) {
  if (how->numAttrs) { refused("cudaLaunchKernelEx with attributes"); return cudaSuccess; }
  launched(function, how->gridDim, how->blockDim, arguments, how->dynamicSmemBytes, how->stream);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t count, cudaStream_t stream) {
  told("filled", {handle(to), mmaproof::of_int(value), mmaproof::of_int(count), handle(stream)});
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, size_t count) { return cudaMemsetAsync(to, value, count, nullptr); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  told("copied", {handle(to), handle(from), mmaproof::of_int(count), mmaproof::of_int(kind), handle(stream)});
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, count, kind, nullptr);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t at, cudaMemcpyKind kind, cudaStream_t stream) {
  auto found = variables().find(symbol);
  if (found == variables().end()) { refused("cudaMemcpyToSymbol of a variable that is not registered"); return cudaSuccess; }
  const Variable& to = found->second;
  told("copied_to_variable", {mmaproof::of_text(to.name.c_str()), mmaproof::of_int(to.size), mmaproof::of_bool(to.constant),
                              handle(from), mmaproof::of_int(count), mmaproof::of_int(at), mmaproof::of_int(kind), handle(stream)});
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t count, size_t at, cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, count, at, kind, nullptr);
}
cudaError_t cudaMalloc(void** made, size_t count) {
  *made = reinterpret_cast<void*>(answer("allocated", {mmaproof::of_int(count)}));
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void** made, size_t count, cudaStream_t) { return cudaMalloc(made, count); }
cudaError_t cudaFree(void* given) { told("freed", {handle(given)}); return cudaSuccess; }
cudaError_t cudaFreeAsync(void* given, cudaStream_t) { return cudaFree(given); }
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which, int value) {
  if (which == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > fact("shared")) { refused("cudaFuncSetAttribute of more shared memory than there is"); return cudaSuccess; }
    allowed()[function] = value;
  }
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "no error"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaSuccess"; }
cudaError_t cudaDeviceSynchronize() { told("waited_for_all", {}); return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { told("waited_for", {handle(stream)}); return cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  *stream = reinterpret_cast<cudaStream_t>(mmaproof::stream_made(flags == cudaStreamNonBlocking));
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) { return cudaStreamCreateWithFlags(stream, flags); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { *event = nullptr; return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
// Events order nothing here, so that what rests on one is refused.
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { *device = 0; return cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) { *count = 1; return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  switch (which) {
    case cudaDevAttrMultiProcessorCount: *value = fact("multiprocessors"); break;
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = fact("shared"); break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = fact("shared_of_all"); break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = fact("threads"); break;
    case cudaDevAttrComputeCapabilityMajor: *value = fact("capability") / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = fact("capability") % 10; break;
    case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: *value = 1024; break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = 2147483647; break;
    case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    default: refused("cudaDeviceGetAttribute");
  }
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* found, int) {
  memset(found, 0, sizeof *found);
  found->multiProcessorCount = fact("multiprocessors");
  found->maxThreadsPerBlock = 1024;
  found->maxThreadsPerMultiProcessor = fact("threads");
  found->warpSize = 32;
  found->major = fact("capability") / 10;
  found->minor = fact("capability") % 10;
  found->sharedMemPerBlock = 49152;
  found->sharedMemPerBlockOptin = fact("shared");
  found->sharedMemPerMultiprocessor = fact("shared_of_all");
  found->maxGridSize[0] = 2147483647;
  found->maxGridSize[1] = found->maxGridSize[2] = 65535;
  found->maxThreadsDim[0] = found->maxThreadsDim[1] = 1024;
  found->maxThreadsDim[2] = 64;
  return cudaSuccess;
}
}
