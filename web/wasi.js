// The system of a WebAssembly module, WASI preview 1: one folder of files, read where they lie and a slice at a time, and
// outputs in memory. It knows neither the browser nor the command.

/** What a file's bytes are read from: a file of the user's disk, or an output.
 * @typedef {{ size: number, modified?: number, slice(from: number, to: number): Uint8Array }} Content */
/** @typedef {Folder | FileNode} Entry */
/** @typedef {{ entry: Entry, at: number, append: boolean, listed?: [string, Entry][] }} Open */

const ERRNO = { badf: 8, exist: 20, inval: 28, io: 29, isdir: 31, noent: 44, nosys: 52, notdir: 54, notempty: 55, notsup: 58, perm: 63, pipe: 64, spipe: 70 };
const TYPE = { unknown: 0, folder: 3, file: 4 };
// Bytes that are read at once of a file that is read in small pieces: few at first, as most files are only looked at.
const [FIRST_BLOCK, BLOCK] = [1 << 12, 1 << 18];
// Bytes that are read at most at once, as a whole file may be read.
const PIECE = 1 << 22;
/** The block that was read last. One is enough: a file is read from its beginning to its end.
 * @type {{ file: FileNode | null, at: number, bytes: Uint8Array }} */
const block = { file: null, at: 0, bytes: new Uint8Array() };
// A name of the user's disk may be no Unicode: it is not met in any path then.
const TEXT = new TextDecoder();
const BYTES = new TextEncoder();

let entries = 1;
/** Files with bytes in memory, which a command has written.
 * @type {Set<FileNode>} */
export const written = new Set();

export class Folder {
  number = entries++;
  modified = Date.now();
  /** @type {Map<string, Entry>} */
  names = new Map();

  get size() {
    return 0;
  }
}

/** A file: its content until it is written to, then bytes in memory. */
export class FileNode {
  number = entries++;
  links = 1;
  written = 0;
  /** @type {Uint8Array | null} */
  memory = null;
  ahead = FIRST_BLOCK;

  /** @param {Content | null} content */
  constructor(content = null) {
    this.content = content;
    this.modified = content?.modified ?? Date.now();
    if (!content) {
      this.memory = new Uint8Array();
      written.add(this);
    }
  }

  get size() {
    return this.memory ? this.written : /** @type {Content} */ (this.content).size;
  }

  /** The bytes from `at` on that are read at once: at least one of `length`, unless the file ends there.
   * @param {number} at @param {number} length */
  read(at, length) {
    if (this.memory) return this.memory.subarray(Math.min(at, this.written), Math.min(at + length, this.written));
    const { size, slice } = /** @type {Content} */ (this.content);
    if (at >= size || length === 0) return new Uint8Array();
    if (length >= BLOCK) return slice.call(this.content, at, Math.min(at + Math.min(length, PIECE), size));
    if (block.file !== this || at < block.at || at >= block.at + block.bytes.length) {
      const bytes = slice.call(this.content, at, Math.min(at + Math.max(length, this.ahead), size));
      Object.assign(block, { file: this, at, bytes });
      this.ahead = Math.min(2 * this.ahead, BLOCK);
    }
    return block.bytes.subarray(at - block.at, at - block.at + length);
  }

  /** Reads the bytes from `at` on into `into`, and returns how many there are.
   * @param {Uint8Array} into @param {number} at */
  fill(into, at) {
    let filled = 0;
    while (filled < into.length) {
      const some = this.read(at + filled, into.length - filled);
      if (some.length === 0) break;
      into.set(some, filled);
      filled += some.length;
      // A browser frees such bytes late; a transfer frees them now.
      if (!this.memory && some.buffer !== block.bytes.buffer) /** @type {ArrayBuffer} */ (some.buffer).transfer?.(0);
    }
    return filled;
  }

  /** A copy of all bytes. */
  bytes() {
    const all = new Uint8Array(this.size);
    return all.subarray(0, this.fill(all, 0));
  }

  /** Makes room in memory, with the bytes that the file has.
   * @param {number} size */
  resize(size) {
    const old = this.memory ?? this.bytes();
    const length = this.size;
    this.memory = old;
    if (block.file === this) block.file = null;
    written.add(this);
    if (size > old.length) {
      this.memory = new Uint8Array(Math.max(size, old.length * 2, 4096));
      this.memory.set(old.subarray(0, length));
    }
    if (size < length) this.memory.fill(0, size, length);
    this.written = size;
    this.modified = Date.now();
  }

