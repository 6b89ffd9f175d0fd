import { Gauge, type Registry } from 'prom-client';
import { NO_ARRANGEMENT } from '../../protocol/stored-layout.ts';
import type { OnCalibration } from './calibration-job.ts';

/**
 * Shows what is decided as `layout_calibration_decided{chain, factory, what}`: 1 or 0; and whether pools of a factory are
 * left out since no known arrangement explains their storage, as `factory_unreadable{chain, factory}`: 1 or 0.
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
