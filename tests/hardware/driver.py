"""The CUDA driver through ctypes: what the recorder needs of it, and no toolkit."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np
from numpy.typing import NDArray

from mmaproof.spec.ptx.targets import TARGETS, Target
from mmaproof.spec.ptx.variant import WARP_LANES

Array = NDArray[np.unsignedinteger]

_ERROR_LOG, _ERROR_LOG_BYTES = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…
_LOG_BYTES = 1 << 14

_SIGNATURES = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuDevicePrimaryCtxRetain": (POINTER(c_void_p), c_int),
    "cuCtxSetCurrent": (c_void_p,),
    "cuCtxSynchronize": (),
    "cuModuleLoadDataEx": (POINTER(c_void_p), c_void_p, c_uint, POINTER(c_int), POINTER(c_void_p)),
    "cuModuleGetFunction": (POINTER(c_void_p), c_void_p, c_char_p),
    "cuModuleUnload": (c_void_p,),
    "cuMemAlloc_v2": (POINTER(c_uint64), c_size_t),
    "cuMemFree_v2": (c_uint64,),
    "cuMemcpyHtoD_v2": (c_uint64, c_void_p, c_size_t),
    "cuMemcpyDtoH_v2": (c_void_p, c_uint64, c_size_t),
    "cuLaunchKernel": (c_void_p, *[c_uint] * 7, c_void_p, POINTER(c_void_p), POINTER(c_void_p)),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
}


class DriverError(Exception):
    """The driver is missing, or refused something."""


class Gpu:
    """The first GPU of the machine.

    Raises
    ------
    DriverError
        If there is none, or no driver.
    """

    def __init__(self, library: str | None = None) -> None:
        name = library or ("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        try:
            self._library = ctypes.CDLL(name)
        except OSError as error:
            raise DriverError(f"no NVIDIA driver: {error}") from None
        for function, arguments in _SIGNATURES.items():
            getattr(self._library, function).argtypes = arguments
            getattr(self._library, function).restype = c_int
        self._call("cuInit", 0)
        device, version, context = c_int(), c_int(), c_void_p()
        self._call("cuDriverGetVersion", byref(version))
        self._call("cuDeviceGet", byref(device), 0)
        text = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", text, len(text), device)
        self._call("cuDevicePrimaryCtxRetain", byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self.name = text.value.decode()
        self.driver = f"CUDA {version.value // 1000}.{version.value % 1000 // 10}"
        self.target = _target(*(self._attribute(device, a) for a in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR)))

    def run(self, source: str, entry: str, buffers: Mapping[str, Array], result: str) -> Array:
        """Run a kernel of a PTX module, a warp for each vector, and return one array after it.

        Parameters
        ----------
        source : str
            The module.
        entry : str
            The kernel's name.
        buffers : mapping of str to array (vectors, …)
            What its parameters point to.
        result : str
            Name of the array to return.

        Raises
        ------
        DriverError
            If the module does not compile or the kernel fails.
        """
        module, function = self._load(source), c_void_p()
        pointers = {name: c_uint64() for name in buffers}
        try:
            self._call("cuModuleGetFunction", byref(function), module, entry.encode())
            for name, array in buffers.items():
                contents = np.ascontiguousarray(array)
                self._call("cuMemAlloc_v2", byref(pointers[name]), contents.nbytes)
                self._call("cuMemcpyHtoD_v2", pointers[name], contents.ctypes.data, contents.nbytes)
            arguments = (c_void_p * len(pointers))(*(ctypes.addressof(p) for p in pointers.values()))
            grid, block = (len(buffers[result]), 1, 1), (WARP_LANES, 1, 1)
            self._call("cuLaunchKernel", function, *grid, *block, 0, None, arguments, None)
            self._call("cuCtxSynchronize")
            after = np.empty_like(buffers[result], order="C")
            self._call("cuMemcpyDtoH_v2", after.ctypes.data, pointers[result], after.nbytes)
        finally:
            for pointer in pointers.values():
                if pointer.value:
                    self._library.cuMemFree_v2(pointer)
            self._library.cuModuleUnload(module)
        return after

    def _load(self, source: str) -> c_void_p:
        module, image = c_void_p(), ctypes.create_string_buffer(source.encode())
        log = ctypes.create_string_buffer(_LOG_BYTES)
        options = (c_int * 2)(_ERROR_LOG, _ERROR_LOG_BYTES)
        values = (c_void_p * 2)(ctypes.addressof(log), _LOG_BYTES)
        try:
            self._call("cuModuleLoadDataEx", byref(module), image, 2, options, values)
        except DriverError as error:
            raise DriverError(f"{error}\n{log.value.decode(errors='replace')}".rstrip()) from None
        return module

    def _attribute(self, device: c_int, attribute: int) -> int:
        value = c_int()
        self._call("cuDeviceGetAttribute", byref(value), attribute, device)
        return value.value

    def _call(self, function: str, *arguments: object) -> None:
        status = getattr(self._library, function)(*arguments)
        if status:
            text = c_char_p()
            self._library.cuGetErrorString(status, byref(text))
            raise DriverError(f"{function}: {(text.value or b'unknown error').decode()} ({status})")


def _target(major: int, minor: int) -> Target:
    """Return the target with every feature of a compute capability."""
    name = f"sm_{major}{minor}"
    for known in (f"{name}a", name):
        if known in TARGETS:
            return TARGETS[known]
    raise DriverError(f"compute capability {major}.{minor} is none of the specification's targets")
