/* C (4 x n, s32) = A (4 x k, s8 by rows) * B (n x k, u8 by rows), n ragged, k a multiple of 4: dot products of four. */
#include <altivec.h>
#include <string.h>
typedef vector unsigned char vec_t;
typedef vector int ints_t;

void qgemm_4xn(int n, int k, const signed char *a, const unsigned char *b, int *c, int ldc)
{
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        __vector_quad acc;
        ints_t rows[4];
        __builtin_mma_xxsetaccz(&acc);
        for (int p = 0; p < k; p += 4) {
            unsigned int x[4], y[4];
            vec_t va, vb;
            for (int r = 0; r < 4; r++) {
                memcpy(x + r, a + r * k + p, 4);
                memcpy(y + r, b + (j + r) * k + p, 4);
            }
            memcpy(&va, x, 16);
            memcpy(&vb, y, 16);
            __builtin_mma_xvi8ger4pp(&acc, va, vb);
        }
        __builtin_mma_disassemble_acc(rows, &acc);
        for (int r = 0; r < 4; r++)
            memcpy(c + r * ldc + j, rows + r, 16);
    }
    for (; j < n; j++)
        for (int r = 0; r < 4; r++) {
            int sum = 0;
            for (int p = 0; p < k; p++)
                sum += a[r * k + p] * b[j * k + p];
            c[r * ldc + j] = sum;
        }
}
