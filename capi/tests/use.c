/* What a program in C does with a file: its tables as Arrow streams, lookups, an entry as JSON, errors. */

#include "assetq.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows of a stream, and of how many columns; ends the program where the stream does not hold together. */
static int64_t rows_of(struct ArrowArrayStream *stream, int64_t *columns) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  int64_t rows = 0;
  if (stream->get_schema(stream, &schema) != 0) {
    fprintf(stderr, "no schema: %s\n", stream->get_last_error(stream));
    exit(1);
  }
  *columns = schema.n_children;
  schema.release(&schema);
  for (;;) {
    if (stream->get_next(stream, &batch) != 0) {
      fprintf(stderr, "no batch: %s\n", stream->get_last_error(stream));
      exit(1);
    }
    if (batch.release == NULL) break;
    if (batch.n_children != *columns) exit(1);
    rows += batch.length;
    batch.release(&batch);
  }
  stream->release(stream);
  return rows;
}

static void say(const assetq_error *error) {
  uint64_t offset;
  if (assetq_error_offset(error, &offset)) {
    printf("%s at 0x%" PRIx64 ": %s\n", assetq_error_kind(error), offset, assetq_error_message(error));
  } else {
    printf("%s without an offset: %s\n", assetq_error_kind(error), assetq_error_message(error));
  }
}

int main(int count, char **arguments) {
  assetq_error *error = NULL;
  struct ArrowArrayStream stream;
  int64_t columns, rows;
  if (count != 2 && count != 5) return 2;

  assetq_file *file = assetq_open(arguments[1], &error);
  if (file == NULL) {
    say(error);
    assetq_error_free(error);
    return 0;
  }
  /* A file, a table of it, a column and a condition: the rows. */
  if (count == 5) {
    const char *wanted[] = {arguments[3]};
    if (assetq_table(file, arguments[2], wanted, 1, arguments[4], &stream, &error) != 0) return 1;
    rows = rows_of(&stream, &columns);
    printf("%s: %" PRId64 " rows, %" PRId64 " columns\n", arguments[2], rows, columns);
    assetq_close(file);
    return 0;
  }
  size_t tables = assetq_table_count(file);
  printf("format %s, %zu tables, the first is %s\n", assetq_format(file), tables, assetq_table_name(file, 0));
  if (assetq_table_name(file, tables) != NULL) return 1;
  for (size_t n = 0; n < tables; n++) {
    const char *name = assetq_table_name(file, n);
    if (assetq_table(file, name, NULL, 0, NULL, &stream, &error) != 0) return 1;
    rows = rows_of(&stream, &columns);
    printf("table %s: %" PRId64 " rows, %" PRId64 " columns\n", name, rows, columns);
  }

  const char *chosen[] = {"path", "size"};
  if (assetq_table(file, "resources", chosen, 2, "size > 100", &stream, &error) != 0) return 1;
  rows = rows_of(&stream, &columns);
  printf("resources of more than 100 bytes: %" PRId64 ", %" PRId64 " columns\n", rows, columns);

  /* What is wrong is told, and a pointer for the error is no must. */
  if (assetq_table(file, "nope", NULL, 0, NULL, &stream, NULL) != -1) return 1;
  if (assetq_table(file, "resources", NULL, 0, "size >", &stream, &error) != -1) return 1;
  if (strcmp(assetq_error_kind(error), "syntax") != 0) return 1;
  assetq_error_free(error);
  if (assetq_table(NULL, "resources", NULL, 0, NULL, &stream, &error) != -1) return 1;
  if (strcmp(assetq_error_kind(error), "argument") != 0) return 1;
  assetq_error_free(error);
  if (assetq_open(NULL, &error) != NULL) return 1;
  assetq_error_free(error);

  /* The ids of all resources, by the texts that their column has, and one that is nobody's. */
  if (assetq_table(file, "resources", (const char *[]){"id"}, 1, NULL, &stream, &error) != 0) return 1;
  uint64_t *ids = NULL;
  size_t id_count = 0;
  struct ArrowArray batch;
  while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
    const struct ArrowArray *texts = batch.children[0];
    const int32_t *starts = (const int32_t *)texts->buffers[1] + texts->offset;
    const char *data = texts->buffers[2];
    ids = realloc(ids, (id_count + (size_t)batch.length + 1) * sizeof *ids);
    for (int64_t n = 0; n < batch.length; n++) {
      char text[32] = {0};
      memcpy(text, data + starts[n], (size_t)(starts[n + 1] - starts[n]));
      ids[id_count++] = strtoull(text, NULL, 16);
    }
    batch.release(&batch);
  }
  stream.release(&stream);
  ids[id_count++] = 1;
  assetq_location *places = malloc(id_count * sizeof *places), place;
  int64_t found = assetq_lookup_many(file, ids, id_count, places, &error);
  size_t valid = 0;
  for (size_t n = 0; n < id_count; n++) {
    valid += places[n].record >= 0 && places[n].state == 0;
    if (assetq_lookup(file, ids[n], &place, NULL) != (places[n].record >= 0)) return 1;
    if (place.record != places[n].record || place.database != places[n].database) return 1;
  }
  printf("of %zu ids %" PRId64 " are there, %zu of them valid\n", id_count, found, valid);

  char *json = assetq_cat(file, "content", &error);
  if (json == NULL) return 1;
  printf("cat content: %s\n", json);
  assetq_text_free(json);
  if (assetq_cat(file, "content/nothing", &error) != NULL) return 1;
  if (strcmp(assetq_error_kind(error), "not_found") != 0) return 1;
  assetq_error_free(error);

  /* A path of the first row; its stream is taken when the file is closed already. */
  if (assetq_table(file, "resources", (const char *[]){"path"}, 1, NULL, &stream, &error) != 0) return 1;
  assetq_file *again = assetq_open(arguments[1], NULL);
  assetq_close(file);
  if (stream.get_next(&stream, &batch) != 0 || batch.release == NULL) return 1;
  const struct ArrowArray *paths = batch.children[0];
  const int32_t *starts = (const int32_t *)paths->buffers[1] + paths->offset;
  size_t length = (size_t)(starts[1] - starts[0]);
  char *path = calloc(length + 1, 1);
  memcpy(path, (const char *)paths->buffers[2] + starts[0], length);
  uint64_t id = 0;
  int known = assetq_lookup_path(again, path, &id, &place, &error);
  printf("lookup_path: %d, %s\n", known, id == assetq_path_id(path) ? "with the id of its path" : "another id");
  batch.release(&batch);
  stream.release(&stream);
  assetq_close(again);
  assetq_close(NULL);
  free(path);
  free(ids);
  free(places);
  return 0;
}
