// Functions of CUDA's library of one positive number: expm1, the cube root and its reciprocal, a power, log1p, exp10.
#include <cmath>

extern "C" __global__ void roots_and_powers_f32(const float *x_, float *e, float *c, float *r, float *p, float *g,
                                                float *s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = x_[i];
  e[i] = expm1f(x);
  c[i] = cbrtf(x);
  r[i] = rcbrtf(x);
  p[i] = powf(x, 2.5f);
  g[i] = log1pf(x);
  s[i] = exp10f(x);
}
