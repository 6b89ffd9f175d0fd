import { join } from 'node:path';
import { startService } from '../../local/services/service-process.ts';

const BUSY = 'for (;;);';
/** 256 MB again and again, each time to the disk itself. */
const WRITE = `
const fs = require('node:fs');
const part = Buffer.alloc(8_000_000, 1);
for (;;) {
  const file = fs.openSync(process.argv[1], 'w');
  for (let written = 0; written < 32; written += 1) fs.writeSync(file, part);
  fs.fsyncSync(file);
  fs.closeSync(file);
}`;

/** Two processes that use a core each, and one that writes to a folder's disk. @returns what ends them */
export async function startLoad(folder: string): Promise<() => Promise<void>> {
  const scripts = [[BUSY], [BUSY], [WRITE, join(folder, 'written')]];
  const started = await Promise.all(
    scripts.map((args) =>
      startService({ name: 'load', command: process.execPath, args: ['-e', ...args], ready: async () => true }),
    ),
  );
  return async () => {
    await Promise.all(started.map((each) => each.kill()));
  };
}
