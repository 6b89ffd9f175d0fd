import { anyNodeHas } from '../../chain/ability-probes.ts';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';

const PROBE_MS = 15_000;
const WARNING =
  'published quote updates make no live quotes: no node of the chain has debug_traceCall with prestateTracer';

/** Whether nodes find what transactions write, which the source of kind `own` needs. */
export interface TraceWatch {
  isAvailable(): boolean;
  /** What the operator should know. */
  warning(): string | undefined;
  stop(): void;
}

/** Begins to probe the nodes of a chain: at once, then every 15 seconds. A failure is logged once. */
export function watchTraces(rpc: ChainRpc, logger: Logger, probeMs = PROBE_MS): TraceWatch {
  let isAvailable: boolean | undefined;
  const stop = startRepeating(async () => {
    const before = isAvailable;
    // Where no node answers, what was known of them holds.
    isAvailable = await anyNodeHas(rpc.endpoints, 'traces').catch(() => before);
    if (isAvailable === false && before !== false) logger.warn(WARNING);
  }, probeMs);
  return {
    isAvailable: () => isAvailable === true,
    warning: () => (isAvailable === false ? WARNING : undefined),
    stop,
  };
}
