/* y (m) = relu(A (m x k, by columns) * x + bias) in strips of 16 rows with vsx, the last strip by lengths of loads. */
#include <altivec.h>
typedef vector float floats_t;

void strip(int m, int k, const float *a, const float *x, const float *bias, float *y)
{
    int i = 0;
    const floats_t zero = {0, 0, 0, 0};
    for (; i + 16 <= m; i += 16) {
        floats_t s0 = vec_xl(0, bias + i), s1 = vec_xl(16, bias + i), s2 = vec_xl(32, bias + i), s3 = vec_xl(48, bias + i);
        for (int p = 0; p < k; p++) {
            const float *column = a + (long)p * m + i;
            floats_t w = vec_splats(x[p]);
            s0 = vec_madd(vec_xl(0, column), w, s0);
            s1 = vec_madd(vec_xl(16, column), w, s1);
            s2 = vec_madd(vec_xl(32, column), w, s2);
            s3 = vec_madd(vec_xl(48, column), w, s3);
        }
        vec_xst(vec_max(s0, zero), 0, y + i);
        vec_xst(vec_max(s1, zero), 16, y + i);
        vec_xst(vec_max(s2, zero), 32, y + i);
        vec_xst(vec_max(s3, zero), 48, y + i);
    }
    for (; i < m; i += 4) {
        long left = (m - i < 4 ? m - i : 4) * sizeof(float);
        floats_t s = vec_xl_len((float *)bias + i, left);
        for (int p = 0; p < k; p++)
            s = vec_madd(vec_xl_len((float *)a + (long)p * m + i, left), vec_splats(x[p]), s);
        vec_xst_len(vec_max(s, zero), y + i, left);
    }
}
