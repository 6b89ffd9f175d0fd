import { AppError } from '../../config/app-error.ts';
import { reasonOfEnd, ServiceError } from '../services/service-error.ts';
import { Progress } from './progress.ts';
import { Supervisor } from './supervisor.ts';

/** A second signal within this time is the same key press: npm passes on what the terminal has sent already. */
const SAME_SIGNAL_MS = 1_000;

export interface SupervisedRun {
  /** What failures are reported as. */
  readonly name: string;
  /** Starts the parts. */
  readonly start: (supervisor: Supervisor, progress: Progress) => Promise<void>;
  /** Resolves with a reason to stop, besides signals. */
  readonly until?: Promise<string>;
  /** Whether all is done only then: what stops the run before is a failure. Default: no. */
  readonly isTask?: boolean;
}

/** A task was stopped before its end. */
class StoppedEarlyError extends AppError {
  readonly code = 'STOPPED_EARLY';
  readonly retryable = true;
}

/**
 * Runs parts until a signal, the end of one, a failed start or a closed output; then stops them, the last one first,
 * and ends this process. Exit codes: 0 after an orderly stop, 75 when the same command may succeed later, else 1.
 */
export async function runSupervised({
  name,
  start,
  until = new Promise(() => undefined),
  isTask = false,
}: SupervisedRun): Promise<never> {
  const progress = new Progress(process.stdout);
  const supervisor = new Supervisor(progress);
  const signalled = whenStopSignalled().then((reason) => {
    if (isTask) throw new StoppedEarlyError(`stopped before it was done (${reason})`);
    return reason;
  });
  const serve = () => start(supervisor, progress).then(() => new Promise<never>(() => undefined));
  let exitCode = 0;
  try {
    const outcome = await Promise.race([serve(), until, signalled, supervisor.failure]);
    progress.print(`\nStopping (${outcome}) ...`);
  } catch (error) {
    progress.print('');
    process.stderr.write(`${name}: ${describeFailure(error)}\n`);
    exitCode = error instanceof AppError ? error.exitCode : 1;
  }
  const failures = await supervisor.stop();
  for (const failure of failures) process.stderr.write(`could not stop ${failure}\n`);
  progress.print('Stopped.');
  // Sockets of libraries that linger must not keep this process alive.
  process.exit(failures.length > 0 ? 1 : exitCode);
}

/** Resolves on the first signal, or when the output is closed. A later signal ends the process at once. */
function whenStopSignalled(): Promise<string> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        firstAt ??= performance.now();
        resolve(signal);
        // The watchdog of the services ends what is still running.
        if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
      });
    }
    process.stdout.on('error', () => resolve('output closed'));
  });
}

/** One clear line for what is foreseen, with the last lines of the part's log when there are some. */
function describeFailure(error: unknown): string {
  if (error instanceof AppError) return error.message;
  if (error instanceof ServiceError) {
    const reason = reasonOfEnd(error.log);
    if (reason !== '') return `${error.message}${reason}`;
    const log = error.log.trim().split('\n').slice(-15).join('\n  | ');
    return `${error.message}${log && `\n  | ${log}`}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
