// D = A * B^T for one block of eight warps: one thread multiplies, four warps store each of two accumulators.
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int M = 128, N = 32, COLUMNS = 64;
constexpr uint32_t IDESC = 1u << 4 | uint32_t(N / 8) << 17 | uint32_t(M / 16) << 24;

__device__ uint32_t address(const void *shared) { return (uint32_t)__cvta_generic_to_shared(shared); }

// Rows of 16 bytes in groups of 8; the second half of a row lies `leading` bytes further.
__device__ uint64_t described(uint32_t at, uint32_t leading) {
    return uint64_t(at >> 4 & 0x3FFF) | uint64_t(leading >> 4) << 16 | uint64_t(128 >> 4) << 32 | uint64_t(1) << 46;
}

__device__ void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t counts) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d),
        "l"(a), "l"(b), "r"(IDESC), "r"(counts)
        : "memory");
}

__device__ void commit(uint32_t barrier) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
                 : "memory");
}

__device__ void wait(uint32_t barrier, uint32_t parity) {
    asm volatile(
        "{ .reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

extern "C" __global__ void __launch_bounds__(256)
    two_accumulators(const half *a, const half *b, float *d, int k_size) {
    __shared__ alignas(128) half a_tile[M * 16];
    __shared__ alignas(128) half b_tile[2 * N * 16];
    __shared__ alignas(8) uint64_t done;
    __shared__ uint32_t cells;
    int warp = threadIdx.x / 32;
    if (warp == 0) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address(&cells)),
                     "r"(COLUMNS)
                     : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (threadIdx.x == 32)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&done)) : "memory");
    __syncthreads();
    uint32_t d_cells = *(volatile uint32_t *)&cells, barrier = address(&done);
    for (int step = 0; step < k_size / 16; step++) {
        if (step > 0) wait(barrier, step - 1 & 1);
        for (int i = threadIdx.x; i < M * 16; i += 256) {
            int row = i / 16, k = i % 16;
            a_tile[k / 8 * (M * 8) + row * 8 + k % 8] = a[row * k_size + step * 16 + k];
        }
        for (int i = threadIdx.x; i < 2 * N * 16; i += 256) {
            int row = i / 16, k = i % 16;
            b_tile[row / N * (N * 16) + k / 8 * (N * 8) + row % N * 8 + k % 8] = b[row * k_size + step * 16 + k];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 64) {
            asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
            for (int half_of_b = 0; half_of_b < 2; half_of_b++)
                multiply(d_cells + half_of_b * N, described(address(a_tile), M * 16),
                         described(address(b_tile) + half_of_b * N * 32, N * 16), step > 0);
            commit(barrier);
        }
    }
    wait(barrier, k_size / 16 - 1 & 1);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    uint32_t r[8];
    int row = threadIdx.x % 128, part = warp / 4;
    for (int column = 0; column < N; column += 8) {
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                     : "r"(d_cells + (uint32_t(warp % 4) << 21) + part * N + column));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 8; i++) d[row * 2 * N + part * N + column + i] = __uint_as_float(r[i]);
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (warp == 0)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(d_cells), "r"(COLUMNS));
}
