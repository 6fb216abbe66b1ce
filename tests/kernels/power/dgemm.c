/* DGEMM 8 x N x 8: the kernel of Moreira et al., section V-A, written for mmaproof. */
typedef vector unsigned char vec_t;

#define STORE(at, acc) \
    do { \
        vec_t rows[4]; \
        __builtin_mma_disassemble_acc(rows, &acc); \
        for (int row = 0; row < 4; row++) \
            ((vec_t *)A)[(at) + row] = rows[row]; \
    } while (0)

#define UPDATE(operation) \
    do { \
        __vector_pair x0 = *(__vector_pair *)(void *)X, x1 = *(__vector_pair *)(void *)(X + 4); \
        vec_t y0 = ((vec_t *)Y)[0], y1 = ((vec_t *)Y)[1], y2 = ((vec_t *)Y)[2], y3 = ((vec_t *)Y)[3]; \
        operation(&acc0, x0, y0); \
        operation(&acc1, x0, y1); \
        operation(&acc4, x1, y0); \
        operation(&acc5, x1, y1); \
        operation(&acc2, x0, y2); \
        operation(&acc3, x0, y3); \
        operation(&acc6, x1, y2); \
        operation(&acc7, x1, y3); \
    } while (0)

void dgemm_kernel_8xNx8(double *A, const double *X, const double *Y, int n)
{
    __vector_quad acc0, acc1, acc2, acc3, acc4, acc5, acc6, acc7;
    if (n < 1)
        return;
    UPDATE(__builtin_mma_xvf64ger);
    for (int step = 1; step < n; step++) {
        X += 8;
        Y += 8;
        UPDATE(__builtin_mma_xvf64gerpp);
    }
    STORE(0, acc0);
    STORE(4, acc1);
    STORE(8, acc2);
    STORE(12, acc3);
    STORE(16, acc4);
    STORE(20, acc5);
    STORE(24, acc6);
    STORE(28, acc7);
}
