/* Random reads of 4 KiB through libnfs, as many outstanding as requested, to compare Stormeter's
 * own NFS client with. Prints the number of reads and the seconds they took.
 *
 * Everything is left out that is not libnfs: no latencies are taken, and what was read is not even
 * copied out of the library's buffer. */

#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nfsc/libnfs.h>

enum { BLOCK_BYTES = 4096, LIMIT_S = 300 };

static struct nfs_context *nfs;
static struct nfsfh *file;
static uint64_t blocks, state = 1;
static uint64_t operations, most_operations = UINT64_MAX, issued, outstanding;
static int is_over;

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, nfs_get_error(nfs));
    exit(1);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* xorshift64: cheap, and good enough to choose a block. */
static uint64_t offset_bytes(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 16) % blocks * BLOCK_BYTES;
}

static void issue(void);

static void done(int status, struct nfs_context *context, void *data, void *unused)
{
    (void)context, (void)data, (void)unused;
    if (status != BLOCK_BYTES)
        die("read");
    operations++;
    outstanding--;
    issue();
}

static void issue(void)
{
    if (is_over || issued == most_operations)
        return;
    if (nfs_pread_async(nfs, file, offset_bytes(), BLOCK_BYTES, done, NULL) != 0)
        die("nfs_pread_async");
    issued++;
    outstanding++;
}

int main(int count, char **words)
{
    if (count != 7) {
        fprintf(stderr, "usage: %s URL_OF_EXPORT FILE BYTES OUTSTANDING ops|ms COUNT\n", words[0]);
        return 2;
    }
    blocks = strtoull(words[3], NULL, 10) / BLOCK_BYTES;
    uint64_t depth = strtoull(words[4], NULL, 10);
    int is_timed = strcmp(words[5], "ms") == 0;
    uint64_t length = strtoull(words[6], NULL, 10);
    if (blocks == 0 || depth == 0) {
        fprintf(stderr, "there is nothing to read\n");
        return 2;
    }
    if (!is_timed)
        most_operations = length;

    /* The library tries for ever to reach a server that went away. */
    alarm(LIMIT_S);
    nfs = nfs_init_context();
    if (nfs == NULL) {
        fprintf(stderr, "nfs_init_context failed\n");
        return 1;
    }
    struct nfs_url *url = nfs_parse_url_dir(nfs, words[1]);
    if (url == NULL)
        die(words[1]);
    if (nfs_mount(nfs, url->server, url->path) != 0)
        die("mount");
    if (nfs_open(nfs, words[2], 0, &file) != 0)
        die("open");
    nfs_destroy_url(url);

    double begin_s = now_s();
    double end_s = is_timed ? begin_s + (double)length / 1e3 : 0;
    for (uint64_t slot = 0; slot < depth; slot++)
        issue();
    while (outstanding > 0) {
        struct pollfd pollfd = { .fd = nfs_get_fd(nfs), .events = (short)nfs_which_events(nfs) };
        if (poll(&pollfd, 1, -1) < 0) {
            perror("poll");
            return 1;
        }
        if (nfs_service(nfs, pollfd.revents) < 0)
            die("nfs_service");
        if (is_timed && !is_over)
            is_over = now_s() >= end_s;
    }
    printf("%" PRIu64 " %.9f\n", operations, now_s() - begin_s);
    nfs_close(nfs, file);
    nfs_destroy_context(nfs);
    return 0;
}
