#pragma once
#include "../mmaproof_binding.h"
