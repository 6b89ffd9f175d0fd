import { setTimeout as sleep } from 'node:timers/promises';
import { type GuardedProcess, signalProcess, spawnGuarded } from '../../local/services/guarded-process.ts';
import { ownEnvironment, ownMain } from '../../local/services/own-process.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

export interface ProcessPlan {
  readonly name: string;
  /** Name of its bundle. */
  readonly main: string;
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  /** Of `/health`, where it is not `port`. */
  readonly operationsPort?: number;
  readonly output?: NodeJS.WritableStream | undefined;
}

/** A time in which a process did not serve, Unix milliseconds. */
interface Outage {
  readonly fromMs: number;
  toMs: number;
}

const HOST = '127.0.0.1';
const HEALTH_POLL_MS = 100;
const HEALTH_TIMEOUT_MS = 2_000;
const STOP_TIMEOUT_MS = 10_000;
/** Pause before a restart, which grows while the process ends again at once, as supervisors do. */
const FIRST_RESTART_MS = 200;
const MAX_RESTART_MS = 2_000;

/** One of the project's processes, started again whenever it ends, as a container runtime would. */
export class SupervisedProcess {
  readonly name: string;
  readonly url: string;
  /** Of its own `/health` and `/metrics`. */
  readonly operations: string;
  readonly #plan: ProcessPlan;
  readonly #outages: Outage[] = [];
  /** How it ended without having been killed, oldest first. */
  readonly ownEnds: string[] = [];
  /** When it was killed, Unix milliseconds. */
  readonly killedAtMs: number[] = [];
  #running: GuardedProcess | undefined;
  #outage: Outage | undefined;
  #killing = false;
  #stopping = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(plan: ProcessPlan) {
    this.#plan = plan;
    this.name = plan.name;
    this.url = `http://${HOST}:${plan.port}`;
    this.operations = `http://${HOST}:${plan.operationsPort ?? plan.port}`;
  }

  get kills(): number {
    return this.killedAtMs.length;
  }

  /** Undefined while it does not run. */
  get pid(): number | undefined {
    return this.#running?.pid;
  }

  /** Starts it; it is not ready yet. */
  start(): void {
    this.#beginOutage();
    this.#loop = this.#supervise();
  }

  /** Ends it as a crash would; it comes back by itself. False when there is nothing to kill just now. */
  kill(): boolean {
    if (this.#running === undefined) return false;
    this.#beginOutage();
    this.#killing = true;
    this.killedAtMs.push(Date.now());
    signalProcess(-this.#running.pid, 'SIGKILL');
    return true;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const running = this.#running;
    if (running !== undefined) {
      signalProcess(running.pid, 'SIGTERM');
      const timer = setTimeout(() => signalProcess(-running.pid, 'SIGKILL'), STOP_TIMEOUT_MS);
      await running.ended;
      clearTimeout(timer);
    }
    await this.#loop;
  }

  /** Whether it did not serve at some time between two times, Unix milliseconds. */
  wasUnreachable(fromMs: number, toMs: number): boolean {
    return this.#outages.some((outage) => outage.fromMs <= toMs && outage.toMs >= fromMs);
  }

  /** Resolves when a path of the operator answers 200. @throws Error when it does not in time */
  async answers(path: string, limitMs: number): Promise<void> {
    for (const deadline = Date.now() + limitMs; !(await isOk(this.operations + path)); await sleep(HEALTH_POLL_MS)) {
      if (Date.now() > deadline) throw new Error(`${this.name} does not answer ${path} after ${limitMs / 1_000} s`);
    }
  }

  /** The end of what it wrote. */
  recentOutput(): string {
    return this.#running?.recentOutput() ?? '';
  }

  async #supervise(): Promise<void> {
    let pauseMs = FIRST_RESTART_MS;
    while (!this.#stopping) {
      const served = await this.#runOnce();
      pauseMs = served ? FIRST_RESTART_MS : Math.min(2 * pauseMs, MAX_RESTART_MS);
      if (!this.#stopping) await sleep(pauseMs);
    }
  }

  /** Runs it to its end. @returns whether it was healthy at some time */
  async #runOnce(): Promise<boolean> {
    const { name, main, env, port, output } = this.#plan;
    const running = await spawnGuarded({
      name,
      command: process.execPath,
      args: ownMain(main),
      cwd: PROJECT_ROOT,
      env: ownEnvironment(main, { ...env, HOST, PORT: String(port) }),
      output,
    });
    this.#running = running;
    let served = false;
    void this.#noteHealth(running).then((healthy) => {
      served = healthy;
    });
    const how = await running.ended;
    this.#running = undefined;
    this.#beginOutage();
    if (!this.#killing && !this.#stopping) this.ownEnds.push(how);
    this.#killing = false;
    return served;
  }

  /** Ends the outage when the process is healthy. */
  async #noteHealth(running: GuardedProcess): Promise<boolean> {
    while (this.#running === running) {
      if ((await isOk(`${this.operations}/health`)) && this.#running === running && !this.#killing) {
        if (this.#outage !== undefined) this.#outage.toMs = Date.now();
        this.#outage = undefined;
        return true;
      }
      await sleep(HEALTH_POLL_MS);
    }
    return false;
  }

  #beginOutage(): void {
    if (this.#outage !== undefined) return;
    this.#outage = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    this.#outages.push(this.#outage);
  }
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // It does not listen: asked again.
  }
}
