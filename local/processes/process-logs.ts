import { access, appendFile, constants, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { ConfigError } from '../../config/config-error.ts';
import { makeFolder } from '../../runtime/make-folder.ts';

/** Gives the stream that a process's output goes to, or undefined when logs are off. */
export type LogOf = (processName: string) => NodeJS.WritableStream | undefined;

/** A log of this size becomes the old one. */
export const MAX_LOG_BYTES = 20_000_000;

/**
 * Log files in a folder, `<process>.log` each and one older, for this user alone: every run goes on with them.
 *
 * @param onFailure gets one line the first time that a log cannot be written, so that lines are missing
 * @throws ConfigError when the folder cannot be made or written
 */
export async function openLogs(folder: string | undefined, onFailure: (line: string) => void): Promise<LogOf> {
  if (folder === undefined) return () => undefined;
  try {
    await makeFolder(resolve(folder));
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new ConfigError(`--logs: cannot write to ${folder} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
  const logs = new Map<string, Writable>();
  return (processName) => {
    const log = logs.get(processName) ?? openLog(join(folder, `${processName}.log`), onFailure);
    logs.set(processName, log);
    return log;
  };
}

function openLog(path: string, onFailure: (line: string) => void): Writable {
  let hasFailed = false;
  const write = async (lines: Buffer): Promise<void> => {
    try {
      const { size } = await stat(path).catch(() => ({ size: 0 }));
      if (size >= MAX_LOG_BYTES) await rename(path, `${path}.old`);
      await appendFile(path, lines, { mode: 0o600 });
    } catch (error) {
      if (!hasFailed) onFailure(`${path} lacks lines: ${(error as Error).message}`);
      hasFailed = true;
    }
  };
  return new Writable({ write: (lines: Buffer, _, done) => void write(lines).then(() => done()) });
}
