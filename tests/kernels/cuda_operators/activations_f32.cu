// Activations as they are written with the functions of CUDA's library: G = gelu(X), S = silu(X), T = gelu(X) with
// tanh, P = log(1 + exp(X)), M = X * tanh(P), and H = the square of relu(X) by a power. Any N, a thread an element.
#include <cmath>

extern "C" __global__ void activations_f32(const float *x_, float *g, float *s, float *t, float *p, float *m, float *h,
                                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = x_[i];
  g[i] = 0.5f * x * (1.0f + erff(x * 0.70710678f));
  s[i] = x / (1.0f + expf(-x));
  t[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * powf(x, 3.0f))));
  const float grown = x > 20.0f ? x : log1pf(expf(x));
  p[i] = grown;
  m[i] = x * tanhf(grown);
  h[i] = powf(fmaxf(x, 0.0f), 2.0f);
}
