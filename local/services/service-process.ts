import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, exitText, type GuardedProcess, signalProcess, spawnGuarded } from './guarded-process.ts';
import { ServiceError } from './service-error.ts';

interface StopOptions {
  readonly stopSignal?: NodeJS.Signals;
  /** After this long without an end, SIGKILL. */
  readonly stopTimeoutMs?: number | undefined;
  /** Runs once after the process has ended, before `stop` and `kill` settle: removes its folders. */
  readonly afterEnd?: () => Promise<void>;
}

export interface ServiceOptions extends Command, StopOptions {
  /** Ready when its output matches, or when this function says so: see {@link nextLookMs}. */
  readonly ready: RegExp | (() => Promise<boolean>);
  readonly startTimeoutMs?: number | undefined;
  /** Gives the start up. */
  readonly signal?: AbortSignal | undefined;
}

export interface ServiceProcess extends GuardedProcess {
  /** Asks it to stop, then forces it. May be called again. */
  readonly stop: () => Promise<void>;
  /** Kills it at once, as a crash would, and waits for the end. */
  readonly kill: () => Promise<void>;
}

/** Every service of this process that has not ended, those that are still starting included. */
const running = new Set<ServiceProcess>();

/**
 * Starts a process in a group of its own, watched so that the group never outlives this process, and waits until it is
 * ready.
 *
 * @throws ServiceError when it ends, cannot be run, is not ready in time or is given up
 */
export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const spawned = await spawnGuarded(options).catch(async (error: unknown) => {
    await options.afterEnd?.();
    throw error;
  });
  const service = controls(spawned, options);
  const failure = await waitUntilReady(options, service);
  if (failure === undefined) return service;
  const exitCode = service.exitCode();
  await service.stop();
  throw new ServiceError(`${options.name} ${failure}`, service.recentOutput(), { exitCode });
}

/**
 * Runs a command to its end, watched as services are.
 *
 * @throws ServiceError when it fails; `log` is the end of its output
 */
export async function runToEnd(command: Command): Promise<void> {
  const { ended, recentOutput } = controls(await spawnGuarded(command), {});
  const how = await ended;
  if (how !== exitText(0)) throw new ServiceError(`${command.name} failed (${how})`, recentOutput());
}

/** Stops whatever was started here and has not ended: the last step of an orderly end. */
export async function stopRunningServices(): Promise<void> {
  await Promise.all([...running].map((service) => service.stop()));
}

function controls(
  spawned: GuardedProcess,
  { stopSignal = 'SIGTERM', stopTimeoutMs = 5_000, afterEnd }: StopOptions,
): ServiceProcess {
  const { pid } = spawned;
  let alive = true;
  const end = async (first: NodeJS.Signals) => {
    if (!alive) return finished;
    signalProcess(first === 'SIGKILL' ? -pid : pid, first);
    const timer = setTimeout(() => signalProcess(-pid, 'SIGKILL'), stopTimeoutMs);
    await finished;
    clearTimeout(timer);
  };
  const service = { ...spawned, stop: () => end(stopSignal), kill: () => end('SIGKILL') };
  running.add(service);
  const finished = spawned.ended.then(async () => {
    alive = false;
    running.delete(service);
    await afterEnd?.();
  });
  return service;
}

/** A look costs CPU time that the start needs: its end is seen a twentieth of its time later, half a second at most. */
const nextLookMs = (waitedMs: number, firstMs: number): number => Math.min(500, Math.max(firstMs, waitedMs / 20));

/** Undefined when ready, otherwise why not. */
async function waitUntilReady(
  { ready, startTimeoutMs = 30_000, signal }: ServiceOptions,
  service: ServiceProcess,
): Promise<string | undefined> {
  const isReady = ready instanceof RegExp ? async () => ready.test(service.recentOutput()) : ready;
  let end: string | undefined;
  void service.ended.then((how) => {
    end = how;
  });
  const startedAt = Date.now();
  const waitedMs = () => Date.now() - startedAt;
  while (waitedMs() < startTimeoutMs) {
    const answer = await isReady();
    if (end !== undefined) return `ended while starting (${end})`;
    if (answer) return undefined;
    if (signal?.aborted) return 'is given up while starting';
    await sleep(nextLookMs(waitedMs(), ready instanceof RegExp ? 10 : 50));
  }
  return `was not ready after ${startTimeoutMs / 1000} s`;
}
