import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { AppError, EXIT_RETRY } from '../../config/app-error.ts';
import { hideUrlSecrets } from '../../config/url-secrets.ts';
import { freePort } from '../../runtime/free-port.ts';
import { sendRequest } from '../../runtime/http-request.ts';
import { type BuildMetrics, readBuildMetrics } from './build-metrics.ts';

const INDEXER = fileURLToPath(new URL('../main.ts', import.meta.url));
const HOST = '127.0.0.1';
const ANSWER_TIMEOUT_MS = 2_000;
/** After this long without an end, SIGKILL: its work up to the last commit is kept. */
const STOP_LIMIT_MS = 15_000;

/** The indexer that fills the schema has ended before its work was done. */
export class BuildEndedError extends AppError {
  readonly code = 'BUILD_ENDED';
  readonly retryable: boolean;

  constructor(exitCode: number | null, reason: string) {
    super(reason || 'the indexer ended without a reason');
    this.retryable = exitCode === EXIT_RETRY;
  }
}

/** A running indexer that fills a schema and leaves the readers' views alone. */
export interface BuildProcess {
  /** Rejects with a BuildEndedError when it ends without being stopped. */
  readonly failure: Promise<never>;
  /** What it says of itself; null when it does not answer now. */
  readonly metrics: () => Promise<BuildMetrics | null>;
  /** Whether it has written all final blocks and follows the heads of the chains now. */
  readonly historyDone: () => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

/** Starts the indexer on a free port of the loopback interface. It ends with this process, however this one ends. */
export async function startBuild(schema: string): Promise<BuildProcess> {
  const port = await freePort(HOST);
  // With Node's own arguments of this process, which load TypeScript.
  const child = spawn(process.execPath, [...process.execArgv, INDEXER, '--schema', schema, '--build'], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, HOST, PORT: String(port), LOG_LEVEL: 'warn' },
  });
  const reasonOf = collectReason(child);
  let stopping = false;
  const ended = once(child, 'close').then(([exitCode]) => exitCode as number | null);
  const failure = ended.then((exitCode): Promise<never> => {
    if (stopping) return new Promise(() => undefined);
    throw new BuildEndedError(exitCode, reasonOf());
  });
  // It counts as unhandled otherwise until a caller awaits it.
  failure.catch(() => undefined);
  return {
    failure,
    metrics: async () => {
      const text = await ask(port, '/metrics');
      return text === null ? null : readBuildMetrics(text);
    },
    historyDone: async () => (await ask(port, '/ready')) !== null,
    stop: async () => {
      stopping = true;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** The last error that it logged, or its last line on standard error: what to tell the operator. */
function collectReason(child: ChildProcess): () => string {
  let reason = '';
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      reason = reasonIn(line) ?? reason;
    });
  }
  return () => reason;
}

const ERROR_LEVEL = 50;

/** What a line says of a fault: a log line of level error, or plain text. URLs are cut, since they may hold keys. */
export function reasonIn(line: string): string | null {
  if (!line.startsWith('{')) return line.trim() === '' ? null : hideUrlSecrets(line.trim());
  try {
    const { level, msg, error } = JSON.parse(line) as {
      level: number;
      msg?: string;
      error?: { message?: string };
    };
    if (level < ERROR_LEVEL) return null;
    const [first = ''] = (error?.message ?? '').split('\n');
    return hideUrlSecrets([msg, first].filter(Boolean).join(': '));
  } catch {
    return null; // Not a whole log line.
  }
}

/** The body of a 200; null for anything else: not listening yet, busy, not ready. The next poll asks again. */
async function ask(port: number, path: string): Promise<string | null> {
  try {
    const { status, text } = await sendRequest(`http://${HOST}:${port}${path}`, { timeoutMs: ANSWER_TIMEOUT_MS });
    return status === 200 ? text : null;
  } catch {
    return null;
  }
}
