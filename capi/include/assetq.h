/* assetq: game-asset files as tables and trees.
 *
 * Texts are UTF-8 and end with a NUL. A result belongs to the file or error that the function was called with, and lives as
 * long, unless its description requires the caller to free it. Several threads may use one file at once.
 * An `assetq_error **` may be NULL; otherwise the function sets it on failure, and the caller frees
 * the error. No program may change a file while it is open.
 *
 * Generated from capi/src/lib.rs by cbindgen: a test compares the two, and rewrites this file if the variable
 * ASSETQ_BLESS is set. */

#ifndef ASSETQ_H
#define ASSETQ_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* The C stream interface of Apache Arrow, as every user of it declares it. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif

// An error.
typedef struct assetq_error assetq_error;

// An open file.
typedef struct assetq_file assetq_file;

// The location of a resource's record.
typedef struct {
  // The number of the record in its database; -1 if the file does not contain the resource.
  int32_t record;
  // The number of the database.
  uint8_t database;
  // 0 if the record can be read, 3 if the resource was deleted.
  uint8_t state;
} assetq_location;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library.
const char *assetq_version(void);

// Opens the file or folder at `address`, or with `ARCHIVE:INNER` a file in an archive. A folder or a glob opens all its
// files as one, whose tables have a first column `file`. Reads headers only. Returns NULL on failure. Close the file by `assetq_close`.
//
// # Safety
// `address` is a text, `error` is NULL or a place for a pointer.
assetq_file *assetq_open(const char *address,
                         assetq_error **error);

// Opens a copy of the `size` bytes at `data`. Returns NULL on failure. Close the file by `assetq_close`.
//
// # Safety
// `data` leads to `size` bytes, `name` is a text, `error` is NULL or a place for a pointer.
assetq_file *assetq_open_bytes(const uint8_t *data, size_t size, const char *name, assetq_error **error);

// Opens the file `inner` of an archive. Returns NULL on failure. Close the file by `assetq_close`, before the archive
// or after it.
//
// # Safety
// `archive` is an open file, `inner` is a text, `error` is NULL or a place for a pointer.
assetq_file *assetq_open_inside(const assetq_file *archive,
                                const char *inner,
                                assetq_error **error);

// Closes a file. Streams of its tables remain valid. Does nothing for NULL.
//
// # Safety
// `file` is NULL, or was opened by one of these functions and is not closed yet.
void assetq_close(assetq_file *file);

// The address of an open file.
//
// # Safety
// `file` is an open file.
const char *assetq_name(const assetq_file *file);

// The format of a file, such as `bwdb` or `geometry`.
//
// # Safety
// `file` is an open file.
const char *assetq_format(const assetq_file *file);

// The number of tables of a file.
//
// # Safety
// `file` is an open file.
size_t assetq_table_count(const assetq_file *file);

// The name of table `n`, from 0; NULL past the last. Table 0 is the main table.
//
// # Safety
// `file` is an open file.
const char *assetq_table_name(const assetq_file *file, size_t n);

// Rows of a table as an Arrow C stream, which a thread reads ahead: the named columns, or all for NULL, and the rows
// that match `condition`, such as `size > 10k`, or all for NULL. Returns 0, or -1 on failure; the stream itself
// reports later errors. Release the stream, before the file is closed or after.
//
// # Safety
// `file` is an open file, `table` a text, `columns` NULL or `column_count` texts, `condition` NULL or a text, `out` a place
// for a stream, `error` NULL or a place for a pointer.
int assetq_table(const assetq_file *file,
                 const char *table,
                 const char *const *columns,
                 size_t column_count,
                 const char *condition,
                 struct ArrowArrayStream *out,
                 assetq_error **error);

// The answer to statements of SQL about the tables of a file, as an Arrow C stream: the rows of the last statement with a
// result. They are held in memory. Returns 0, or -1 on failure.
//
// # Safety
// `file` is an open file, `query` a text, `out` a place for a stream, `error` NULL or a place for a pointer.
int assetq_sql(const assetq_file *file,
               const char *query,
               struct ArrowArrayStream *out,
               assetq_error **error);

