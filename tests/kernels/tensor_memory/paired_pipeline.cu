// C = A * B^T by pairs of CTAs that stay: one warp of each loads, one of the first multiplies, four of each store.
#include <cuda.h>
#include <stdint.h>

constexpr int ROWS = 128, COLUMNS = 32, DEPTH = 64, STAGES = 2; // of a tile: rows of each CTA, columns of both
constexpr uint32_t IDESC = 1u << 4 | uint32_t(COLUMNS / 8) << 17 | uint32_t(2 * ROWS / 16) << 24;
constexpr uint32_t A_BYTES = ROWS * DEPTH * 2, B_BYTES = COLUMNS / 2 * DEPTH * 2, ALLOCATED = 64;

__device__ uint32_t address(const void *shared) { return (uint32_t)__cvta_generic_to_shared(shared); }

// Rows of 128 bytes, swizzled, in groups of 8.
__device__ uint64_t described(uint32_t at) {
    return uint64_t((at & 0x3FFFF) >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 46 |
           uint64_t(2) << 61;
}

__device__ bool elected() {
    uint32_t found;
    asm volatile("{ .reg .pred p;\nelect.sync _|p, 0xFFFFFFFF;\nselp.b32 %0, 1, 0, p; }" : "=r"(found));
    return found;
}

__device__ void begin(uint64_t *barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(barrier)), "r"(arrivals) : "memory");
}

__device__ void wait(uint64_t *barrier, uint32_t parity) {
    asm volatile(
        "{ .reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(
            address(barrier)),
        "r"(parity)
        : "memory");
}

__device__ void expect(uint64_t *barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)), "r"(bytes)
                 : "memory");
}

// The bytes complete on the barrier of the first CTA.
__device__ void load(const CUtensorMap *map, uint32_t to, uint64_t *barrier, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
                 "l"(map), "r"(address(barrier) & 0xFEFFFFFF), "r"(x), "r"(y)
                 : "memory");
}

__device__ void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t counts) {
    asm volatile(
        "{ .reg .pred p;\nsetp.ne.u32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d),
        "l"(a), "l"(b), "r"(IDESC), "r"(counts)
        : "memory");
}

__device__ void commit(uint64_t *barrier) {
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
                 " [%0], %1;" ::"r"(address(barrier)),
                 "h"((uint16_t)3)
                 : "memory");
}

__device__ void arrive_at_first(uint64_t *barrier) {
    uint32_t at;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(at) : "r"(address(barrier)));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at) : "memory");
}

__device__ void meet() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ void fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }

__device__ void fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(192)
    paired_pipeline(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int m,
                    int n, int k) {
    extern __shared__ __align__(1024) uint8_t tiles[];
    __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES], computed[2], stored[2];
    __shared__ uint32_t cells;
    uint32_t warp = threadIdx.x / 32, rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) begin(full + i, 1), begin(empty + i, 1);
        for (int i = 0; i < 2; i++) begin(computed + i, 1), begin(stored + i, 8);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    meet();
    if (warp == 2) {
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address(&cells)),
                     "r"(ALLOCATED)
                     : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
    }
    fence_before();
    __syncthreads();
    fence_after();
    uint32_t d = cells, a_tiles = address(tiles), b_tiles = a_tiles + STAGES * A_BYTES;
    int across = n / COLUMNS, count = m / (2 * ROWS) * across, steps = k / DEPTH;
    uint32_t done = 0, turn = 0; // steps, and tiles
    for (int tile = blockIdx.x / 2; tile < count; tile += gridDim.x / 2, turn++) {
        int row = (tile / across * 2 + rank) * ROWS, column = tile % across * COLUMNS;
        uint32_t which = turn % 2, now = turn / 2 & 1;
        if (warp == 0 && elected()) {
            for (int step = 0; step < steps; step++, done++) {
                uint32_t stage = done % STAGES;
                wait(empty + stage, done / STAGES & 1 ^ 1);
                if (rank == 0) expect(full + stage, 2 * (A_BYTES + B_BYTES));
                load(&a, a_tiles + stage * A_BYTES, full + stage, step * DEPTH, row);
                load(&b, b_tiles + stage * B_BYTES, full + stage, step * DEPTH, column + rank * (COLUMNS / 2));
            }
        } else if (warp == 1 && rank == 0 && elected()) {
            wait(stored + which, now ^ 1);
            fence_after();
            for (int step = 0; step < steps; step++, done++) {
                uint32_t stage = done % STAGES;
                wait(full + stage, done / STAGES & 1);
                fence_after();
                uint64_t left = described(a_tiles + stage * A_BYTES), right = described(b_tiles + stage * B_BYTES);
                for (int i = 0; i < DEPTH / 16; i++)
                    multiply(d + which * COLUMNS, left + i * 2, right + i * 2, step || i);
                commit(empty + stage);
            }
            commit(computed + which);
        } else if (warp >= 2) {
            wait(computed + which, now);
            fence_after();
            row += warp % 4 * 32 + threadIdx.x % 32;
            for (int j = 0; j < COLUMNS; j += 8) {
                float r[8];
                asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                             : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3]), "=f"(r[4]), "=f"(r[5]), "=f"(r[6]),
                               "=f"(r[7])
                             : "r"(d + (warp % 4 << 21) + which * COLUMNS + j));
                asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
                for (int i = 0; i < 8; i++) c[row * n + column + j + i] = r[i];
            }
            fence_before();
            __syncwarp();
            if (threadIdx.x % 32 == 0) arrive_at_first(stored + which);
        }
    }
    fence_before();
    __syncwarp();
    meet();
    if (warp == 2) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(d), "r"(ALLOCATED));
}
