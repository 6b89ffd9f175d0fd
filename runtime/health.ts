import type { Hono } from 'hono';
import type { Registry } from 'prom-client';
import { AppError } from '../config/app-error.ts';
import { cacheResult } from './result-cache.ts';
import { withTimeout } from './with-timeout.ts';

/** Checks one thing that the process needs. It rejects, or resolves with a reason, when that does not work. */
export type ReadinessCheck = () => Promise<string | null>;

/** What `/ready` shows, besides details. */
type Readiness = {
  readonly ready: boolean;
  /** Reasons by name of the check. */
  readonly failures: Readonly<Record<string, string | null>>;
};

export type HealthDeps = {
  readonly metrics: Pick<Registry, 'metrics' | 'contentType'>;
  /** By name, as `/ready` lists them. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** What else `/ready` shows, whatever the checks say. */
  readonly details?: () => Promise<Readonly<Record<string, unknown>>>;
};

const CHECK_TIMEOUT_MS = 2_000;
/** How long a response is reused. Each costs queries or milliseconds, and the port may be public without rate limit. */
const REUSE_MS = 1_000;
/** Shorter while not ready: as a rule the process is ready soon, and whoever starts it waits for that. */
const NOT_READY_REUSE_MS = 250;

/**
 * Adds the operator's routes that every process has: `/health` (the process runs), `/ready` (200 when what it needs
 * works, otherwise 503 with reasons by check) and `/metrics` (Prometheus text).
 */
export function mountHealth(app: Pick<Hono, 'get'>, { metrics, checks, details }: HealthDeps): void {
  app.get('/health', (c) => c.json({ status: 'ok' }));
  const readiness = cacheResult(
    async (): Promise<Readiness> => {
      const entries = Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const);
      const failures = (await Promise.all(entries)).filter(([, reason]) => reason !== null);
      return { ready: failures.length === 0, failures: Object.fromEntries(failures), ...(await details?.()) };
    },
    ({ ready }) => (ready ? REUSE_MS : NOT_READY_REUSE_MS),
  );
  app.get('/ready', async (c) => {
    const answer = await readiness();
    return c.json(answer, answer.ready ? 200 : 503);
  });
  const text = cacheResult(() => metrics.metrics(), REUSE_MS);
  app.get('/metrics', async (c) => c.text(await text(), 200, { 'Content-Type': metrics.contentType }));
}

/**
 * Runs a check. Shows only the kind of an error that is not ours: its message may contain addresses and credentials.
 */
async function runCheck(check: ReadinessCheck): Promise<string | null> {
  const answer = check().catch((error: unknown) => {
    if (error instanceof AppError) return error.message;
    return error instanceof Error ? error.name : 'failed';
  });
  return withTimeout(answer, CHECK_TIMEOUT_MS).catch(() => 'no answer in time');
}
