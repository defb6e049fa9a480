/* Random reads or writes of 4 KiB through libiscsi, as many outstanding as requested, to compare
 * Stormeter's own iSCSI initiator with. Prints the number of I/Os and the seconds they took.
 *
 * Everything is left out that is not libiscsi: no latencies are taken, and data goes straight into
 * and out of one buffer for each I/O, as the library is quickest. */

#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>

enum { BLOCK_BYTES = 4096, LIMIT_S = 300 };

struct slot {
    unsigned char *buffer;
    struct scsi_iovec vector;
};

static struct iscsi_context *iscsi;
static int lun, is_write, is_over;
static uint32_t logical_block_bytes;
static uint64_t base_bytes, blocks, state = 1;
static uint64_t operations, most_operations = UINT64_MAX, issued, outstanding;

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, iscsi_get_error(iscsi));
    exit(1);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* xorshift64: cheap, and good enough to choose a block. */
static uint64_t random_word(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void issue(struct slot *slot);

static void done(struct iscsi_context *context, int status, void *command, void *slot)
{
    (void)context;
    struct scsi_task *task = command;
    if (status != SCSI_STATUS_GOOD)
        die(is_write ? "write" : "read");
    scsi_free_scsi_task(task);
    operations++;
    outstanding--;
    issue(slot);
}

static void issue(struct slot *slot)
{
    if (is_over || issued == most_operations)
        return;
    uint64_t offset_bytes = base_bytes + (random_word() >> 16) % blocks * BLOCK_BYTES;
    uint32_t address = (uint32_t)(offset_bytes / logical_block_bytes);
    struct scsi_task *task;
    slot->vector.iov_base = slot->buffer;
    slot->vector.iov_len = BLOCK_BYTES;
    if (is_write)
        task = iscsi_write10_iov_task(iscsi, lun, address, NULL, BLOCK_BYTES,
                                      (int)logical_block_bytes, 0, 0, 0, 0, 0, done, slot,
                                      &slot->vector, 1);
    else
        task = iscsi_read10_iov_task(iscsi, lun, address, BLOCK_BYTES, (int)logical_block_bytes, 0,
                                     0, 0, 0, 0, done, slot, &slot->vector, 1);
    if (task == NULL)
        die("task");
    issued++;
    outstanding++;
}

static void connect_to(const char *url_text)
{
    iscsi = iscsi_create_context("iqn.2026-01.org.stormeter:bench");
    if (iscsi == NULL) {
        fprintf(stderr, "iscsi_create_context failed\n");
        exit(1);
    }
    struct iscsi_url *url = iscsi_parse_full_url(iscsi, url_text);
    if (url == NULL)
        die(url_text);
    lun = url->lun;
    iscsi_set_session_type(iscsi, ISCSI_SESSION_NORMAL);
    iscsi_set_header_digest(iscsi, ISCSI_HEADER_DIGEST_NONE);
    if (iscsi_set_targetname(iscsi, url->target) != 0)
        die("target");
    if (iscsi_full_connect_sync(iscsi, url->portal, url->lun) != 0)
        die("login");
    iscsi_destroy_url(url);
    struct scsi_task *task = iscsi_readcapacity10_sync(iscsi, lun, 0, 0);
    if (task == NULL || task->status != SCSI_STATUS_GOOD)
        die("READ CAPACITY");
    struct scsi_readcapacity10 *capacity = scsi_datain_unmarshall(task);
    if (capacity == NULL || capacity->block_size == 0)
        die("READ CAPACITY");
    logical_block_bytes = capacity->block_size;
    scsi_free_scsi_task(task);
}

int main(int count, char **words)
{
    if (count != 8) {
        fprintf(stderr, "usage: %s read|write URL BASE_BYTES BYTES OUTSTANDING ops|ms COUNT\n",
                words[0]);
        return 2;
    }
    is_write = strcmp(words[1], "write") == 0;
    base_bytes = strtoull(words[3], NULL, 10);
    blocks = strtoull(words[4], NULL, 10) / BLOCK_BYTES;
    uint64_t depth = strtoull(words[5], NULL, 10);
    int is_timed = strcmp(words[6], "ms") == 0;
    uint64_t length = strtoull(words[7], NULL, 10);
    if (!is_timed)
        most_operations = length;
    struct slot *slots = calloc(depth, sizeof *slots);
    unsigned char *memory = malloc(depth * BLOCK_BYTES);
    if (blocks == 0 || depth == 0 || slots == NULL || memory == NULL) {
        fprintf(stderr, "there is nothing to do, or no memory to do it\n");
        return 2;
    }
    for (uint64_t byte = 0; byte < depth * BLOCK_BYTES; byte++)
        memory[byte] = (unsigned char)random_word();
    /* The library tries for ever to reach a server that went away. */
    alarm(LIMIT_S);
    connect_to(words[2]);

    double begin_s = now_s();
    double end_s = is_timed ? begin_s + (double)length / 1e3 : 0;
    for (uint64_t slot = 0; slot < depth; slot++) {
        slots[slot].buffer = memory + slot * BLOCK_BYTES;
        issue(&slots[slot]);
    }
    while (outstanding > 0) {
        struct pollfd pollfd = { .fd = iscsi_get_fd(iscsi),
                                 .events = (short)iscsi_which_events(iscsi) };
        if (poll(&pollfd, 1, -1) < 0) {
            perror("poll");
            return 1;
        }
        if (iscsi_service(iscsi, pollfd.revents) < 0)
            die("iscsi_service");
        if (is_timed && !is_over)
            is_over = now_s() >= end_s;
    }
    printf("%" PRIu64 " %.9f\n", operations, now_s() - begin_s);
    iscsi_logout_sync(iscsi);
    iscsi_destroy_context(iscsi);
    free(memory);
    free(slots);
    return 0;
}
