/** What `/ready` of the API says of a chain whose first index is being filled. */
export interface SyncingChain {
  readonly chainId: number;
  readonly name: string;
  readonly headBlock: number | null;
  readonly firstSync: { readonly fromBlock: number; readonly blockNumber: number | null; readonly logs: number } | null;
}

/** How far a chain was at some time. */
interface Sample {
  /** Milliseconds. */
  readonly at: number;
  readonly block: number;
}

/** Rates are those of this time. */
const WINDOW_MS = 60_000;

/** Says in a line for each chain how far its first index has come, how fast, and how long it will take. */
export class SyncProgress {
  readonly #samples = new Map<number, Sample[]>();

  /**
   * @param at milliseconds of a clock that never goes back
   * @returns lines without the chains whose index serves
   */
  lines(chains: readonly SyncingChain[], at: number): string[] {
    return chains.flatMap(({ chainId, name, headBlock, firstSync }) => {
      if (firstSync === null) return [];
      const { fromBlock, logs } = firstSync;
      const block = firstSync.blockNumber ?? fromBlock;
      if (headBlock === null) return [`${name}: no node gives its newest block`];
      const [done, all] = [Math.max(0, block - fromBlock), Math.max(1, headBlock - fromBlock)];
      const share = Math.min(100, Math.floor((100 * done) / all));
      const counts = `${name}: ${number(done)} of ${number(all)} blocks (${share}%), ${number(logs)} events`;
      const perSec = this.#rate(chainId, { at, block });
      return [perSec > 0 ? `${counts}, ${number(perSec)} blocks/s, ${timeLeft((headBlock - block) / perSec)}` : counts];
    });
  }

  /** Blocks per second. */
  #rate(chainId: number, now: Sample): number {
    const before = this.#samples.get(chainId) ?? [];
    const samples = [...before, now].filter(({ at }) => at >= now.at - WINDOW_MS);
    this.#samples.set(chainId, samples);
    const [first = now] = samples;
    return first.at === now.at ? 0 : ((now.block - first.block) * 1_000) / (now.at - first.at);
  }
}

const number = (value: number): string => Math.round(value).toLocaleString('en-US');

/** @param secs seconds */
function timeLeft(secs: number): string {
  if (secs < 90) return `${Math.max(0, Math.ceil(secs))} s left`;
  if (secs < 5_400) return `${Math.ceil(secs / 60)} min left`;
  return `${(secs / 3_600).toFixed(1)} h left`;
}
