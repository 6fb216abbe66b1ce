/* C[i][j] = sum over p of A[p][i] * B[p][j]: a panel of A and one of B, K steps of a rank-1 update of a 4x4 tile. */
#include <altivec.h>

typedef vector unsigned char bytes;

void gemm_4x4(float *c, const float *a, const float *b, long k)
{
    __vector_quad accumulator;
    vector float rows[4];

    __builtin_mma_xxsetaccz(&accumulator);
    for (long p = 0; p < k; p++)
        __builtin_mma_xvf32gerpp(&accumulator, (bytes)vec_xl(0, a + 4 * p), (bytes)vec_xl(0, b + 4 * p));
    __builtin_mma_disassemble_acc(rows, &accumulator);
    for (int i = 0; i < 4; i++)
        vec_xst(rows[i], 0, c + 4 * i);
}
