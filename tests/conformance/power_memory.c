/* Shows how vectors, accumulators and the GCC built-ins look in memory; builds for both byte orders.
 *
 * Prints lines "name=hexadecimal bytes": bytes at increasing addresses, or for "load ..." a register image
 * in ISA order (most significant byte first), taken through general-purpose registers. A rank-k update is
 * named by its built-in, the masks in parentheses, and how its operands were made. There is no big-endian C
 * library for the cross compiler, so the program does without one.
 *
 * Build: powerpc64le-linux-gnu-gcc -static -mcpu=power10 -O1 -ffreestanding -nostdlib [-mbig-endian] power_memory.c
 */
#include <altivec.h>
#include <stdint.h>

typedef vector unsigned char vec;

static void write_all(const char *text, unsigned long length)
{
    register long number __asm__("r0") = 4; /* write */
    register long file __asm__("r3") = 1;
    register const char *start __asm__("r4") = text;
    register unsigned long size __asm__("r5") = length;
    __asm__ volatile("sc" : "+r"(number), "+r"(file), "+r"(start), "+r"(size)
                     : : "memory", "cr0", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "ctr");
}

static void print(const char *name, const volatile void *data, unsigned size)
{
    static const char digits[] = "0123456789abcdef";
    const volatile uint8_t *bytes = data;
    char line[256];
    unsigned length = 0;
    while (*name)
        line[length++] = *name++;
    line[length++] = '=';
    for (unsigned n = 0; n < size; n++) {
        line[length++] = digits[bytes[n] >> 4];
        line[length++] = digits[bytes[n] & 15];
    }
    line[length++] = '\n';
    write_all(line, length);
}

static void put_doubleword(volatile uint8_t *image, uint64_t value)
{
    for (int n = 0; n < 8; n++)
        image[n] = (uint8_t)(value >> (56 - 8 * n));
}

/* The bytes 00 01 ... 1f in memory, and in registers as doublewords. */
static volatile uint8_t counting[32] __attribute__((aligned(64)));
static const uint64_t doublewords[] = {
    0x0001020304050607, 0x08090a0b0c0d0e0f, 0x1011121314151617, 0x18191a1b1c1d1e1f,
};

#define LOAD(name, address)                                                                              \
    do {                                                                                                 \
        uint64_t d[4];                                                                                   \
        uint8_t image[32];                                                                               \
        __asm__ volatile(name " 34," address "\n\tmfvsrd %0,34\n\tmfvsrld %1,34\n\t"                     \
                         "mfvsrd %2,35\n\tmfvsrld %3,35"                                                 \
                         : "=&r"(d[0]), "=&r"(d[1]), "=&r"(d[2]), "=&r"(d[3])                            \
                         : "b"(counting) : "v2", "v3", "memory");                                        \
        for (int n = 0; n < 4; n++)                                                                      \
            put_doubleword(image + 8 * n, d[n]);                                                         \
        print("load " name, image, name[3] == 'p' ? 32 : 16);                                            \
    } while (0)

#define STORE(name, address)                                                                             \
    do {                                                                                                 \
        uint8_t memory[32] __attribute__((aligned(64)));                                                 \
        __asm__ volatile("mtvsrdd 34,%0,%1\n\tmtvsrdd 35,%2,%3\n\t" name " 34," address                  \
                         : : "b"(doublewords[0]), "r"(doublewords[1]), "b"(doublewords[2]),              \
                             "r"(doublewords[3]), "b"(memory) : "v2", "v3", "memory");                   \
        print("store " name, memory, name[4] == 'p' ? 32 : 16);                                          \
    } while (0)

#define PRINT_ACC(name, acc)                                                                             \
    do {                                                                                                 \
        uint8_t memory[64] __attribute__((aligned(64)));                                                 \
        __builtin_mma_disassemble_acc(memory, &(acc));                                                   \
        print(name, memory, 64);                                                                         \
    } while (0)

#define PRINT_PAIR(name, pair)                                                                           \
    do {                                                                                                 \
        uint8_t memory[32] __attribute__((aligned(64)));                                                 \
        __builtin_vsx_disassemble_pair(memory, &(pair));                                                 \
        print(name, memory, 32);                                                                         \
    } while (0)

