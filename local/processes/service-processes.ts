import { AppError, EXIT_RETRY } from '../../config/app-error.ts';
import { ServiceError } from '../services/service-error.ts';
import { startIndexer } from './indexer-process.ts';
import { type KeepOptions, keepRunning } from './keep-running.ts';
import type { Ports } from './ports.ts';
import { type ProcessPart, type ProcessStart, startProcess } from './processes.ts';
import type { Supervisor } from './supervisor.ts';

export interface ServiceProcessesOptions extends Pick<ProcessStart, 'logOf' | 'ready'> {
  readonly ports: Ports;
  /** Settings of a process, by the name of its bundle. */
  readonly envOf: (main: string) => Readonly<Record<string, string>>;
  readonly keepOf: (main: string) => KeepOptions;
  /** Whether the nodes of a chain are silent: the indexer then comes up whenever they answer. Default: false. */
  readonly isSilent?: boolean;
}

/**
 * Starts every process of the service, side by side, and keeps them running.
 *
 * @throws StartError a process rejected its settings: its own line
 */
export async function startServiceProcesses(
  supervisor: Supervisor,
  { ports, envOf, keepOf, isSilent = false, ...common }: ServiceProcessesOptions,
): Promise<{ readonly api: ProcessPart; readonly indexer: ProcessPart }> {
  const start = (main: string, port?: number) => {
    const startOnce = (signal: AbortSignal) => {
      const options = { main, port, env: envOf(main), signal, ...common };
      const starting = main === 'indexer' ? startIndexer(options, envOf('backfill')) : startProcess(options);
      const started = starting.catch(rethrowAsLine);
      return main === 'indexer' && isSilent ? unawaited(started) : started;
    };
    return supervisor.start(main, () => keepRunning(startOnce, keepOf(main)));
  };
  const [api, indexer] = await Promise.all([
    start('api', ports.api),
    start('indexer', ports.indexer),
    start('capture'),
    start('builders'),
  ]);
  return { api, indexer };
}

/** A process that comes up whenever it can. When it does not, that is its end. */
async function unawaited(starting: Promise<ProcessPart>): Promise<ProcessPart> {
  return {
    url: '',
    note: 'comes up when its nodes answer',
    ended: starting.then(
      ({ ended }) => ended,
      (error: Error) => error.message,
    ),
    stop: () =>
      starting.then(
        ({ stop }) => stop(),
        () => undefined, // Its start was given up.
      ),
  };
}

/** A process ended while it started, and said why in one line. */
class StartError extends AppError {
  readonly code = 'START';
  readonly retryable: boolean;

  constructor(line: string, cause: ServiceError) {
    super(line, { cause });
    this.retryable = cause.exitCode === EXIT_RETRY;
  }
}

/**
 * Lines of the log are JSON; the line with which a process ends is not.
 *
 * @throws StartError that line; else the error
 */
export function rethrowAsLine(error: unknown): never {
  if (!(error instanceof ServiceError)) throw error;
  const line = error.log.trim().split('\n').at(-1);
  throw line && !line.startsWith('{') ? new StartError(line, error) : error;
}
