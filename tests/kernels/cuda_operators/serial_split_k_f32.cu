// C = A B of f32, row-major, in which blockIdx.z takes a slice of K, one after the other: each waits at the lock of its
// tile until those before it have added theirs to C, adds its own, and lets the next one go; the last one sets the lock
// to 0 again. K multiple of 16 times the slices. Grid (n / 16, m / 16, slices), block (16, 16).
__device__ inline void acquire(int *lock, int turn) {
  if (threadIdx.x + threadIdx.y == 0) {
    int state = -1;
    do asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(state) : "l"(lock) : "memory");
    while (state != turn);
  }
  __syncthreads();
}

__device__ inline void release(int *lock, bool last) {
  __syncthreads();
  if (threadIdx.x + threadIdx.y == 0) {
    if (last) {
      *lock = 0;
    } else {
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" : : "l"(lock), "r"(1) : "memory");
    }
  }
}

extern "C" __global__ void serial_split_k_f32(const float *a, const float *b, float *c, int *locks, int n, int k) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int i = threadIdx.y, j = threadIdx.x, slice = k / gridDim.z;
  const int row = blockIdx.y * 16 + i, column = blockIdx.x * 16 + j;
  float sum = 0.0f;
  for (int start = blockIdx.z * slice; start < (blockIdx.z + 1) * slice; start += 16) {
    a_tile[i][j] = a[row * k + start + j];
    b_tile[i][j] = b[(start + i) * n + column];
    __syncthreads();
    for (int inner = 0; inner < 16; ++inner) sum += a_tile[i][inner] * b_tile[inner][j];
    __syncthreads();
  }
  int *lock = locks + blockIdx.y * gridDim.x + blockIdx.x;
  acquire(lock, blockIdx.z);
  if (blockIdx.z > 0) sum += c[row * n + column];
  c[row * n + column] = sum;
  release(lock, blockIdx.z == gridDim.z - 1);
}
