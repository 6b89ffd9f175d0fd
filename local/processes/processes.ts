import { onFreePort } from '../services/on-free-port.ts';
import { startOwnProcess } from '../services/own-process.ts';
import type { LogOf } from './process-logs.ts';
import type { Part } from './supervisor.ts';

export interface ProcessPart extends Part {
  /** Base address, without a path. */
  readonly url: string;
  readonly ended: Promise<string>;
}

const HOST = '127.0.0.1';
/** Names of all interfaces. */
const EVERYWHERE = ['0.0.0.0', '::'];
/** The indexer reads every block of the scenario before it is ready, on a machine that is busy starting. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 10_000;

export interface ProcessStart {
  /** Name of its bundle. */
  readonly main: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logOf: LogOf;
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** Path that answers 200 when it is up; default: `/ready`. */
  readonly ready?: '/ready' | '/health';
  /** Gives the start up. */
  readonly signal: AbortSignal;
  /** Gets what it sends by IPC. */
  readonly onMessage?: (message: unknown) => void;
}

/** Starts one of the project's processes on a port, and waits until it is up. */
export async function startProcess({
  main,
  env,
  logOf,
  port,
  ready = '/ready',
  signal,
  onMessage,
}: ProcessStart): Promise<ProcessPart> {
  const start = async (chosen: number): Promise<ProcessPart> => {
    const { HOST: host = HOST } = env;
    const url = `http://${EVERYWHERE.includes(host) ? HOST : host}:${chosen}`;
    const service = await startOwnProcess({
      main,
      env: { HOST, ...env, PORT: String(chosen) },
      ready: `${url}${ready}`,
      startTimeoutMs: START_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      output: logOf(main),
      signal,
      onMessage,
    });
    return { ...service, url, note: url };
  };
  return port === undefined ? onFreePort(start) : start(port);
}
