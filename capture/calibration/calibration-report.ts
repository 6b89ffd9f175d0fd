import { Gauge, type Registry } from 'prom-client';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { STOP_LOSS_MARK } from '../../protocol/guards/observed-marks.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { NO_ARRANGEMENT } from '../../protocol/stored-layout.ts';
import type { Logger } from '../../runtime/logger.ts';
import { findingsOf } from './calibrate-factory.ts';
import type { FactoryKey } from './calibration-rows.ts';
import type { Decisions } from './calibration-schedule.ts';

/** Called after each run, once for each finding of a factory; `decided` is null while the finding is undecided. */
export type OnCalibration = (factory: FactoryKey, what: string, decided: string | null) => void;

/** Logs what a run decided or withdrew, and a configured mark that contradicts it. */
export function logChange(
  logger: Pick<Logger, 'info' | 'warn'>,
  { key, deployment }: { readonly key: FactoryKey; readonly deployment: DeploymentConfig },
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
