import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { pause } from '../../runtime/pause.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import type { ClaimedIndex } from '../publication/claim-index.ts';
import { listIndexSchemas } from '../publication/index-schemas.ts';
import { dropRepaired } from './drop.ts';
import { inferredFactories, readRepairs } from './repair.ts';

const BACKFILL = `${PROJECT_ROOT}dist/backfill.mjs`;
const POLL_MS = 10_000;
/** Between the ends of attempts and the next ones, failed or not. */
const PAUSE_MS = 600_000;
/** Readers are served from the new index before the backfill that filled it ends. */
const SETTLE_MS = 30_000;

/** The repairs of an index that its own indexer starts. */
export interface AutomaticRepair {
  /** Waits until a repair that runs has ended, half a minute at most. */
  readonly settled: () => Promise<void>;
}

/**
 * Repairs the index that this process writes, whenever it lastingly differs from the chain: a backfill fills another
 * one beside it, with logs fetched again. No other backfill may run meanwhile. It ends when this process ends;
 * the next one continues it.
 *
 * @param chains those of the index. Where a layout that is inferred may be read wrongly, differences are not repaired
 * @param env settings with which this process was started
 */
export function repairIndex(
  { schema, database }: ClaimedIndex,
  chains: readonly Pick<ChainConfig, 'chainId' | 'deployments'>[],
  env: NodeJS.ProcessEnv,
  logger: Logger,
): AutomaticRepair {
  let running: Promise<void> = Promise.resolve();
  const inferred = inferredFactories(chains);
  const isBeingReplaced = async () =>
    (await listIndexSchemas(database)).some(({ name, served, written }) => written && (name !== schema || !served));
  const poll = async (): Promise<number> => {
    const { fromBlocks, attempts } = await readRepairs(database, inferred);
    if (fromBlocks.size === 0 || (await isBeingReplaced())) return POLL_MS;
    const dropped = await dropRepaired(database);
    const due = { fromBlocks: Object.fromEntries(fromBlocks), attempts: Object.fromEntries(attempts) };
    logger.warn({ ...due, dropped }, 'a backfill repairs the index');
    running = runRepair(env, logger).catch((err: unknown) => logger.error({ err }, 'the repair of the index failed'));
    await running;
    return PAUSE_MS;
  };
  let waitMs = POLL_MS;
  const pollQuietly = async () => {
    waitMs = await poll().catch((err: unknown) => {
      logger.warn({ err }, 'could not find out whether the index needs a repair');
      return POLL_MS;
    });
  };
  startRepeating(pollQuietly, () => waitMs, false);
  return { settled: () => Promise.race([running, pause(SETTLE_MS)]) };
}

/** Runs the command of a repair, and logs what it reports. */
async function runRepair(env: NodeJS.ProcessEnv, logger: Logger): Promise<void> {
  const child = spawn(process.execPath, [BACKFILL, '--repair', '--due', '--json'], {
    stdio: ['ignore', 'pipe', 2, 'ipc'],
    cwd: PROJECT_ROOT,
    env,
  });
  const reports = async () => {
    // The pipe is there: `stdio` asks for it.
    if (child.stdout) for await (const line of createInterface({ input: child.stdout })) logLine(line, logger);
  };
  // Together: a process that cannot be started fails both.
  const [[exitCode]] = await Promise.all([once(child, 'close'), reports()]);
  if (exitCode !== 0) logger.error({ exitCode }, 'the repair of the index failed');
}

const Report = z.looseObject({ type: z.string() });

/** Logs the report of the end, and lines that are no reports: what the command imports may write some. */
function logLine(line: string, logger: Logger): void {
  const parsed = readReport(line);
  if (!parsed) {
    logger.warn({ line }, 'the repair of the index wrote a line that is no report');
    return;
  }
  const { type, ...report } = parsed;
  if (type === 'end') logger.warn(report, 'the repair of the index has ended');
}

/** Reads a line of the command; null if it is no report. */
export function readReport(line: string): z.infer<typeof Report> | null {
  try {
    return Report.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