  /** @param {number} at @param {Uint8Array} bytes */
  write(at, bytes) {
    this.resize(Math.max(this.size, at + bytes.length));
    /** @type {Uint8Array} */ (this.memory).set(bytes, at);
  }
}

/** The parts of a path. Nothing is above the folder: as in `/` of other systems, `..` stays there.
 * @param {string} path */
const parts = (path) => {
  const found = [];
  for (const part of path.split("/")) {
    if (part === "..") {
      found.pop();
    } else if (part && part !== ".") {
      found.push(part);
    }
  }
  return found;
};

/** The entry at a path below `folder`; `null` if there is none.
 * @param {Folder} folder @param {string} path
 * @returns {Entry | null} */
export const find = (folder, path) => {
  /** @type {Entry | null} */
  let entry = folder;
  for (const part of parts(path)) entry = (entry instanceof Folder && entry.names.get(part)) || null;
  return entry;
};

/** Puts a file into `root`, in folders that are made if they are missing.
 * @param {Folder} root @param {string} path @param {FileNode} file */
export const place = (root, path, file) => {
  const names = parts(path);
  const name = names.pop();
  let folder = root;
  for (const part of names) {
    let next = folder.names.get(part);
    if (!(next instanceof Folder)) folder.names.set(part, (next = new Folder()));
    folder = next;
  }
  if (name !== undefined) folder.names.set(name, file);
};

class Exit extends Error {
  /** @param {number} code */
  constructor(code) {
    super("exit");
    this.code = code;
  }
}

/** One run of a module. `input` gives its standard input once it reads that; `out` and `err` are given the bytes that it writes, and return
 * whether they want more.
 * @param {{ module: WebAssembly.Module, args: string[], root: Folder, input?: () => Uint8Array, env?: Record<string, string>,
 *   out: (bytes: Uint8Array) => boolean, err: (bytes: Uint8Array) => boolean }} options
 * @returns {{ code: number, memory: number }} the exit code, and the bytes of memory that it took */
