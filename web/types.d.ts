// What a worker has and a page lacks.

declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

/** Functions of WASI, preview 1, that a module calls: each returns an error number. Places and sizes are of its memory. */
interface System {
  args_get(pointers: number, at: number): number;
  args_sizes_get(count: number, size: number): number;
  environ_get(pointers: number, at: number): number;
  environ_sizes_get(count: number, size: number): number;
  clock_res_get(id: number, at: number): number;
  clock_time_get(id: number, precision: bigint, at: number): number;
  random_get(at: number, length: number): number;
  sched_yield(): number;
  proc_exit(code: number): never;
  poll_oneoff(from: number, to: number, count: number, done: number): number;
  fd_prestat_get(fd: number, at: number): number;
  fd_prestat_dir_name(fd: number, at: number): number;
  fd_fdstat_get(fd: number, at: number): number;
  fd_fdstat_set_flags(fd: number, flags: number): number;
  fd_filestat_get(fd: number, at: number): number;
  fd_filestat_set_size(fd: number, size: bigint): number;
  fd_close(fd: number): number;
  fd_renumber(from: number, to: number): number;
  fd_read(fd: number, at: number, count: number, done: number): number;
  fd_pread(fd: number, at: number, count: number, from: bigint, done: number): number;
  fd_write(fd: number, at: number, count: number, done: number): number;
  fd_pwrite(fd: number, at: number, count: number, from: bigint, done: number): number;
  fd_seek(fd: number, by: bigint, whence: number, done: number): number;
  fd_tell(fd: number, done: number): number;
  fd_readdir(fd: number, at: number, length: number, cookie: bigint, done: number): number;
  path_open(fd: number, follow: number, at: number, length: number, flags: number, rights: bigint, inherited: bigint, append: number, opened: number): number;
  path_filestat_get(fd: number, follow: number, at: number, length: number, into: number): number;
  path_filestat_set_times(fd: number, follow: number, at: number, length: number, read: bigint, modified: bigint, flags: number): number;
  path_create_directory(fd: number, at: number, length: number): number;
  path_remove_directory(fd: number, at: number, length: number): number;
  path_unlink_file(fd: number, at: number, length: number): number;
  path_rename(fd: number, at: number, length: number, otherFd: number, otherAt: number, otherLength: number): number;
  path_link(fd: number, follow: number, at: number, length: number, otherFd: number, otherAt: number, otherLength: number): number;
  /** What it refuses. */
  [other: string]: (...args: never[]) => number;
}
