#pragma once
#include "../mmaproof_tensor.h"
#ifndef __CUDACC__
#include "../mmaproof_binding.h"
#elif defined(MMAPROOF_BINDS)
#include "../mmaproof_binding.h"
#endif
