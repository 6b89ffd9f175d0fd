import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { ServiceError } from './service-error.ts';
import { guard, release } from './watchdog.ts';

export interface Command {
  /** What errors call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** The account to run as; only root may set it. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Gets all output, standard output and error alike. */
  readonly output?: NodeJS.WritableStream | undefined;
  /** Gets what a process of ours sends by IPC. */
  readonly onMessage?: ((message: unknown) => void) | undefined;
}

export interface GuardedProcess {
  readonly pid: number;
  /** The end of its output so far. */
  readonly recentOutput: () => string;
  /** Null while it runs, and when a signal ended it. */
  readonly exitCode: () => number | null;
  /** Settles with a description such as `exit code 1` when the process has ended, for whatever reason. */
  readonly ended: Promise<string>;
}

const KEPT_OUTPUT = 8_192;

/** Becomes the command once it is released, and nothing when this process died before it could guard the new one. */
export const WHEN_GUARDED = 'read -r guarded <&3 && exec "$@" 3<&-';

/**
 * Starts a process in a group of its own. The group ends with the process, and never outlives this one. A command that
 * cannot be run ends with exit code 126 or 127.
 *
 * @throws ServiceError when there is no shell to start it
 */
export async function spawnGuarded(started: Command): Promise<GuardedProcess> {
  const { name, command, args, env, cwd, user, output, onMessage } = started;
  const child = spawn('/bin/sh', ['-c', WHEN_GUARDED, name, command, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(onMessage ? (['ipc'] as const) : [])],
    ...(env && { env }),
    ...(cwd && { cwd }),
    ...user,
  });
  const { pid } = child;
  if (pid === undefined) {
    const reason = await new Promise<Error>((resolve) => child.once('error', resolve));
    throw new ServiceError(`${name} cannot be run: ${reason.message}`, '', { cause: reason });
  }
  guard(`group ${pid}`);
  if (onMessage) child.on('message', onMessage);
  const gate = child.stdio[3] as Writable;
  gate.on('error', () => undefined); // It ended before the write: `ended` says so.
  gate.end('guarded\n');
  const recentOutput = collectOutput(child, output);
  const ended = whenEnded(child).then((how) => {
    // Its children may outlive it: nothing of the group stays.
    signalProcess(-pid, 'SIGKILL');
    release(`group ${pid}`);
    return how;
  });
  return { pid, recentOutput, exitCode: () => child.exitCode, ended };
}

/** Sends a signal to a process, or by a negative id to a group; a process that has ended is ignored. */
export function signalProcess(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function collectOutput(child: ChildProcess, output: NodeJS.WritableStream | undefined): () => string {
  let tail = '';
  const keep = (chunk: Buffer) => {
    tail = (tail + chunk.toString('utf8')).slice(-KEPT_OUTPUT);
    output?.write(chunk);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  return () => tail;
}

/** How the end of a process with this exit code is described. */
export const exitText = (code: number | null): string => `exit code ${code}`;

/** How long to wait for the last lines of a process that has ended: its children may hold the pipe open. */
const LAST_OUTPUT_MS = 200;

function whenEnded(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      const settle = () => resolve(signal ? `signal ${signal}` : exitText(code));
      const timer = setTimeout(settle, LAST_OUTPUT_MS);
      child.once('close', () => {
        clearTimeout(timer);
        settle();
      });
    });
  });
}
