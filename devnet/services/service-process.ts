import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { guard, release } from './watchdog.ts';

/** A service did not come up. The message is one line; `log` holds the end of what the service printed. */
export class ServiceError extends Error {
  readonly code = 'SERVICE';
  override readonly name = 'ServiceError';
  readonly log: string;

  constructor(message: string, log: string, options?: ErrorOptions) {
    super(message, options);
    this.log = log;
  }

  /** Another process took the port between the choice of it and the bind. */
  get portTaken(): boolean {
    return /address already in use|EADDRINUSE/i.test(this.log);
  }
}

export interface ServiceOptions {
  /** What errors call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** The account to run as; only root may set it. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Ready when its output matches, or when this function says so (asked every 50 ms). */
  readonly ready: RegExp | (() => Promise<boolean>);
  readonly startTimeoutMs?: number;
  readonly stopSignal?: NodeJS.Signals;
  /** After this long without an end, SIGKILL. */
  readonly stopTimeoutMs?: number;
  /** Gets all output, standard output and error alike. */
  readonly output?: NodeJS.WritableStream | undefined;
  /** Runs once after the process has ended, before `stop` and `kill` settle: removes its folders. */
  readonly afterEnd?: () => Promise<void>;
}

export interface ServiceProcess {
  readonly pid: number;
  /** The end of its output so far. */
  readonly recentOutput: () => string;
  /** Settles with a description such as `exit code 1` when the process ends, for whatever reason. */
  readonly ended: Promise<string>;
  /** Asks it to stop, then forces it. Never rejects; may be called again. */
  readonly stop: () => Promise<void>;
  /** Kills it at once, as a crash would, and waits for the end. */
  readonly kill: () => Promise<void>;
}

const KEPT_OUTPUT = 8_192;

/**
 * Starts a process in a group of its own, watched so that the group never outlives this process, and waits until it is
 * ready.
 *
 * @throws ServiceError when it ends, cannot be run or is not ready in time
 */
export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const child = spawn(options.command, options.args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.env && { env: options.env }),
    ...(options.cwd && { cwd: options.cwd }),
    ...options.user,
  });
  if (child.pid !== undefined) guard(`group ${child.pid}`);
  const recentOutput = collectOutput(child, options.output);
  const ended = whenEnded(child);
  if (child.pid === undefined) {
    const reason = await ended;
    await options.afterEnd?.();
    throw new ServiceError(`${options.name} cannot be run: ${reason}`, '');
  }
  const service = controls(child.pid, ended, recentOutput, options);
  const failure = await waitUntilReady(options, service);
  if (failure === undefined) return service;
  await service.stop();
  throw new ServiceError(`${options.name} ${failure}`, recentOutput());
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

function whenEnded(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    // "close" rather than "exit": the last lines of output have arrived then.
    child.once('exit', (code, signal) => {
      const how = signal ? `signal ${signal}` : `exit code ${code}`;
      const fallback = setTimeout(() => resolve(how), 500);
      child.once('close', () => {
        clearTimeout(fallback);
        resolve(how);
      });
    });
  });
}

function controls(
  pid: number,
  ended: Promise<string>,
  recentOutput: () => string,
  { stopSignal = 'SIGTERM', stopTimeoutMs = 5_000, afterEnd }: ServiceOptions,
): ServiceProcess {
  let alive = true;
  const finished = ended.then(async () => {
    alive = false;
    // Its children may outlive it: nothing of the group stays.
    signal(-pid, 'SIGKILL');
    release(`group ${pid}`);
    await afterEnd?.();
  });
  const end = async (first: NodeJS.Signals, limitMs: number) => {
    if (!alive) return finished;
    signal(first === 'SIGKILL' ? -pid : pid, first);
    const timer = setTimeout(() => signal(-pid, 'SIGKILL'), limitMs);
    await finished;
    clearTimeout(timer);
  };
  return {
    pid,
    recentOutput,
    ended,
    stop: () => end(stopSignal, stopTimeoutMs),
    kill: () => end('SIGKILL', stopTimeoutMs),
  };
}

function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Undefined when ready, otherwise why not. */
async function waitUntilReady(
  { ready, startTimeoutMs = 30_000 }: ServiceOptions,
  service: ServiceProcess,
): Promise<string | undefined> {
  const isReady = ready instanceof RegExp ? async () => ready.test(service.recentOutput()) : ready;
  let end: string | undefined;
  void service.ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    if (end !== undefined) return `ended while starting (${end})`;
    if (await isReady()) return end === undefined ? undefined : `ended while starting (${end})`;
    await sleep(ready instanceof RegExp ? 10 : 50);
  }
  return `was not ready after ${startTimeoutMs / 1000} s`;
}
