/* C[M][N] += A[M][K] * B[K][N], row-major, of any M, N and K: as Eigen and OpenBLAS have it, four rows by four
   columns in an accumulator, remainders through masks of rows, lengths of loads, and scalars. */
typedef vector unsigned char vec_t;
typedef vector float floats_t;

static void edge(int rows, int columns, int k, const float *a, int lda, const float *b, int ldb, float *c, int ldc)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = c[i * ldc + j];
            for (int p = 0; p < k; p++)
                sum = __builtin_fmaf(a[i * lda + p], b[p * ldb + j], sum);
            c[i * ldc + j] = sum;
        }
}

void sgemm(int m, int n, int k, const float *a, const float *b, float *c)
{
    int i = 0;
    for (; i + 4 <= m; i += 4) {
        int j = 0;
        for (; j + 4 <= n; j += 4) {
            __vector_quad acc;
            __builtin_mma_xxsetaccz(&acc);
            for (int p = 0; p < k; p++) {
                floats_t x = {a[i * k + p], a[(i + 1) * k + p], a[(i + 2) * k + p], a[(i + 3) * k + p]};
                floats_t y;
                __builtin_memcpy(&y, b + p * n + j, 16);
                __builtin_mma_xvf32gerpp(&acc, (vec_t)x, (vec_t)y);
            }
            floats_t rows[4];
            __builtin_mma_disassemble_acc(rows, &acc);
            for (int r = 0; r < 4; r++) {
                floats_t old;
                __builtin_memcpy(&old, c + (i + r) * n + j, 16);
                old += rows[r];
                __builtin_memcpy(c + (i + r) * n + j, &old, 16);
            }
        }
        edge(4, n - j, k, a + i * k, k, b + j, n, c + i * n + j, n);
    }
    edge(m - i, n, k, a + i * k, k, b, n, c + i * n, n);
}
