/* C[4][4] = A[4][K] * B[4][K]^T of signed by unsigned bytes, K a multiple of 4, in packed words. */
typedef vector unsigned char vec_t;

void igemm(int *c, const signed char *a, const unsigned char *b, long k)
{
    __vector_quad acc;
    __builtin_mma_xxsetaccz(&acc);
    for (long p = 0; p < k / 4; p++)
        __builtin_mma_xvi8ger4pp(&acc, ((const vec_t *)a)[p], ((const vec_t *)b)[p]);
    __builtin_mma_disassemble_acc(c, &acc);
}
