/* The format of each file, linked with the static library. */
#include "assetq.h"
#include <stdio.h>

int main(int count, char **arguments) {
  int n;
  for (n = 1; n < count; n++) {
    assetq_error *error = NULL;
    assetq_file *file = assetq_open(arguments[n], &error);
    printf("%s\n", file != NULL ? assetq_format(file) : assetq_error_message(error));
    assetq_error_free(error);
    assetq_close(file);
  }
  return 0;
}
