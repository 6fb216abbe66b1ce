/* Executes rank-k updates on whatever Power10 this runs on: an oracle for the specification.
 *
 * Reads `struct record`s on standard input and writes one `struct outcome` each on standard output.
 * Register images are in ISA byte order (row 0 first, most significant byte first); the words and the
 * other numbers are in the machine's byte order. The instruction must name ACC[1], X in VSR[34] (and
 * VSR[35]) and Y in VSR[36]; a word form has prefix 0. The instruction in the stub is rewritten only
 * when it changes, so records of one instruction are best kept together.
 *
 * Build: powerpc64le-linux-gnu-gcc -static -mcpu=power10 -O1 power_oracle.c
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

struct record {
    uint32_t prefix, suffix;
    uint64_t rounding; /* FPSCR before the instruction: RN, everything else 0 */
    uint8_t acc[64], x[32], y[16];
};

struct outcome {
    uint8_t acc[64];
    uint64_t fpscr;
    uint8_t vscr[16]; /* SAT is the last bit */
};

enum { BATCH = 512, BLR = 0x4e800020 };

/* The stub starts a page, so its prefixed instruction doesn't cross a 64-byte boundary. */
static void write_stub(uint32_t *stub, uint32_t prefix, uint32_t suffix)
{
    uint32_t *word = stub;
    if (prefix)
        *word++ = prefix;
    *word++ = suffix;
    *word = BLR;
    __asm__ volatile("dcbst 0,%0\n\tsync\n\ticbi 0,%0\n\tsync\n\tisync" : : "r"(stub) : "memory");
}

static void execute(const uint32_t *stub, const struct record *in, struct outcome *out)
{
    __asm__ volatile(
        "lxvb16x 34,0,%[x]\n\t"
        "lxvb16x 35,%[second],%[x]\n\t"
        "lxvb16x 36,0,%[y]\n\t"
        "lxvb16x 4,0,%[acc]\n\t"
        "lxvb16x 5,%[second],%[acc]\n\t"
        "lxvb16x 6,%[third],%[acc]\n\t"
        "lxvb16x 7,%[fourth],%[acc]\n\t"
        "xxmtacc 1\n\t"
        "vxor 0,0,0\n\t"
        "mtvscr 0\n\t"
        "lfd 0,0(%[rounding])\n\t"
        "mtfsf 255,0,1,0\n\t"
        "mtctr %[stub]\n\t"
        "bctrl\n\t"
        "mffs 0\n\t"
        "stfd 0,0(%[fpscr])\n\t"
        "mfvscr 0\n\t"
        "stxvb16x 32,0,%[vscr]\n\t"
        "xxmfacc 1\n\t"
        "stxvb16x 4,0,%[result]\n\t"
        "stxvb16x 5,%[second],%[result]\n\t"
        "stxvb16x 6,%[third],%[result]\n\t"
        "stxvb16x 7,%[fourth],%[result]\n\t"
        "xxlxor 0,0,0\n\t"
        "mtfsf 255,0,1,0"
        :
        : [stub] "b"(stub), [x] "b"(in->x), [y] "b"(in->y), [acc] "b"(in->acc), [rounding] "b"(&in->rounding),
          [result] "b"(out->acc), [fpscr] "b"(&out->fpscr), [vscr] "b"(out->vscr),
          [second] "b"(16L), [third] "b"(32L), [fourth] "b"(48L)
        : "ctr", "lr", "memory", "fr0", "fr4", "fr5", "fr6", "fr7", "v0", "v2", "v3", "v4");
}

int main(void)
{
    static struct record in[BATCH];
    static struct outcome out[BATCH];
    uint32_t prefix = 0, suffix = 0;
    uint32_t *stub = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stub == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    size_t count;
    while ((count = fread(in, sizeof in[0], BATCH, stdin)) > 0) {
        for (size_t n = 0; n < count; n++) {
            if (in[n].prefix != prefix || in[n].suffix != suffix) {
                prefix = in[n].prefix;
                suffix = in[n].suffix;
                write_stub(stub, prefix, suffix);
            }
            execute(stub, &in[n], &out[n]);
        }
        if (fwrite(out, sizeof out[0], count, stdout) != count) {
            perror("standard output");
            return 1;
        }
    }
    return ferror(stdin) ? 1 : 0;
}
