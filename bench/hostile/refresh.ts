import type pg from 'pg';
import { captureJobs } from '../../capture/capture-jobs.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { createLogger } from '../../runtime/logger.ts';
import { Samples } from '../../test/harness/samples.ts';
import { trade } from '../../test/many-pools/activity.ts';
import { chainsFile } from '../../test/many-pools/chains-file.ts';
import { cpuMsOf } from '../process-figures.ts';
import type { HostileChain } from './chain.ts';

/** Milliseconds; those after the first are medians. */
export interface RefreshCost {
  readonly refreshFirstMs: number;
  /** The first one of a process that continues the listing. */
  readonly refreshNextMs: number;
  readonly refreshMs: number;
  /** Of this process and of Postgres together. */
  readonly refreshCpuMs: number;
}

const REFRESHES = 8;
/** After this long two are enough. */
const TIMEOUT_MS = 60_000;
const AGES = { fiatMaxAgeSecs: 86_400, statusMaxAgeSecs: 60 };

/** What one refresh of the listing costs by itself, a second of trading before each. */
export async function measureRefresh(
  database: pg.Pool,
  chains: readonly HostileChain[],
  postgresPid: number,
): Promise<RefreshCost> {
  const file = parseChainsFile(
    chainsFile(chains, ({ world }) => world.anvil.url),
    'bench',
  );
  const logger = createLogger('bench', 'warn');
  const startJobs = () => captureJobs({ file, database, ...AGES, llamaUrl: 'http://127.0.0.1:1', logger });
  let jobs = startJobs();
  const run = async (name: string) => {
    const job = jobs.find((each) => each.name === name);
    if (!job) throw new Error(`capture has no job ${name}`);
    await job.run();
  };
  await run('fiat-prices');
  const timed = async () => {
    const [startedAt, cpuBefore, serverBefore] = [performance.now(), process.cpuUsage(), cpuMsOf(postgresPid)];
    await run('listing');
    const { user, system } = process.cpuUsage(cpuBefore);
    return {
      wallMs: performance.now() - startedAt,
      cpuMs: (user + system) / 1_000 + cpuMsOf(postgresPid) - serverBefore,
    };
  };
  const { wallMs: refreshFirstMs } = await timed();
  const [wall, cpu] = [new Samples(), new Samples()];
  const deadline = performance.now() + TIMEOUT_MS;
  while (wall.count < 2 || (wall.count < REFRESHES && performance.now() < deadline)) {
    await trade(
      database,
      chains.map(({ chainId }) => chainId),
    );
    const cost = await timed();
    wall.add(cost.wallMs);
    cpu.add(cost.cpuMs);
  }
  jobs = startJobs();
  const { wallMs: refreshNextMs } = await timed();
  return { refreshFirstMs, refreshNextMs, refreshMs: wall.median, refreshCpuMs: cpu.median };
}
