import { once } from 'node:events';
import { connect } from 'node:net';
import { sendRequest } from '../../runtime/http-request.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { loginUrl } from './process-logins.ts';
import { type ServiceOptions, type ServiceProcess, startService } from './service-process.ts';
import { createTempFolder } from './temp-folder.ts';

export interface OwnProcessOptions
  extends Pick<ServiceOptions, 'startTimeoutMs' | 'stopTimeoutMs' | 'output' | 'signal' | 'onMessage'> {
  /** Name of its bundle, as `indexer`. */
  readonly main: string;
  readonly args?: readonly string[];
  /** Folder of the release that runs. Default: this one. */
  readonly root?: string | undefined;
  /** Added to this process's environment; undefined removes a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ready when this URL answers 200, when its output matches, or when the function says so. */
  readonly ready: string | ServiceOptions['ready'];
}

/**
 * Starts one of the project's own processes as `npm run` would, without npm between us and its signals, and waits until
 * it is ready. What it leaves in its temporary folder goes with it.
 *
 * @throws ServiceError when it ends or is not ready in time; `log` has its last lines
 */
export async function startOwnProcess({
  main,
  args = [],
  root = PROJECT_ROOT,
  env,
  ready,
  ...rest
}: OwnProcessOptions): Promise<ServiceProcess> {
  const temp = await createTempFolder(main, env.TMPDIR);
  return startService({
    name: main,
    command: process.execPath,
    args: [...ownMain(main), ...args],
    cwd: root,
    env: { ...ownEnvironment(main, env), TMPDIR: temp.path },
    afterEnd: temp.remove,
    ready: typeof ready === 'string' ? readyAt(ready) : ready,
    ...rest,
  });
}

/** Where Node keeps compiled code from one start to the next, until `npm run build`. */
const COMPILED = `${PROJECT_ROOT}dist/compiled`;

/**
 * The environment of one of our processes: this one's with further variables, and with the process's own login at
 * Postgres where it would have that of our superuser.
 */
export function ownEnvironment(main: string, env: OwnProcessOptions['env']): Record<string, string | undefined> {
  const all: Record<string, string | undefined> = { NODE_COMPILE_CACHE: COMPILED, ...process.env, ...env };
  for (const name of ['DATABASE_URL', 'DATABASE_REPLICA_URL']) {
    const url = all[name];
    if (url && new URL(url).username === 'postgres') all[name] = loginUrl(url, main);
  }
  return all;
}

/** As package.json, Dockerfile and docker-compose.yml have them; docs/build/decisions.md says why. */
export const API_FLAGS = ['--no-memory-reducer', '--heap-growing-percent=100'];
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  api: API_FLAGS,
  // The API again.
  'abuse-api': API_FLAGS,
};

/** Node's arguments that run a bundle of `npm run build`, from the project's folder. */
export function ownMain(main: string): string[] {
  return [...(FLAGS[main] ?? []), `dist/${main}.mjs`];
}

/** Says whether the URL answers 200. Asked every 50 ms, mostly before anything listens: then without a request. */
function readyAt(url: string): () => Promise<boolean> {
  let listens = false;
  return async () => {
    try {
      listens ||= await connects(new URL(url));
      return listens && (await sendRequest(url, { timeoutMs: 2_000 })).status === 200;
    } catch {
      return false; // Asked again until the start's time limit.
    }
  };
}

/** @throws an error of the system when nothing listens, at a third of the CPU time of a request */
async function connects({ hostname, port }: URL): Promise<true> {
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}
