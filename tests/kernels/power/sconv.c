/* SCONV 8 x 27 x 16: the kernel of Moreira et al., section V-B, written for mmaproof.
   AS_PRINTED leaves the macro's arguments without parentheses, as figure 8 does. */
typedef vector unsigned char vec_t;
typedef vector float floats_t;

#ifdef AS_PRINTED
#define ARGUMENT(x) x
#else
#define ARGUMENT(x) (x)
#endif

#define STORE(at, acc) \
    do { \
        vec_t rows[4]; \
        __builtin_mma_disassemble_acc(rows, &acc); \
        for (int row = 0; row < 4; row++) \
            ((vec_t *)C)[(at) + row] = rows[row]; \
    } while (0)

#define AT(pointer, index) ((vec_t) * ((floats_t *)ARGUMENT(pointer) + index))

#define UPDATE(operation, X, Y) \
    do { \
        vec_t x0 = AT(X, 0), x1 = AT(X, 1); \
        vec_t y0 = AT(Y, 0), y1 = AT(Y, 1), y2 = AT(Y, 2), y3 = AT(Y, 3); \
        operation(&acc0, x0, y0); \
        operation(&acc1, x0, y1); \
        operation(&acc4, x1, y0); \
        operation(&acc5, x1, y1); \
        operation(&acc2, x0, y2); \
        operation(&acc3, x0, y3); \
        operation(&acc6, x1, y2); \
        operation(&acc7, x1, y3); \
    } while (0)

#define ROW(first, channel) \
    UPDATE(first, H, channel); \
    UPDATE(__builtin_mma_xvf32gerpp, H + 8, channel + 1); \
    UPDATE(__builtin_mma_xvf32gerpp, H + 16, channel + 2)

#define CHANNEL(first, channel) \
    ROW(first, channel); \
    channel += n, H += 24; \
    ROW(__builtin_mma_xvf32gerpp, channel); \
    channel += n, H += 24; \
    ROW(__builtin_mma_xvf32gerpp, channel)

void sconv_kernel_8x27x16(float *C, const float *H, const float *R, const float *G, const float *B, int n)
{
    __vector_quad acc0, acc1, acc2, acc3, acc4, acc5, acc6, acc7;
    CHANNEL(__builtin_mma_xvf32ger, R);
    H += 24;
    CHANNEL(__builtin_mma_xvf32gerpp, G);
    H += 24;
    CHANNEL(__builtin_mma_xvf32gerpp, B);
    STORE(0, acc0);
    STORE(4, acc1);
    STORE(8, acc2);
    STORE(12, acc3);
    STORE(16, acc4);
    STORE(20, acc5);
    STORE(24, acc6);
    STORE(28, acc7);
}
