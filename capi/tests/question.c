/* How many files does an archive hold, and how many bytes are they? */
#include "assetq.h"
#include <inttypes.h>
#include <stdio.h>

int main(int count, char **arguments) {
  assetq_error *error = NULL;
  assetq_file *file = assetq_open(count > 1 ? arguments[1] : ".", &error);
  const char *columns[] = {"size"};
  struct ArrowArrayStream rows;
  struct ArrowArray batch;
  uint64_t files = 0, bytes = 0;
  int64_t row;
  int failed;
  /* The first table of an archive lists its files. */
  if (file == NULL || assetq_table(file, assetq_table_name(file, 0), columns, 1, NULL, &rows, &error) != 0) {
    fprintf(stderr, "%s\n", assetq_error_message(error));
    assetq_error_free(error);
    assetq_close(file);
    return 1;
  }
  while ((failed = rows.get_next(&rows, &batch)) == 0 && batch.release != NULL) {
    /* The column is of 64-bit numbers: its second buffer holds them. */
    const int64_t *sizes = batch.children[0]->buffers[1];
    for (row = 0; row < batch.length; row++) bytes += (uint64_t)sizes[batch.children[0]->offset + row];
    files += (uint64_t)batch.length;
    batch.release(&batch);
  }
  if (failed) fprintf(stderr, "%s\n", rows.get_last_error(&rows));
  else printf("%" PRIu64 " files, %" PRIu64 " bytes\n", files, bytes);
  rows.release(&rows);
  assetq_close(file);
  return failed != 0;
}
