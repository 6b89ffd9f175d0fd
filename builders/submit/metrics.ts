import { Counter, Histogram, type Registry } from 'prom-client';

const ANSWER_BUCKETS_SECS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];

/** What the builders worker counts. */
export type BuildersMetrics = {
  /** By provider, as the id of its endpoint, which has no URL, and outcome: accepted, rejected, skipped, dropped or unanswered. */
  readonly outcomes: Counter<'provider' | 'outcome'>;
  /** From arrival of a request to its outcome at a builder. */
  readonly latency: Histogram<'provider'>;
  readonly simulations: Counter<'chain' | 'outcome'>;
};

export function createBuildersMetrics(registry: Registry): BuildersMetrics {
  const registers = [registry];
  return {
    outcomes: new Counter({
      name: 'pamm_outcomes_total',
      help: 'Quote updates by how they ended at a builder',
      labelNames: ['provider', 'outcome'],
      registers,
    }),
    latency: new Histogram({
      name: 'pamm_answer_seconds',
      help: 'Time from arrival of a quote update to its outcome at a builder',
      labelNames: ['provider'],
      buckets: ANSWER_BUCKETS_SECS,
      registers,
    }),
    simulations: new Counter({
      name: 'pamm_simulations_total',
      help: 'Quote updates applied to a simulated head block, by result',
      labelNames: ['chain', 'outcome'],
      registers,
    }),
  };
}
