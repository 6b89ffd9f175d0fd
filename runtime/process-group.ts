import cluster, { type Worker } from 'node:cluster';
import { AppError } from '../config/app-error.ts';
import type { Logger } from './logger.ts';
import { type Channel, ProcessCalls } from './process-calls.ts';

/** A process that never came to listen is replaced after this time: what it lacks, such as a database, may be back. */
const RESTART_MS = 1_000;

export interface GroupOptions {
  readonly count: number;
  readonly logger: Logger;
  /** A process is new: what it may call is to be said here. */
  readonly onStart: (id: number, calls: ProcessCalls) => void;
  /** A process is gone, however it ended. */
  readonly onEnd: (id: number) => void;
}

interface Member {
  readonly worker: Worker;
  readonly calls: ProcessCalls;
  isListening: boolean;
}

/** A process ended before it listened. It printed why. */
export class ProcessStartError extends AppError {
  readonly code = 'PROCESS_START';
  readonly retryable: boolean;

  constructor(exitCode: number) {
    super(`a process ended while starting, with exit code ${exitCode}: see its message`);
    this.retryable = exitCode !== 1;
  }
}

/** Processes of the same program that share its ports. One that ends is replaced, and ends no request but its own. */
export class ProcessGroup {
  readonly #options: GroupOptions;
  readonly #members = new Map<number, Member>();
  #hasStarted = false;
  #isStopping = false;
  #onChange: (startFailure?: ProcessStartError) => void = () => undefined;

  constructor(options: GroupOptions) {
    this.#options = options;
  }

  /**
   * Resolves when all processes listen.
   *
   * @throws ProcessStartError when one of them ends before
   */
  async start(): Promise<void> {
    // Figures that are not numbers get lost in JSON.
    cluster.setupPrimary({ serialization: 'advanced' });
    cluster.on('exit', (worker, code, signal) => this.#ended(worker.id, signal || `exit code ${code}`, code));
    await new Promise<void>((resolve, reject) => {
      this.#onChange = (failure) => {
        if (failure) reject(failure);
        else if (this.listening.length === this.#options.count) resolve();
      };
      for (let count = 0; count < this.#options.count; count += 1) this.#fork();
    });
    this.#hasStarted = true;
  }

  /** Ids of the processes that listen. */
  get listening(): number[] {
    return [...this.#members].filter(([, { isListening }]) => isListening).map(([id]) => id);
  }

  /**
   * Calls all processes that listen.
   *
   * @param onAnswer takes each answer in time of a process that still runs
   */
  async callAll<T>(name: string, timeoutMs: number, onAnswer: (answer: T, id: number) => void): Promise<void> {
    const call = async (id: number) => {
      const answer = await this.#members.get(id)?.calls.call<T>(name, undefined, timeoutMs);
      if (answer !== undefined && this.#members.has(id)) onAnswer(answer, id);
    };
    // Who asks sees which process did not answer.
    await Promise.allSettled(this.listening.map(call));
  }

  /** Has all processes stop in their own order, and waits until they have. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = new Promise<void>((resolve) => {
      this.#onChange = () => this.#members.size === 0 && resolve();
    });
    for (const { worker, calls, isListening } of this.#members.values()) {
      // One that stops already ends, and with it the call.
      if (isListening) void calls.call('stop').catch(() => undefined);
      else worker.process.kill('SIGKILL');
    }
    this.#onChange();
    await ended;
  }

  #fork(): void {
    const worker = cluster.fork();
    const member: Member = { worker, calls: new ProcessCalls(worker as Channel), isListening: false };
    this.#members.set(worker.id, member);
    this.#options.onStart(worker.id, member.calls);
    worker.once('listening', () => {
      member.isListening = true;
      this.#onChange();
    });
  }

  #ended(id: number, how: string, exitCode: number): void {
    const hadListened = this.#members.get(id)?.isListening;
    this.#members.delete(id);
    this.#options.onEnd(id);
    const isWanted = !this.#isStopping && this.#hasStarted;
    if (isWanted) {
      this.#options.logger.error({ worker: id, how }, 'a process ended and is replaced');
      const restart = () => !this.#isStopping && this.#fork();
      if (hadListened) restart();
      else setTimeout(restart, RESTART_MS);
    }
    this.#onChange(this.#isStopping || this.#hasStarted ? undefined : new ProcessStartError(exitCode));
  }
}
