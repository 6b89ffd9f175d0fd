import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainConfig, DeploymentConfig } from '../../config/chains-schema.ts';
import type { Finding } from '../../protocol/calibration.ts';
import { STOP_LOSS_MARK } from '../../protocol/guards/observed-marks.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { NO_ARRANGEMENT, STORAGE } from '../../protocol/stored-layout.ts';
import type { Logger } from '../../runtime/logger.ts';
import { calibrateFactory, calibrateStorage, findingsOf } from './calibrate-factory.ts';
import { tradedPools } from './calibration-pools.ts';
import { type CalibrationRow, type FactoryKey, readCalibration, writeCalibration } from './calibration-rows.ts';

/** Called after each run, once for each finding of a factory; `decided` is null while the finding is undecided. */
export type OnCalibration = (factory: FactoryKey, what: string, decided: string | null) => void;

export type CalibrationDeps = {
  readonly database: pg.Pool;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly onCalibration?: OnCalibration | undefined;
};

/** Recent swaps that a factory needs before it is calibrated: fewer decide nothing. */
const MIN_SWAPS = 5;
/** The pause between two attempts doubles from a minute to an hour. */
const MIN_BACKOFF_SECS = 60;
const MAX_BACKOFF_SECS = 3_600;

/**
 * Calibrates each factory of a chain that is not fully calibrated. The first attempt comes when the factory has had
 * five swaps, further ones after pauses of a minute to an hour. Its storage is checked as soon as a pool holds something.
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
  { database, logger, onCalibration }: CalibrationDeps,
  rpc: ChainRpc,
  { chainId }: ChainConfig,
  deployment: DeploymentConfig,
): Promise<boolean> {
  const names = findingsOf(deployment);
  if (names.length === 0) return false;
  const key = { chainId, factory: deployment.poolFactory };
  const before = await readCalibration(database, key);
  const isDue = isTryDue(before, names) && (await hasTraded(database, key));
  const target = { rpc, chainId };
  const findings = isDue
    ? await calibrateFactory(database, target, deployment)
    : await undecidedStorage(before, names, () => calibrateStorage(database, target, deployment));
  if (findings.length > 0) await writeCalibration(database, key, findings, 'job');
  const after = findings.length > 0 ? await readCalibration(database, key) : before;
  const decided = decisions(after);
  for (const what of names) onCalibration?.(key, what, decided.get(what) ?? null);
  if (findings.length > 0) logChange(logger, key, deployment, decisions(before), decided);
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

/** Whether the pause since the last attempt is over. An attempt tries every name; that of the storage may be decided before. */
function isTryDue(rows: readonly CalibrationRow[], names: readonly string[]): boolean {
  const decided = decisions(rows);
  if (names.every((name) => (decided.get(name) ?? null) !== null)) return false;
  const tried = rows.filter(({ what }) => what !== STORAGE);
  const tries = Math.max(0, ...tried.map((row) => row.tries));
  if (tries === 0) return true;
  const pauseSecs = Math.min(MIN_BACKOFF_SECS * 2 ** (tries - 1), MAX_BACKOFF_SECS);
  const lastTry = Math.max(...tried.map(({ decidedAt }) => decidedAt.getTime()));
  return Date.now() - lastTry >= pauseSecs * 1000;
}

type Decisions = ReadonlyMap<string, string | null>;

const decisions = (rows: readonly CalibrationRow[]): Decisions =>
  new Map(rows.map(({ what, decided }) => [what, decided]));

function logChange(
  logger: CalibrationDeps['logger'],
  key: FactoryKey,
  deployment: DeploymentConfig,
  before: Decisions,
  after: Decisions,
): void {
  const names = findingsOf(deployment);
  const withdrawn = names.filter((name) => (before.get(name) ?? null) !== null && before.get(name) !== after.get(name));
  const fields = { ...key, ...Object.fromEntries(names.map((name) => [name, after.get(name) ?? null])) };
  if (after.get('storage') === NO_ARRANGEMENT) {
    logger.warn(fields, 'no known arrangement explains the storage of a factory: its pools are not served');
  } else if (withdrawn.length > 0) logger.warn({ ...fields, withdrawn }, 'the chain contradicts what was calibrated');
  else logger.info(fields, 'a factory was calibrated');
  const assumed = deployment.stopLossMark ?? layoutAdapter(deployment.layout).stopLoss.mark;
  const fits = after.get(STOP_LOSS_MARK) ?? null;
  if (fits === null || assumed === null || fits === assumed) return;
  logger.warn(
    { ...key, stopLossMark: assumed, fits },
    'watermarks contradict stopLossMark: depth of pools with a stop loss may not fill, set the mark that fits',
  );
}

/**
 * Exports two metrics, each 1 or 0. `layout_calibration_decided{chain, factory, what}`: whether a finding is decided.
 * `factory_unreadable{chain, factory}`: whether a factory's pools are not served because no known arrangement explains
 * their storage.
 */
export function calibrationGauge(registry: Registry): OnCalibration {
  const gauge = new Gauge({
    name: 'layout_calibration_decided',
    help: 'Whether it is decided how pools of a factory are read: 1, or 0',
    labelNames: ['chain', 'factory', 'what'] as const,
    registers: [registry],
  });
  const unreadable = new Gauge({
    name: 'factory_unreadable',
    help: 'Whether pools of a factory are not served, since no known arrangement explains their storage: 1, or 0',
    labelNames: ['chain', 'factory'] as const,
    registers: [registry],
  });
  return ({ chainId, factory }, what, decided) => {
    const labels = { chain: String(chainId), factory };
    gauge.set({ ...labels, what }, decided === null ? 0 : 1);
    if (what === 'storage') unreadable.set(labels, decided === NO_ARRANGEMENT ? 1 : 0);
  };
}