/* With PMSK = 0 the accumulating form keeps the enabled elements and clears the others. */
#define KEEP(build, xmsk, ymsk)                                                                          \
    do {                                                                                                 \
        __vector_quad acc;                                                                               \
        __builtin_mma_##build(&acc, argument(0), argument(1), argument(2), argument(3));                 \
        __builtin_mma_pmxvi4ger8pp(&acc, argument(0), argument(0), xmsk, ymsk, 0);                       \
        PRINT_ACC("pmxvi4ger8pp(" #xmsk ", " #ymsk ", 0) " #build, acc);                                 \
    } while (0)

/* Argument n of a building built-in: in memory the bytes n0 n1 ... nf. */
static volatile uint8_t numbered[4][16] __attribute__((aligned(64)));

static vec argument(int n)
{
    return *(const volatile vec *)numbered[n];
}

static void accumulators_and_pairs(void)
{
    __vector_quad acc;
    __vector_pair pair;
    __builtin_mma_assemble_acc(&acc, argument(0), argument(1), argument(2), argument(3));
    PRINT_ACC("assemble_acc", acc);
    __builtin_mma_build_acc(&acc, argument(0), argument(1), argument(2), argument(3));
    PRINT_ACC("build_acc", acc);
    __builtin_vsx_assemble_pair(&pair, argument(0), argument(1));
    PRINT_PAIR("assemble_pair", pair);
    __builtin_vsx_build_pair(&pair, argument(0), argument(1));
    PRINT_PAIR("build_pair", pair);
    KEEP(assemble_acc, 8, 15);
    KEEP(assemble_acc, 4, 15);
    KEEP(assemble_acc, 15, 8);
    KEEP(build_acc, 8, 15);
    KEEP(build_acc, 4, 15);
    KEEP(build_acc, 15, 8);
    __builtin_mma_xxsetaccz(&acc);
    PRINT_ACC("xxsetaccz", acc);
}

/* One product of two arrays that stand in memory as C declares them. */
#define PRODUCT(ger, ...)                                                                                \
    do {                                                                                                 \
        __vector_quad acc;                                                                               \
        __builtin_mma_##ger(&acc, *(const volatile vec *)x, *(const volatile vec *)y, ##__VA_ARGS__);    \
        PRINT_ACC(#ger "(" #__VA_ARGS__ ")", acc);                                                       \
    } while (0)

static void products(void)
{
    {
        static volatile const uint8_t x[16] __attribute__((aligned(16))) = {
            0x21, 0x43, 0x65, 0x87, 0x12, 0xf3, 0x0d, 0x71, 0x18, 0x29, 0x3a, 0x4b, 0xff, 0x01, 0x10, 0x80};
        static volatile const uint8_t y[16] __attribute__((aligned(16))) = {
            0x01, 0x20, 0x03, 0x40, 0x98, 0xa9, 0xba, 0xcb, 0x3f, 0x00, 0x70, 0x07, 0x11, 0x21, 0x12, 0x8f};
        print("s4 x", x, 16);
        print("s4 y", y, 16);
        PRODUCT(xvi4ger8);
        PRODUCT(pmxvi4ger8, 15, 15, 1);
        PRODUCT(pmxvi4ger8, 15, 15, 2);
        PRODUCT(pmxvi4ger8, 4, 2, 128);
    }
    {
        static volatile const int8_t x[16] __attribute__((aligned(16))) = {
            1, 2, 3, 4, -128, 127, 9, -7, 11, 13, -17, 19, 0, 0, 1, -1};
        static volatile const uint8_t y[16] __attribute__((aligned(16))) = {
            1, 2, 4, 8, 255, 254, 253, 252, 3, 5, 7, 11, 128, 129, 130, 131};
        print("s8 x", x, 16);
        print("u8 y", y, 16);
        PRODUCT(xvi8ger4);
        PRODUCT(pmxvi8ger4, 15, 15, 8);
        PRODUCT(pmxvi8ger4, 15, 15, 1);
        PRODUCT(pmxvi8ger4, 1, 4, 6);
    }
    {
        static volatile const int16_t x[8] __attribute__((aligned(16))) = {1, -2, 300, 4000, -32768, 32767, 7, 0};
        static volatile const int16_t y[8] __attribute__((aligned(16))) = {5, 6, -700, 800, -32768, 32767, 0, 11};
        print("s16 x", x, 16);
        print("s16 y", y, 16);
        PRODUCT(xvi16ger2);
        PRODUCT(pmxvi16ger2, 3, 5, 2);
        PRODUCT(pmxvi16ger2, 3, 5, 1);
    }
    {
        /* 1.0 2.0 3.0 4.0 ... as upper halves of f32, and 1.0 2.0 3.0 4.0 ... as f16 */
        static volatile const uint16_t x[8] __attribute__((aligned(16))) = {
            0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0, 0xc100};
        static volatile const uint16_t y[8] __attribute__((aligned(16))) = {
            0x4080, 0xbf80, 0x40a0, 0x4000, 0x3f80, 0x3f80, 0x4000, 0x4040};
        print("bf16 x", x, 16);
        print("bf16 y", y, 16);
        PRODUCT(xvbf16ger2);
        PRODUCT(pmxvbf16ger2, 1, 8, 1);
    }
    {
        static volatile const uint16_t x[8] __attribute__((aligned(16))) = {
            0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0xc800};
        static volatile const uint16_t y[8] __attribute__((aligned(16))) = {
            0x4400, 0xbc00, 0x4500, 0x4000, 0x3c00, 0x3c00, 0x4000, 0x4200};
        print("f16 x", x, 16);
        print("f16 y", y, 16);
        PRODUCT(xvf16ger2);
        PRODUCT(pmxvf16ger2, 6, 9, 2);
    }
    {
        static volatile const float x[4] __attribute__((aligned(16))) = {1, 2, 3, 4};
        static volatile const float y[4] __attribute__((aligned(16))) = {10, 20, 30, 40};
        print("f32 x", x, 16);
        print("f32 y", y, 16);
        PRODUCT(xvf32ger);
        PRODUCT(pmxvf32ger, 8, 15);
        PRODUCT(pmxvf32ger, 15, 2);
    }
}

static void double_products(void)
{
    static volatile double x[4] __attribute__((aligned(32))) = {1, 2, 3, 4};
    static volatile double y[2] __attribute__((aligned(16))) = {10, 20};
    const vec low = *(const volatile vec *)x, high = *(const volatile vec *)(x + 2), right = *(const volatile vec *)y;
    const volatile void *address = x;
    __vector_pair left = __builtin_vsx_lxvp(0, (const __vector_pair *)address);
    __vector_quad acc;
    print("f64 x", x, 32);
    print("f64 y", y, 16);
    __builtin_mma_xvf64ger(&acc, left, right);
    PRINT_ACC("xvf64ger() lxvp", acc);
    __builtin_mma_pmxvf64ger(&acc, left, right, 8, 1);
    PRINT_ACC("pmxvf64ger(8, 1) lxvp", acc);
    __builtin_vsx_build_pair(&left, low, high);
    __builtin_mma_xvf64ger(&acc, left, right);
    PRINT_ACC("xvf64ger() build_pair", acc);
    __builtin_vsx_assemble_pair(&left, low, high);
    __builtin_mma_xvf64ger(&acc, left, right);
    PRINT_ACC("xvf64ger() assemble_pair", acc);
}

void _start(void)
{
    for (int n = 0; n < 32; n++)
        counting[n] = (uint8_t)n;
    for (int n = 0; n < 64; n++)
        numbered[n / 16][n % 16] = (uint8_t)n;
    LOAD("lxv", "0(%4)");
    LOAD("lxvp", "0(%4)");
    LOAD("lxvx", "0,%4");
    LOAD("lxvpx", "0,%4");
    LOAD("lxvb16x", "0,%4");
    STORE("stxv", "0(%4)");
    STORE("stxvp", "0(%4)");
    STORE("stxvx", "0,%4");
    STORE("stxvpx", "0,%4");
    STORE("stxvb16x", "0,%4");
    accumulators_and_pairs();
    products();
    double_products();
    __asm__ volatile("li 0,234\n\tli 3,0\n\tsc"); /* exit_group(0) */
}
