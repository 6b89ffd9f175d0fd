import { onFreePort } from '../services/on-free-port.ts';
import { startOwnProcess } from '../services/own-process.ts';
import type { LogOf } from './process-logs.ts';
import type { Part } from './supervisor.ts';

export interface ProcessPart extends Part {
  /** Base address, without a path. */
  readonly url: string;
}

const HOST = '127.0.0.1';
/** The indexer reads every block of the scenario before it is ready, on a machine that is busy starting. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 10_000;

/**
 * Starts one of the project's processes on a port, ready when `/ready` answers 200.
 *
 * @param main name of its bundle
 * @param port a free one is taken when it is not given
 */
export async function startProcess(
  main: string,
  env: Readonly<Record<string, string>>,
  logOf: LogOf,
  port?: number,
): Promise<ProcessPart> {
  const start = async (chosen: number): Promise<ProcessPart> => {
    const url = `http://${HOST}:${chosen}`;
    const service = await startOwnProcess({
      main,
      env: { ...env, HOST, PORT: String(chosen) },
      ready: `${url}/ready`,
      startTimeoutMs: START_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      output: logOf(main),
    });
    return { ...service, url, note: url };
  };
  return port === undefined ? onFreePort(start) : start(port);
}

/** How a process says that it wants to be started again. */
const START_AGAIN = 'exit code 75';

/** Keeps a process running through the ends with which it asks to be started again, as a supervisor in production does. */
export async function startAgain(start: () => Promise<ProcessPart>): Promise<ProcessPart> {
  let current = await start();
  let stopping = false;
  const watch = async (): Promise<string> => {
    for (;;) {
      const how = (await current.ended) ?? 'ended';
      if (stopping || how !== START_AGAIN) return how;
      current = await start();
    }
  };
  return {
    ...current,
    ended: watch().catch((error: unknown) => String(error)),
    recentOutput: () => current.recentOutput?.() ?? '',
    stop: async () => {
      stopping = true;
      await current.stop();
    },
  };
}
