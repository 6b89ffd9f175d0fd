import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** What a watchdog ends when this process is gone: a process group by the id of its leader, or a folder by its path. */
export type Guarded = `group ${number}` | `folder ${string}`;

const SCRIPT = join(import.meta.dirname, 'watchdog.sh');

const guarded = new Set<Guarded>();
let watchdog: ChildProcess | undefined;

/**
 * Has the entry ended when this process dies without releasing it, even by SIGKILL: a detached shell holds the other
 * end of a pipe and acts when the pipe closes. One shell serves all entries of a process.
 */
export function guard(entry: Guarded): void {
  guarded.add(entry);
  report(`+${entry}`);
}

/** Takes an entry that ended in an orderly way off the watchdog's list. */
export function release(entry: Guarded): void {
  if (guarded.delete(entry) && watchdog) report(`-${entry}`);
}

function report(line: string): void {
  if (watchdog) watchdog.stdin?.write(`${line}\n`);
  else watchdog = startWatchdog();
}

/** It has the whole list from its first moment: this process may die in the next one. */
function startWatchdog(): ChildProcess {
  const child = spawn('/bin/sh', [SCRIPT, ...guarded], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  const replace = () => {
    if (watchdog !== child) return;
    watchdog = guarded.size > 0 ? startWatchdog() : undefined;
  };
  child.once('exit', replace);
  child.once('error', replace);
  // A write to a watchdog that was killed fails; its exit event then starts another with the whole list.
  child.stdin?.on('error', replace);
  child.unref();
  if (child.pid === undefined) throw new Error('no /bin/sh to watch over local services');
  return child;
}
