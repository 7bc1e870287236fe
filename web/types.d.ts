// What a worker has and a page lacks.

declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}
