import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AppError, EXIT_RETRY } from '../../config/app-error.ts';
import { INDEXER_MESSAGES } from '../../db/backfill-messages.ts';
import { freePort } from '../../runtime/free-port.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

const INDEXER = `${PROJECT_ROOT}dist/indexer.mjs`;
const HOST = '127.0.0.1';
/** An indexer that has not stopped by then gets SIGKILL. Its work up to the last commit is kept. */
const STOP_LIMIT_MS = 15_000;

/** The indexer that fills the schema ended before its work was done. */
class BuildEndedError extends AppError {
  readonly code = 'BUILD_ENDED';
  readonly retryable: boolean;

  constructor(exitCode: number | null) {
    super(`the indexer ended with ${exitCode === null ? 'a signal' : `exit code ${exitCode}`}: its log says why`);
    this.retryable = exitCode === EXIT_RETRY;
  }
}

/** The schema has rows of other code, or of code for other chains. */
export class OtherCodeError extends BuildEndedError {}

/** A running indexer that fills a schema and leaves the readers' views alone. */
export interface BuildProcess {
  /** Rejects with a BuildEndedError when it ends. */
  readonly failure: Promise<never>;
  /** Whether the indexer has written all final blocks and now follows the heads of the chains. */
  readonly isComplete: () => boolean;
  readonly stop: () => Promise<void>;
}

/**
 * Starts the indexer on a free port of the loopback interface. Its warnings and errors go to standard error. The
 * indexer ends when this process ends, for whatever reason.
 */
export async function startBuild(schema: string): Promise<BuildProcess> {
  const port = await freePort(HOST);
  const child = spawn(process.execPath, [INDEXER, '--schema', schema, '--build'], {
    stdio: ['ignore', 2, 2, 'ipc'],
    env: { ...process.env, HOST, PORT: String(port), LOG_LEVEL: 'warn' },
  });
  let sent: unknown;
  child.on('message', (message) => {
    sent = message;
  });
  const ended = once(child, 'close');
  const failure = ended.then(([exitCode]): never => {
    throw sent === INDEXER_MESSAGES.otherCode ? new OtherCodeError(exitCode) : new BuildEndedError(exitCode);
  });
  // Without a handler, Node reports the rejection as unhandled before a caller awaits it.
  failure.catch(() => undefined);
  return {
    failure,
    isComplete: () => sent === INDEXER_MESSAGES.complete,
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