export const run = ({ module, args, root, input = () => new Uint8Array(), env = {}, out, err }) => {
  /** @type {Map<number, Open>} */
  const open = new Map([[3, { entry: root, at: 0, append: false }]]);
  let next = 4;
  /** @type {Uint8Array | undefined} */
  let given;
  let inputAt = 0;
  /** @type {WebAssembly.Memory} */
  let memory;
  const view = () => new DataView(memory.buffer);
  const bytes = (/** @type {number} */ at, /** @type {number} */ length) => new Uint8Array(memory.buffer, at, length);
  const text = (/** @type {number} */ at, /** @type {number} */ length) => TEXT.decode(bytes(at, length));
  const listed = (/** @type {string[]} */ texts) => texts.map((one) => BYTES.encode(one + "\0"));

  // Texts one after another, and a pointer to each.
  const putAll = (/** @type {string[]} */ texts, /** @type {number} */ pointers, /** @type {number} */ at) => {
    for (const one of listed(texts)) {
      view().setUint32(pointers, at, true);
      bytes(at, one.length).set(one);
      pointers += 4;
      at += one.length;
    }
    return 0;
  };
  const putSizes = (/** @type {string[]} */ texts, /** @type {number} */ count, /** @type {number} */ size) => {
    view().setUint32(count, texts.length, true);
    view().setUint32(size, listed(texts).reduce((sum, one) => sum + one.length, 0), true);
    return 0;
  };
  const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`);

  // The slices of memory that a call reads into or writes from.
  const vectors = (/** @type {number} */ at, /** @type {number} */ count) =>
    Array.from({ length: count }, (_, n) => bytes(view().getUint32(at + 8 * n, true), view().getUint32(at + 8 * n + 4, true)));

  const putStat = (/** @type {number} */ at, /** @type {Entry} */ entry) => {
    const data = view();
    const time = BigInt(Math.round(entry.modified * 1000)) * 1000n;
    bytes(at, 64).fill(0);
    data.setBigUint64(at, 1n, true);
    data.setBigUint64(at + 8, BigInt(entry.number), true);
    data.setUint8(at + 16, entry instanceof Folder ? TYPE.folder : TYPE.file);
    data.setBigUint64(at + 24, BigInt(entry instanceof FileNode ? entry.links : 1), true);
    data.setBigUint64(at + 32, BigInt(entry.size), true);
    for (const place of [40, 48, 56]) data.setBigUint64(at + place, time, true);
    return 0;
  };

  /** The folder and the name that a path leads to, and the entry if there is one.
   * @param {number} fd @param {number} at @param {number} length
   * @returns {{ error: number } | { error?: undefined, parent?: Folder, name: string, entry?: Entry }} */
  const lookUp = (fd, at, length) => {
    const folder = open.get(fd)?.entry;
    if (!(folder instanceof Folder)) return { error: folder ? ERRNO.notdir : ERRNO.badf };
    const path = text(at, length);
    const names = parts(path);
    const name = names.pop();
    if (name === undefined) return { name: "", entry: folder };
    const parent = find(folder, names.join("/"));
    if (!(parent instanceof Folder)) return { error: parent ? ERRNO.notdir : ERRNO.noent };
    const entry = parent.names.get(name);
    if (path.endsWith("/") && entry instanceof FileNode) return { error: ERRNO.notdir };
    return { parent, name, entry };
  };

  /** @type {(fd: number, at: number, length: number, isFolder: boolean) => number} */
  const remove = (fd, at, length, isFolder) => {
    const found = lookUp(fd, at, length);
    if (found.error !== undefined) return found.error;
    const { parent, name, entry } = found;
    if (!entry) return ERRNO.noent;
    if (!parent) return ERRNO.perm;
    if (isFolder !== entry instanceof Folder) return isFolder ? ERRNO.notdir : ERRNO.isdir;
    if (entry instanceof Folder && entry.names.size > 0) return ERRNO.notempty;
    if (entry instanceof FileNode) entry.links--;
    parent.names.delete(name);
    return 0;
  };

  const readAt = (/** @type {FileNode} */ file, /** @type {number} */ from, /** @type {number} */ vectorsAt, /** @type {number} */ count) => {
    let all = 0;
    for (const into of vectors(vectorsAt, count)) {
      const filled = file.fill(into, from + all);
      all += filled;
      if (filled < into.length) break;
    }
    return all;
  };

  const writeAt = (/** @type {FileNode} */ file, /** @type {number} */ from, /** @type {number} */ vectorsAt, /** @type {number} */ count) => {
    let all = 0;
    for (const some of vectors(vectorsAt, count)) {
      file.write(from + all, some);
      all += some.length;
    }
    return all;
  };

  /** Runs `call` with the open file `fd`. */
  const onFile = (/** @type {number} */ fd, /** @type {(open: Open, file: FileNode) => number | void} */ call) => {
    const found = open.get(fd);
    if (!found) return fd < 3 ? ERRNO.spipe : ERRNO.badf;
    if (!(found.entry instanceof FileNode)) return ERRNO.isdir;
    try {
      return call(found, found.entry) ?? 0;
    } catch (error) {
      // The browser's error for a file that was changed, moved or locked since.
      if (error instanceof DOMException) return ERRNO.io;
      throw error;
    }
  };

  /** @type {System} */
  const system = {
    args_get: (pointers, at) => putAll(args, pointers, at),
    args_sizes_get: (count, size) => putSizes(args, count, size),
    environ_get: (pointers, at) => putAll(environment, pointers, at),
    environ_sizes_get: (count, size) => putSizes(environment, count, size),
    clock_res_get(_, at) {
      view().setBigUint64(at, 1000n, true);
      return 0;
    },
    clock_time_get(id, _, at) {
      const now = id === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(now * 1000)) * 1000n, true);
      return 0;
    },
    random_get(at, length) {
      for (let done = 0; done < length; done += 65536) crypto.getRandomValues(bytes(at + done, Math.min(65536, length - done)));
      return 0;
    },
    sched_yield: () => 0,
    proc_exit(code) {
      throw new Exit(code);
    },
    // Waits are over at once: there is nothing to wait for.
    poll_oneoff(from, to, count, done) {
      for (let n = 0; n < count; n++) {
        bytes(to + 32 * n, 32).fill(0);
        bytes(to + 32 * n, 8).set(bytes(from + 48 * n, 8));
        view().setUint8(to + 32 * n + 10, view().getUint8(from + 48 * n + 8));
      }
      view().setUint32(done, count, true);
      return 0;
    },

    fd_prestat_get(fd, at) {
      if (fd !== 3) return ERRNO.badf;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return 0;
    },
    fd_prestat_dir_name(fd, at) {
      bytes(at, 1).set(BYTES.encode("/"));
      return 0;
    },
    fd_fdstat_get(fd, at) {
      const found = open.get(fd);
      if (!found && fd > 2) return ERRNO.badf;
      bytes(at, 24).fill(0);
      view().setUint8(at, !found ? TYPE.unknown : found.entry instanceof Folder ? TYPE.folder : TYPE.file);
      view().setUint16(at + 2, found?.append ? 1 : 0, true);
      view().setBigUint64(at + 8, 0x1fffffffn, true);
      view().setBigUint64(at + 16, 0x1fffffffn, true);
      return 0;
    },
    fd_fdstat_set_flags(fd, flags) {
      const found = open.get(fd);
      if (found) found.append = (flags & 1) !== 0;
      return found || fd < 3 ? 0 : ERRNO.badf;
    },
    fd_filestat_get(fd, at) {
      const found = open.get(fd);
      if (found) return putStat(at, found.entry);
      if (fd > 2) return ERRNO.badf;
      bytes(at, 64).fill(0);
      return 0;
    },
    fd_filestat_set_size: (fd, size) => onFile(fd, (_, file) => file.resize(Number(size))),
    fd_filestat_set_times: () => 0,
    fd_advise: () => 0,
    fd_allocate: () => ERRNO.notsup,
    fd_datasync: () => 0,
    fd_sync: () => 0,
    fd_close(fd) {
      return open.delete(fd) || fd < 3 ? 0 : ERRNO.badf;
    },
    fd_renumber(from, to) {
      const found = open.get(from);
      if (!found) return ERRNO.badf;
      open.delete(from);
      open.set(to, found);
      return 0;
    },
    fd_read(fd, at, count, done) {
      if (fd === 0) {
        let all = 0;
        given ??= input();
        for (const into of vectors(at, count)) {
          const some = given.subarray(inputAt, inputAt + into.length);
          into.set(some);
          inputAt += some.length;
          all += some.length;
        }
        view().setUint32(done, all, true);
        return 0;
      }
      return onFile(fd, (found, file) => {
        const read = readAt(file, found.at, at, count);
        found.at += read;
        view().setUint32(done, read, true);
      });
    },
    fd_pread: (fd, at, count, from, done) => onFile(fd, (_, file) => view().setUint32(done, readAt(file, Number(from), at, count), true)),
    fd_write(fd, at, count, done) {
      if (fd === 1 || fd === 2) {
        let all = 0;
        for (const some of vectors(at, count)) {
          if (some.length > 0 && !(fd === 1 ? out : err)(some.slice())) return ERRNO.pipe;
          all += some.length;
        }
        view().setUint32(done, all, true);
        return 0;
      }
      return onFile(fd, (found, file) => {
        if (found.append) found.at = file.size;
        const written = writeAt(file, found.at, at, count);
        found.at += written;
        view().setUint32(done, written, true);
      });
    },
    fd_pwrite: (fd, at, count, from, done) => onFile(fd, (_, file) => view().setUint32(done, writeAt(file, Number(from), at, count), true)),
    fd_seek: (fd, by, whence, done) => onFile(fd, (found, file) => {
      const to = Number(by) + [0, found.at, file.size][whence];
      if (!(to >= 0)) return ERRNO.inval;
      found.at = to;
      view().setBigUint64(done, BigInt(to), true);
    }),
    fd_tell: (fd, done) => onFile(fd, (found) => view().setBigUint64(done, BigInt(found.at), true)),
    fd_readdir(fd, at, length, cookie, done) {
      const found = open.get(fd);
      if (!found) return ERRNO.badf;
      if (!(found.entry instanceof Folder)) return ERRNO.notdir;
      // The list stays the same until it is begun again.
      if (cookie === 0n || !found.listed) found.listed = [...found.entry.names];
      let used = 0;
      for (let n = Number(cookie); n < found.listed.length && used < length; n++) {
        const [name, entry] = found.listed[n];
        const named = BYTES.encode(name);
        const whole = new Uint8Array(24 + named.length);
        const data = new DataView(whole.buffer);
        data.setBigUint64(0, BigInt(n + 1), true);
        data.setBigUint64(8, BigInt(entry.number), true);
        data.setUint32(16, named.length, true);
        data.setUint8(20, entry instanceof Folder ? TYPE.folder : TYPE.file);
        whole.set(named, 24);
        const fitting = whole.subarray(0, length - used);
        bytes(at + used, fitting.length).set(fitting);
        used += fitting.length;
      }
      view().setUint32(done, used, true);
      return 0;
    },

    path_open(fd, _, at, length, flags, rights, __, append, opened) {
      const [create, folder, exclusive, truncate] = [1, 2, 4, 8].map((bit) => (flags & bit) !== 0);
      const found = lookUp(fd, at, length);
      if (found.error !== undefined) return found.error;
      let { parent, name, entry } = found;
      if (entry && exclusive) return ERRNO.exist;
      if (entry && folder && !(entry instanceof Folder)) return ERRNO.notdir;
      const writes = (rights & 64n) !== 0n;
      if (entry instanceof Folder && (create || truncate || (writes && !folder))) return ERRNO.isdir;
      if (!entry) {
        if (!create || !parent || text(at, length).endsWith("/")) return ERRNO.noent;
        parent.names.set(name, (entry = new FileNode()));
      }
      if (truncate && entry instanceof FileNode) entry.resize(0);
      view().setUint32(opened, next, true);
      open.set(next++, { entry, at: 0, append: (append & 1) !== 0 });
      return 0;
    },
    path_filestat_get(fd, _, at, length, into) {
      const found = lookUp(fd, at, length);
      if (found.error !== undefined) return found.error;
      return found.entry ? putStat(into, found.entry) : ERRNO.noent;
    },
    path_filestat_set_times(fd, _, at, length, __, modified, flags) {
      const found = lookUp(fd, at, length);
      if (found.error !== undefined) return found.error;
      if (!found.entry) return ERRNO.noent;
      if (flags & 4) found.entry.modified = Number(modified / 1000n) / 1000;
      return 0;
    },
    path_create_directory(fd, at, length) {
      const found = lookUp(fd, at, length);
      if (found.error !== undefined) return found.error;
      if (found.entry || !found.parent) return ERRNO.exist;
      found.parent.names.set(found.name, new Folder());
      return 0;
    },
    path_remove_directory: (fd, at, length) => remove(fd, at, length, true),
    path_unlink_file: (fd, at, length) => remove(fd, at, length, false),
    path_rename(fd, at, length, otherFd, otherAt, otherLength) {
      const from = lookUp(fd, at, length);
      const to = lookUp(otherFd, otherAt, otherLength);
      if (from.error !== undefined) return from.error;
      if (to.error !== undefined) return to.error;
      if (!from.entry) return ERRNO.noent;
      if (!from.parent || !to.parent) return ERRNO.perm;
      if (to.entry === from.entry) return 0;
      if (to.entry instanceof Folder && !(from.entry instanceof Folder)) return ERRNO.isdir;
      if (to.entry instanceof FileNode && from.entry instanceof Folder) return ERRNO.notdir;
      if (to.entry instanceof Folder && to.entry.names.size > 0) return ERRNO.notempty;
      to.parent.names.set(to.name, from.entry);
      from.parent.names.delete(from.name);
      return 0;
    },
    path_link(fd, _, at, length, otherFd, otherAt, otherLength) {
      const from = lookUp(fd, at, length);
      const to = lookUp(otherFd, otherAt, otherLength);
      if (from.error !== undefined) return from.error;
      if (to.error !== undefined) return to.error;
      const { entry } = from;
      if (!(entry instanceof FileNode)) return entry ? ERRNO.perm : ERRNO.noent;
      if (to.entry || !to.parent) return ERRNO.exist;
      entry.links++;
      to.parent.names.set(to.name, entry);
      return 0;
    },
    path_readlink: () => ERRNO.inval,
    path_symlink: () => ERRNO.notsup,
    sock_accept: () => ERRNO.nosys,
    sock_recv: () => ERRNO.nosys,
    sock_send: () => ERRNO.nosys,
    sock_shutdown: () => ERRNO.nosys,
    proc_raise: () => ERRNO.nosys,
  };

  const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: system });
  memory = /** @type {WebAssembly.Memory} */ (exports.memory);
  let code = 0;
  try {
    /** @type {() => void} */ (exports._start)();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    code = error.code;
  }
  return { code, memory: memory.buffer.byteLength };
};