// The checks of a file as an Arrow C stream with the columns `check`, `ok`, `detail`, `found` (how many errors) and `first` (the
// first error, or null). Returns 0 if every check passed, 1 if some did not, and -1 on failure.
//
// # Safety
// `file` is an open file, `out` a place for a stream, `error` NULL or a place for a pointer.
int assetq_verify(const assetq_file *file,
                  struct ArrowArrayStream *out,
                  assetq_error **error);

// The differences between two files of one format, as an Arrow C stream with a row for each cell: `table`, `change` (`added`,
// `removed` or `changed`), `key`, `column`, `old` and `new`, the last two as JSON. Returns 0 for equal files, 1 if they
// differ, and -1 on failure, also for damage.
//
// # Safety
// `old` and `new_file` are open files, `out` a place for a stream, `error` NULL or a place for a pointer.
int assetq_diff(const assetq_file *old,
                const assetq_file *new_file,
                struct ArrowArrayStream *out,
                assetq_error **error);

// Locates the record of the resource with this id, by one probe of the file's own index. Returns 1 if the file
// contains the resource, 0 if not, and -1 if the file is not a prototype database.
//
// # Safety
// `file` is an open file, `out` is NULL or a place for a location, `error` NULL or a place for a pointer.
int assetq_lookup(const assetq_file *file,
                  uint64_t id,
                  assetq_location *out,
                  assetq_error **error);

// As `assetq_lookup`, for the resource at a path; writes its id to `id`.
//
// # Safety
// As `assetq_lookup`; `path` is a text, `id` is NULL or a place for a number.
int assetq_lookup_path(const assetq_file *file,
                       const char *path,
                       uint64_t *id,
                       assetq_location *out,
                       assetq_error **error);

// Looks up `count` ids at once, thousands of them on all cores. Returns the number of ids that the file contains, or
// -1 if it is not a prototype database.
//
// # Safety
// `file` is an open file, `ids` leads to `count` numbers, `out` to as many locations, `error` is NULL or a place for a
// pointer.
int64_t assetq_lookup_many(const assetq_file *file,
                           const uint64_t *ids,
                           size_t count,
                           assetq_location *out,
                           assetq_error **error);

// One whole entry as JSON, with its references resolved. Returns NULL on failure and for a missing entry. Free the
// text by `assetq_text_free`.
//
// # Safety
// `file` is an open file, `entry` is a text, `error` is NULL or a place for a pointer.
char *assetq_cat(const assetq_file *file,
                 const char *entry,
                 assetq_error **error);

// Frees a text that one of these functions returned to be freed. Does nothing for NULL.
//
// # Safety
// `text` is NULL, or was returned to be freed and is not freed yet.
void assetq_text_free(char *text);

// The id of a path, as World of Warships computes it; 0 for invalid text.
//
// # Safety
// `path` is a text.
uint64_t assetq_path_id(const char *path);

// The id of a name, as World of Warships computes it; 0 for invalid text.
//
// # Safety
// `name` is a text.
uint32_t assetq_name_id(const char *name);

// The fault, in one line, with the file, the part and the offset.
//
// # Safety
// `error` is an error.
const char *assetq_error_message(const assetq_error *error);

// The kind of an error: `io`, `unknown_format`, `git_lfs_pointer`, `unknown_folder`, `unsupported`, `bad_magic`, `bad_version`,
// `out_of_bounds`, `bad_pointer`, `bad_value`, `checksum`, `codec`, `text`, `cycle`, `limit`, `not_found`,
// `not_installed`, `syntax`, `damaged`; `argument` if the call itself is wrong, and `panic` for a fault of the
// library.
//
// # Safety
// `error` is an error.
const char *assetq_error_kind(const assetq_error *error);

// The part of the file with the error; empty for the whole file.
//
// # Safety
// `error` is an error.
const char *assetq_error_part(const assetq_error *error);

// Writes the absolute file offset of an error to `offset`; returns `false` if it has none.
//
// # Safety
// `error` is an error, `offset` a place for a number.
bool assetq_error_offset(const assetq_error *error, uint64_t *offset);

// Frees an error. Does nothing for NULL.
//
// # Safety
// `error` is NULL, or was returned by one of these functions and is not freed yet.
void assetq_error_free(assetq_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ASSETQ_H */
