import type { Hono } from 'hono';
import type { Registry } from 'prom-client';
import { cacheResult } from './result-cache.ts';
import { withTimeout } from './with-timeout.ts';

/** Answers whether one thing that the process needs works; it rejects, or gives a reason, when it does not. */
export type ReadinessCheck = () => Promise<string | null>;

/** What `/ready` shows, with details besides. */
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
/** How long an answer is sent again: each costs queries or milliseconds, on a port that may be public and has no limits. */
const STANDS_MS = 1_000;
/** A process that is not ready soon is, as a rule: who starts it waits for this answer. */
const NOT_READY_STANDS_MS = 250;

/**
 * The operator's routes of any process: `/health` (it runs), `/ready` (what it needs works: 200, or 503 with the reason
 * by name) and `/metrics` (Prometheus text).
 */
export function mountHealth(app: Pick<Hono, 'get'>, { metrics, checks, details }: HealthDeps): void {
  app.get('/health', (c) => c.json({ status: 'ok' }));
  const readiness = cacheResult(
    async (): Promise<Readiness> => {
      const entries = Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const);
      const failures = (await Promise.all(entries)).filter(([, reason]) => reason !== null);
      return { ready: failures.length === 0, failures: Object.fromEntries(failures), ...(await details?.()) };
    },
    ({ ready }) => (ready ? STANDS_MS : NOT_READY_STANDS_MS),
  );
  app.get('/ready', async (c) => {
    const answer = await readiness();
    return c.json(answer, answer.ready ? 200 : 503);
  });
  const text = cacheResult(() => metrics.metrics(), STANDS_MS);
  app.get('/metrics', async (c) => c.text(await text(), 200, { 'Content-Type': metrics.contentType }));
}

/** A failed check shows the kind of its error alone: messages may carry addresses and credentials. */
async function runCheck(check: ReadinessCheck): Promise<string | null> {
  const answer = check().catch((error: unknown) => (error instanceof Error ? error.name : 'failed'));
  return withTimeout(answer, CHECK_TIMEOUT_MS).catch(() => 'no answer in time');
}
