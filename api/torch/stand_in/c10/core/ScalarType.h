#pragma once
#include "../../mmaproof_tensor.h"
