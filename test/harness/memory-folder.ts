import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const FOLDER = '/dev/shm';
const GIB = 2 ** 30;
/** Free memory that a whole run may need: in the folder, and in all, with its processes. */
const ROOM = { folder: 4 * GIB, memory: 8 * GIB };

/**
 * Where tests keep the data of Postgres: in memory, where making a database costs a fifth of what it costs on a disk.
 * The usual temporary folder where `TMPDIR` names one, where memory is short, and on other systems than Linux.
 */
export function memoryFolder(): string {
  return process.env.TMPDIR === undefined && isOfMemory(readMounts()) && hasRoom() ? FOLDER : tmpdir();
}

/** Whether the folder is one of memory that runs programs, as Postgres is where root has the project. */
export function isOfMemory(mounts: string): boolean {
  const mount = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, folder]) => folder === FOLDER);
  return mount?.[2] === 'tmpfs' && mount[3]?.split(',').includes('noexec') === false;
}

function readMounts(): string {
  try {
    return readFileSync('/proc/mounts', 'utf8');
  } catch {
    return ''; // Not Linux.
  }
}

function hasRoom(): boolean {
  const { bavail, bsize } = statfsSync(FOLDER);
  return bavail * bsize >= ROOM.folder && process.availableMemory() >= ROOM.memory;
}
