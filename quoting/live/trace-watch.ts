import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { canTraceWrites } from '../../chain/trace-writes.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';

const PROBE_MS = 15_000;
const WARNING =
  'published quote updates make no live quotes: no node of the chain has debug_traceCall with prestateTracer';

/** Knows whether the nodes of a chain find what transactions write, which the source of kind `own` needs. */
export class TraceWatch {
  readonly #stop: () => void;
  #isAvailable: boolean | undefined;

  /** Begins to probe: at once, then every 15 seconds. A failure is logged once. */
  constructor(rpc: ChainRpc, logger: Logger, probeMs = PROBE_MS) {
    this.#stop = startRepeating(async () => {
      // Where no node answers, what was known of them holds.
      const isAvailable = await canTraceWrites(rpc).catch(() => this.#isAvailable);
      if (isAvailable === false && this.#isAvailable !== false) logger.warn(WARNING);
      this.#isAvailable = isAvailable;
    }, probeMs);
  }

  get isAvailable(): boolean {
    return this.#isAvailable === true;
  }

  /** What the operator should know. */
  get warning(): string | undefined {
    return this.#isAvailable === false ? WARNING : undefined;
  }

  stop(): void {
    this.#stop();
  }
}
