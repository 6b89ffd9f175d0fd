import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServiceProcess, startService } from './service-process.ts';

export interface OwnProcessOptions {
  /** Path of the main file from the root of the project, as `indexer/main.ts`. */
  readonly main: string;
  readonly args?: readonly string[];
  /** Added to this process's environment; undefined removes a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ready when this URL answers 200, or when its output matches. */
  readonly ready: string | RegExp;
  readonly startTimeoutMs?: number;
  readonly stopTimeoutMs?: number;
  readonly output?: NodeJS.WritableStream | undefined;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Starts one of the project's own processes as `npm run` would, without npm between us and its signals, and waits until
 * it is ready.
 *
 * @throws ServiceError when it ends or is not ready in time; `log` has its last lines
 */
export function startOwnProcess({ main, args = [], env, ready, ...rest }: OwnProcessOptions): Promise<ServiceProcess> {
  return startService({
    name: main,
    command: process.execPath,
    args: [...ownMain(main), ...args],
    cwd: ROOT,
    env: { ...process.env, ...env },
    ready: typeof ready === 'string' ? () => answers(ready) : ready,
    ...rest,
  });
}

/** As package.json, Dockerfile and docker-compose.yml have them; why stands in docs/decisions.md. */
const API_FLAGS = ['--no-memory-reducer', '--heap-growing-percent=100'];
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  'api/main.ts': API_FLAGS,
  // The API again.
  'test/abuse/api-process.ts': API_FLAGS,
};

/** Node's arguments that run a main file: the bundle that a run of the tests has made of it, or the source as `npm run` does. */
export function ownMain(main: string): string[] {
  const bundle = join(process.env.BUNDLED_PROCESSES ?? '', main.replace(/[.]ts$/, '.mjs'));
  const code = process.env.BUNDLED_PROCESSES && existsSync(bundle) ? [bundle] : ['--import', 'tsx', main];
  return [...(FLAGS[main] ?? []), ...code];
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // Not listening yet: asked again until the start's time limit.
  }
}
