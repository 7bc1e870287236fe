// Makes one call of the process fail. FAILING is "KIND N ERRNO SIGN": the kind of call, which of them fails, counted from 1,
// the number of the error, and a file that is made when the call was met.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char kind[16];
static char sign[4096];
static int number;
static atomic_long left;
static atomic_int ready;

__attribute__((constructor)) static void start(void) {
    const char *given = getenv("FAILING");
    long nth;
    if (given && sscanf(given, "%15s %ld %d %4095s", kind, &nth, &number, sign) == 4) atomic_store(&left, nth);
    else kind[0] = 0;
}

static int fails(const char *called) {
    if (kind[0] == 0 || strcmp(called, kind) != 0 || atomic_fetch_sub(&left, 1) != 1) return 0;
    int made = (int)syscall(SYS_openat, AT_FDCWD, sign, O_CREAT | O_WRONLY, 0600);
    if (made >= 0) syscall(SYS_close, made);
    errno = number;
    return 1;
}

#define FAIL(called, failed, type, name, given, passed)                                                                        \
    type name given {                                                                                                          \
        static type(*real) given;                                                                                              \
        if (fails(called)) return failed;                                                                                      \
        if (!real) real = (type(*) given)dlsym(RTLD_NEXT, #name);                                                              \
        return real passed;                                                                                                    \
    }

FAIL("read", -1, ssize_t, read, (int f, void *b, size_t n), (f, b, n))
FAIL("read", -1, ssize_t, pread64, (int f, void *b, size_t n, off_t o), (f, b, n, o))
FAIL("write", -1, ssize_t, write, (int f, const void *b, size_t n), (f, b, n))
FAIL("write", -1, ssize_t, pwrite64, (int f, const void *b, size_t n, off_t o), (f, b, n, o))
FAIL("write", -1, ssize_t, writev, (int f, const struct iovec *v, int n), (f, v, n))
FAIL("sync", -1, int, fsync, (int f), (f))
FAIL("sync", -1, int, fdatasync, (int f), (f))
FAIL("truncate", -1, int, ftruncate64, (int f, off_t n), (f, n))
FAIL("rename", -1, int, rename, (const char *a, const char *b), (a, b))
FAIL("rename", -1, int, linkat, (int d, const char *a, int e, const char *b, int f), (d, a, e, b, f))
FAIL("remove", -1, int, unlink, (const char *p), (p))
FAIL("make", -1, int, mkdir, (const char *p, mode_t m), (p, m))
FAIL("mode", -1, int, fchmod, (int f, mode_t m), (f, m))
FAIL("lock", -1, int, flock, (int f, int o), (f, o))
FAIL("stat", -1, int, statx, (int d, const char *p, int f, unsigned m, void *s), (d, p, f, m, s))
FAIL("list", NULL, DIR *, opendir, (const char *p), (p))
FAIL("list", NULL, struct dirent64 *, readdir64, (DIR * d), (d))

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return fails("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

// Maps of files only: without a stack for its signals, a thread of the standard library aborts.
void *mmap64(void *a, size_t n, int p, int f, int d, off_t o) {
    if (d >= 0 && fails("map")) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, a, n, p, f, d, o);
}

// Memory is counted from the moment when the command handles aborts: before that, the standard library starts.
int sigaction(int signal, const struct sigaction *new, struct sigaction *old) {
    static int (*real)(int, const struct sigaction *, struct sigaction *);
    if (!real) real = (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
    if (signal == SIGABRT) atomic_store(&ready, 1);
    return real(signal, new, old);
}

static int runs_out(void) {
    static const char message[] = "a memory allocation failed\n";
    if (!atomic_load(&ready)) return 0;
    // As the C library ends a process where it has no memory for itself.
    if (fails("abort")) {
        syscall(SYS_write, 2, message, sizeof message - 1);
        abort();
    }
    return fails("memory");
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
void *malloc(size_t n) { return runs_out() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return runs_out() ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return runs_out() ? NULL : __libc_realloc(p, n); }
int posix_memalign(void **out, size_t a, size_t n) {
    return !runs_out() && (*out = __libc_memalign(a, n)) ? 0 : ENOMEM;
}
