/* assetq: game-asset files as tables and trees.
 *
 * Texts are UTF-8 and end with a NUL. What a function gives belongs to the file or error that it was asked of and lives as
 * long as that, unless its description says that it is to be freed. One file may be used by several threads at once.
 * Where a function takes an `assetq_error **`, that may be NULL; otherwise it is set where the function fails, and is to be
 * freed. Nobody may change a file while it is open.
 *
 * Made from capi/src/lib.rs by cbindgen: a test holds the two together, and writes this file anew where the variable
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

// Where the record of a resource is.
typedef struct {
  // The number of the record in its database; -1 where the file does not have the resource.
  int32_t record;
  // The number of the database.
  uint8_t database;
  // 0 where the record can be read, 3 where the resource was deleted.
  uint8_t state;
} assetq_location;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library.
const char *assetq_version(void);

// Opens the file or folder at `address`, or with `ARCHIVE:INNER` the file in an archive. Reads headers only. NULL where
// that fails; otherwise to be closed by `assetq_close`.
//
// # Safety
// `address` is a text, `error` is NULL or a place for a pointer.
assetq_file *assetq_open(const char *address,
                         assetq_error **error);

// Opens the file whose `size` bytes are at `data`, of which a copy is made. NULL where that fails; otherwise to be closed
// by `assetq_close`.
//
// # Safety
// `data` leads to `size` bytes, `name` is a text, `error` is NULL or a place for a pointer.
assetq_file *assetq_open_bytes(const uint8_t *data,
                               size_t size,
                               const char *name,
                               assetq_error **error);

// Opens the file that `inner` names in an archive. NULL where that fails; otherwise to be closed by `assetq_close`, before
// the archive or after it.
//
// # Safety
// `archive` is an open file, `inner` is a text, `error` is NULL or a place for a pointer.
assetq_file *assetq_open_inside(const assetq_file *archive,
                                const char *inner,
                                assetq_error **error);

// Closes a file. Streams of its tables stay as they are. NULL is no file and nothing happens.
//
// # Safety
// `file` is NULL, or was opened by one of these functions and not closed yet.
void assetq_close(assetq_file *file);

// The address by which a file was opened.
//
// # Safety
// `file` is an open file.
const char *assetq_name(const assetq_file *file);

// The format of a file, as `bwdb` or `geometry`.
//
// # Safety
// `file` is an open file.
const char *assetq_format(const assetq_file *file);

// How many tables a file has.
//
// # Safety
// `file` is an open file.
size_t assetq_table_count(const assetq_file *file);

// The name of table `n`, from 0; NULL behind the last one. The first one is the main table.
//
// # Safety
// `file` is an open file.
const char *assetq_table_name(const assetq_file *file, size_t n);

// Rows of a table as an Arrow C stream, read ahead by a thread while they are taken: the columns that are named, or with
// NULL all, and the rows for which `condition` holds, as in `size > 10k`, or with NULL all. Gives 0, or -1 where that
// fails; an error on the way is the stream's own. The stream is to be released, before the file is closed or after.
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

// Where the record of the resource with this id is, by one probe of the file's own index. Gives 1 where the file has it, 0
// where it does not, -1 where it is no prototype database.
//
// # Safety
// `file` is an open file, `out` is NULL or a place for a location, `error` NULL or a place for a pointer.
int assetq_lookup(const assetq_file *file,
                  uint64_t id,
                  assetq_location *out,
                  assetq_error **error);

// As `assetq_lookup`, for the resource at a path; its id is put into `id`.
//
// # Safety
// As `assetq_lookup`; `path` is a text, `id` is NULL or a place for a number.
int assetq_lookup_path(const assetq_file *file,
                       const char *path,
                       uint64_t *id,
                       assetq_location *out,
                       assetq_error **error);

// Looks up `count` ids at once, thousands of them on all cores. Gives how many the file has, or -1 where it is no prototype
// database.
//
// # Safety
// `file` is an open file, `ids` leads to `count` numbers, `out` to as many locations, `error` is NULL or a place for a
// pointer.
int64_t assetq_lookup_many(const assetq_file *file,
                           const uint64_t *ids,
                           size_t count,
                           assetq_location *out,
                           assetq_error **error);

// One entry whole as JSON, with its references resolved. NULL where that fails or the file has no such entry; otherwise to
// be freed by `assetq_text_free`.
//
// # Safety
// `file` is an open file, `entry` is a text, `error` is NULL or a place for a pointer.
char *assetq_cat(const assetq_file *file,
                 const char *entry,
                 assetq_error **error);

// Frees a text that one of these functions gave to be freed. NULL is no text and nothing happens.
//
// # Safety
// `text` is NULL, or was given to be freed and is not freed yet.
void assetq_text_free(char *text);

// The id of a path, as World of Warships computes it; 0 for what is no text.
//
// # Safety
// `path` is a text.
uint64_t assetq_path_id(const char *path);

// The id of a name, as World of Warships computes it; 0 for what is no text.
//
// # Safety
// `name` is a text.
uint32_t assetq_name_id(const char *name);

// The fault, in one line, with the file, the part and the offset.
//
// # Safety
// `error` is an error.
const char *assetq_error_message(const assetq_error *error);

// The kind of an error: `io`, `unknown_format`, `unknown_folder`, `unsupported`, `bad_magic`, `bad_version`,
// `out_of_bounds`, `bad_pointer`, `bad_value`, `checksum`, `codec`, `text`, `cycle`, `limit`, `not_found`, `not_installed`,
// `syntax`, `damaged`; `argument` where the call itself is wrong, and `panic` for a fault of the library.
//
// # Safety
// `error` is an error.
const char *assetq_error_kind(const assetq_error *error);

// The part of the file that an error concerns; empty for the whole file.
//
// # Safety
// `error` is an error.
const char *assetq_error_part(const assetq_error *error);

// Puts the absolute file offset that an error shows at into `offset`; `false` where it has none.
//
// # Safety
// `error` is an error, `offset` a place for a number.
bool assetq_error_offset(const assetq_error *error, uint64_t *offset);

// Frees an error. NULL is none and nothing happens.
//
// # Safety
// `error` is NULL, or was given by one of these functions and is not freed yet.
void assetq_error_free(assetq_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ASSETQ_H */
