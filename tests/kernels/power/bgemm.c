/* C (m x n, ldc) += A * B of bf16 in packed panels of 8 and 4 and pairs along k, as in BLIS's sbgemm: any k even. */
#include <altivec.h>
typedef vector unsigned char vec_t;
typedef vector float floats_t;
typedef unsigned short bf16;

static inline void store(float *c, int ldc, __vector_quad *acc, float alpha, float beta)
{
    floats_t rows[4];
    __builtin_mma_disassemble_acc(rows, acc);
    for (int r = 0; r < 4; r++) {
        floats_t *to = (floats_t *)(c + r * ldc);
        if (beta == 0.0f)
            *to = rows[r] * alpha;
        else
            *to = rows[r] * alpha + *to * beta;
    }
}

void bgemm_8x4(int k, const float *alpha, const bf16 *a, const bf16 *b, const float *beta, float *c, int ldc)
{
    __vector_quad top, bottom;
    __builtin_mma_xxsetaccz(&top);
    __builtin_mma_xxsetaccz(&bottom);
    for (int p = 0; p < k / 2; p++) {
        vec_t a0 = *(const vec_t *)(a), a1 = *(const vec_t *)(a + 8), b0 = *(const vec_t *)b;
        __builtin_mma_xvbf16ger2pp(&top, a0, b0);
        __builtin_mma_xvbf16ger2pp(&bottom, a1, b0);
        a += 16;
        b += 8;
    }
    store(c, ldc, &top, *alpha, *beta);
    store(c + 4 * ldc, ldc, &bottom, *alpha, *beta);
}
