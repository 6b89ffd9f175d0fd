import { rmSync } from 'node:fs';
import { readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../config/config-error.ts';
import { runningProcess } from '../services/running-process.ts';

/** Longer than another process that finds the same lock left needs to remove it: it may remove ours. */
const SETTLE_MS = 200;

/**
 * Locks a data folder until this process ends: the target of a link, which is made whole and takes no space, says who
 * has it. The lock of a process that was killed is taken over.
 *
 * @throws ConfigError another process has it
 */
export async function lockFolder(folder: string): Promise<void> {
  const lock = join(folder, 'lock');
  const own = (await ownerOf(process.pid)) ?? '';
  for (let isLeft = false; ; isLeft = true) {
    await symlink(own, lock).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (isLeft) await sleep(SETTLE_MS);
    const owner = await readlink(lock).catch(() => '');
    if (owner === own) break;
    const pid = Number.parseInt(owner, 10);
    if (owner === (await ownerOf(pid))) throw new ConfigError(`${folder} is in use by process ${pid}`);
    await rm(lock, { force: true });
  }
  process.once('exit', () => rmSync(lock, { force: true }));
}

/** Number and start of a process that runs: the next one of that number has another start. */
async function ownerOf(pid: number): Promise<string | undefined> {
  const found = await runningProcess(pid);
  return found === null ? undefined : `${pid} ${found.startedAt}`;
}
