import { Gauge, type Registry } from 'prom-client';
import type { OnCalibration } from './calibration-job.ts';

/** Shows what is decided as `layout_calibration_decided{chain, factory, what}`: 1 or 0. */
export function calibrationGauge(registry: Registry): OnCalibration {
  const gauge = new Gauge({
    name: 'layout_calibration_decided',
    help: 'Whether it is decided how pools of a factory are read: 1, or 0',
    labelNames: ['chain', 'factory', 'what'] as const,
    registers: [registry],
  });
  return ({ chainId, factory }, what, isDecided) =>
    gauge.set({ chain: String(chainId), factory, what }, isDecided ? 1 : 0);
}
