import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Gives the stream that a process's output goes to, or undefined when nobody asked for logs. */
export type LogOf = (processName: string) => NodeJS.WritableStream | undefined;

/** Log files in a folder, `<process>.log` each, overwritten by every run. */
export async function openLogs(folder: string | undefined): Promise<LogOf> {
  if (folder === undefined) return () => undefined;
  await mkdir(folder, { recursive: true });
  return (processName) => createWriteStream(join(folder, `${processName}.log`));
}
