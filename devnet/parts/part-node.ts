import { type Hex, numberToHex } from 'viem';
import type { DevChain } from '../dev-chain.ts';
import { request } from '../json-rpc.ts';
import type { ProxiedRequest } from '../misbehaviour.ts';
import { startRpcProxy } from '../rpc-proxy.ts';
import type { Part, PartForm } from './part.ts';
import { type BlockJson, startPartSockets } from './part-sockets.ts';
import { type PartTrap, trapped } from './part-traps.ts';
import { Sequencer } from './sequencer.ts';

export interface PartNodeOptions {
  /** Default: 10. */
  readonly partsPerBlock?: number;
  /** Seconds between blocks. Default: 2. */
  readonly blockSecs?: number;
  /** Default: `block`. */
  readonly form?: PartForm;
  /** Parts of block N + 1 come this long before block N; Infinity: until `showHead` is called. Default: 0 ms. */
  readonly earlyMs?: number;
  /** Whether a block that begins late has the time of the clock. Default: no. */
  readonly followsClock?: boolean;
  /** False: requests are not kept, for nodes that stand for long. */
  readonly record?: boolean;
}

/** A node that follows the parts of a sequencer: it stands before a local one. */
export interface PartNode {
  readonly url: string;
  readonly wsUrl: string;
  /** Requests that came over HTTP, in order. */
  readonly requests: readonly ProxiedRequest[];
  /** The newest part. */
  part(): Part;
  /** Takes a signed transaction into the next part. */
  submit(transaction: Hex): void;
  /** Shows the next part; after the last one of a block, seals this and shows the first one of the next. */
  nextPart(): Promise<Part>;
  /** Shows the block below parts that came before it. */
  showHead(): Promise<void>;
  /**
   * Calls {@link nextPart} at the pace of the sequencer. `before` may submit what comes with the next part.
   *
   * @returns ends it
   */
  run(before?: (part: Part) => Promise<void>): () => Promise<void>;
  /** Falls into these traps from the next request on; none: honest. */
  trap(...traps: readonly PartTrap[]): void;
  /** Subscriptions fall silent until they are resumed. */
  pause(isPaused: boolean): void;
  subscriptions(stream: 'newFlashblocks' | 'newHeads'): number;
  stop(): Promise<void>;
}

/**
 * Starts a sequencer on a local node that orders transactions by arrival (`anvil --order fifo`),
 * and shows the first part.
 */
export async function startPartNode(chain: DevChain, options: PartNodeOptions = {}): Promise<PartNode> {
  const { partsPerBlock = 10, blockSecs = 2, form = 'block', earlyMs = 0, followsClock, record } = options;
  const sequencer = await Sequencer.open(chain, { partsPerBlock, blockSecs, followsClock: followsClock ?? false });
  const proxy = await startRpcProxy(chain.rpcUrl, record);
  const sockets = await startPartSockets(chain.chainId, form);
  let traps: readonly PartTrap[] = [];
  /** The head that is reported, while parts come before their parent. */
  let late: Hex | undefined;

  const misbehave = () => {
    if (late) return proxy.misbehave({ kind: 'staleHead', block: late }, ({ params }) => params.includes('latest'));
    const behaviour = traps.length > 0 ? trapped(traps, () => sequencer) : null;
    proxy.misbehave(behaviour, ({ params }) => params.includes('pending'));
  };
  const showHead = async (): Promise<void> => {
    late = undefined;
    misbehave();
    sockets.showHead(await blockAt(chain, 'latest'));
  };
  const nextPart = async (): Promise<Part> => {
    const { part: before } = sequencer;
    // No call sees a part before it is pushed.
    const part = await proxy.quietly(async () => {
      const next = await sequencer.next();
      if (next.index === 0 && earlyMs > 0) late = numberToHex(before.number - 1n);
      misbehave();
      if (next.index === 0 && earlyMs === 0) await showHead();
      sockets.showPart(next, await blockAt(chain, 'pending'));
      return next;
    });
    if (part.index === 0 && earlyMs > 0 && earlyMs < Infinity) setTimeout(() => void showHead(), earlyMs);
    return part;
  };

  return {
    url: proxy.url,
    wsUrl: sockets.wsUrl,
    requests: proxy.requests,
    part: () => sequencer.part,
    submit: (transaction) => sequencer.submit(transaction),
    nextPart,
    showHead,
    run: (before) => runParts((blockSecs * 1_000) / partsPerBlock, nextPart, async () => before?.(sequencer.part)),
    trap(...next) {
      traps = next;
      misbehave();
    },
    pause: sockets.pause,
    subscriptions: sockets.count,
    async stop() {
      await sockets.stop();
      await proxy.stop();
    },
  };
}

const blockAt = (chain: DevChain, tag: string) =>
  request<BlockJson>(chain.rpcUrl, 'eth_getBlockByNumber', [tag, false]);

/** @returns ends it */
function runParts(partMs: number, nextPart: () => Promise<Part>, before: () => Promise<void>): () => Promise<void> {
  const ended = new AbortController();
  // The end of the node is noticed by who started it, and what others do to the chain fails no later part.
  const submit = () => before().catch(() => undefined);
  const run = async () => {
    await submit();
    for (let dueAt = performance.now(); !ended.signal.aborted; dueAt = Math.max(dueAt + partMs, performance.now())) {
      await nextPart().then(submit, () => undefined);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt + partMs - performance.now())));
    }
  };
  const running = run();
  return async () => {
    ended.abort();
    await running;
  };
}
