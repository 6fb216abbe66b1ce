/* Calls an inner kernel of a product of matrices that stands in a shared library, at an address:
   power_library LIBRARY ADDRESS m n k ldc BYTES_OF_A BYTES_OF_B BYTES_OF_C < alpha A B C > C
   The library is mapped without relocations: inner kernels need none. A float is passed as a double is. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef int kernel(long, long, long, double, void *, void *, void *, long);

static void *bytes(long size, FILE *from)
{
    void *data = aligned_alloc(16, (size + 15) / 16 * 16);
    if (data == NULL || fread(data, 1, size, from) != (size_t)size)
        exit(2);
    return data;
}

static char *mapped(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        exit(3);
    long size = ftell(file);
    rewind(file);
    char *data = bytes(size, file);
    Elf64_Ehdr *header = (void *)data;
    Elf64_Phdr *parts = (void *)(data + header->e_phoff);
    unsigned long end = 0;
    for (int each = 0; each < header->e_phnum; each++)
        if (parts[each].p_type == PT_LOAD && parts[each].p_vaddr + parts[each].p_memsz > end)
            end = parts[each].p_vaddr + parts[each].p_memsz;
    char *base = mmap(NULL, end, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        exit(4);
    for (int each = 0; each < header->e_phnum; each++)
        if (parts[each].p_type == PT_LOAD)
            memcpy(base + parts[each].p_vaddr, data + parts[each].p_offset, parts[each].p_filesz);
    __builtin___clear_cache(base, base + end);
    return base;
}

int main(int count, char **given)
{
    if (count != 10)
        return 1;
    long numbers[7];
    for (int each = 0; each < 7; each++)
        numbers[each] = atol(given[3 + each]);
    kernel *called = (kernel *)(void *)(mapped(given[1]) + strtoul(given[2], NULL, 0));
    double *alpha = bytes(sizeof *alpha, stdin);
    void *a = bytes(numbers[4], stdin), *b = bytes(numbers[5], stdin), *c = bytes(numbers[6], stdin);
    called(numbers[0], numbers[1], numbers[2], *alpha, a, b, c, numbers[3]);
    fwrite(c, 1, numbers[6], stdout);
    return 0;
}
