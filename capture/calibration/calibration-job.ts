import type pg from 'pg';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainConfig, DeploymentConfig } from '../../config/chains-schema.ts';
import type { Finding } from '../../protocol/calibration.ts';
import { STORAGE } from '../../protocol/stored-layout.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type CaptureChain, wallClock } from '../capture-chain.ts';
import { adaptive, type Job, jobsOfChain } from '../job.ts';
import { hasStoredPools } from '../pool-storage/storage-read.ts';
import { calibrateFactory, calibrateStorage, findingsOf } from './calibrate-factory.ts';
import { tradedPools } from './calibration-pools.ts';
import { logChange, type OnCalibration } from './calibration-report.ts';
import { type CalibrationRow, type FactoryKey, readCalibration, writeCalibration } from './calibration-rows.ts';
import { decisions, isAttemptDue } from './calibration-schedule.ts';

export type CalibrationDeps = {
  readonly database: pg.Pool;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly onCalibration?: OnCalibration | undefined;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
};

/** Recent swaps that a factory needs before it is calibrated: fewer decide nothing. */
const MIN_SWAPS = 5;

/** The calibration of a chain's factories. Without factories whose pools are read from storage there is none. */
export const calibrationJobs = (
  { chain, chainId, budgeted, ofIndex }: CaptureChain,
  common: Omit<CalibrationDeps, 'wallClock'>,
): Job[] =>
  hasStoredPools(chain)
    ? jobsOfChain(chainId, {
        calibration: {
          pace: adaptive(10),
          run: async () => calibrateFactories({ ...common, wallClock }, budgeted, await ofIndex()),
        },
      })
    : [];

/**
 * Calibrates each factory of a chain that is not fully calibrated. The first attempt comes when the factory has had
 * five swaps, further ones after pauses of a minute to an hour.
 * Its storage is checked as soon as a pool holds something.
 *
 * @returns number of factories tried
 * @throws errors of the nodes and the database, after every factory had its turn
 */
export async function calibrateFactories(deps: CalibrationDeps, rpc: ChainRpc, chain: ChainConfig): Promise<number> {
  const failures: unknown[] = [];
  let tried = 0;
  for (const deployment of chain.deployments.filter(({ enabled }) => enabled)) {
    try {
      if (await calibrateWhenDue(deps, rpc, chain, deployment)) tried += 1;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the calibration of a factory failed');
  return tried;
}

async function calibrateWhenDue(
  { database, logger, onCalibration, wallClock }: CalibrationDeps,
  rpc: ChainRpc,
  { chainId }: ChainConfig,
  deployment: DeploymentConfig,
): Promise<boolean> {
  const names = findingsOf(deployment);
  if (names.length === 0) return false;
  const key = { chainId, factory: deployment.poolFactory };
  const before = await readCalibration(database, key);
  const isDue = isAttemptDue(before, names, wallClock()) && (await hasTraded(database, key));
  const target = { rpc, chainId };
  const findings = isDue
    ? await calibrateFactory(database, target, deployment)
    : await undecidedStorage(before, names, () => calibrateStorage(database, target, deployment));
  if (findings.length > 0) await writeCalibration(database, key, findings, 'job');
  const after = findings.length > 0 ? await readCalibration(database, key) : before;
  const decided = decisions(after);
  for (const what of names) onCalibration?.(key, what, decided.get(what) ?? null);
  if (findings.length > 0) logChange(logger, { key, deployment }, decisions(before), decided);
  return isDue;
}

/** What a check of the storage finds, where that is still undecided: pools are not listed before. */
async function undecidedStorage(
  rows: readonly CalibrationRow[],
  names: readonly string[],
  check: () => Promise<Finding | null>,
): Promise<readonly Finding[]> {
  if (!names.includes(STORAGE) || (decisions(rows).get(STORAGE) ?? null) !== null) return [];
  const finding = await check();
  return finding ? [finding] : [];
}

async function hasTraded(database: pg.Pool, key: FactoryKey): Promise<boolean> {
  const pools = await tradedPools(database, key);
  return pools.reduce((sum, { swaps }) => sum + swaps, 0) >= MIN_SWAPS;
}
