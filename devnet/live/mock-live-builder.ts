import type { DevChain } from '../dev-chain.ts';
import { type BuiltBlock, type Landing, type LiveTrade, mineBlock } from './build-block.ts';
import { type FormServer, type FormServerOptions, startFormServer } from './form-server.ts';
import type { QuoteUpdate } from './maker.ts';
import { blockAfter, ETHEREUM_SLOTS, type PendingBlock, type SlotTimes } from './pending-block.ts';
import { PendingUpdates } from './pending-updates.ts';

export interface LiveBuilderOptions extends FormServerOptions {
  /** Default: those of Ethereum. */
  readonly slots?: SlotTimes;
  /** Default: `with-trade`. */
  readonly landing?: Landing;
}

/**
 * A block builder in front of a local node. While it alone mines, the frames that it serves name the number and the
 * time of the next block, which has exactly these once it is built.
 */
export interface MockLiveBuilder extends FormServer {
  /** The block being built: makers sign for it. */
  block(): PendingBlock;
  /**
   * Takes an update for the block being built. It replaces the feed's update of before.
   *
   * @throws OtherBlockError when the update is for another block
   */
  submit(update: QuoteUpdate): void;
  /** Takes back what was submitted for a feed. */
  cancel(feed: Pick<QuoteUpdate, 'venue' | 'feedId'>): void;
  setLanding(landing: Landing): void;
  /** Builds on the head where somebody else mined it or took blocks back; then drops all updates. */
  followHead(): Promise<void>;
  /**
   * Mines the block being built with these trades, and starts the next one, without updates. One call at a time.
   *
   * @throws RpcError when the node rejects a transaction, such as an update whose nonce was used
   * @throws Error when somebody else mined meanwhile, or took the block back
   */
  buildBlock(content?: { readonly trades?: readonly LiveTrade[] }): Promise<BuiltBlock>;
}

/**
 * Starts a builder, and mines an empty block at the time of the next slot. From now on the node mines only what the
 * builder builds: calls that wait for a receipt, such as `send`, would wait for the next block, also after `stop`.
 *
 * @param chain a node that orders transactions by arrival (`anvil --order fifo`)
 */
export async function startMockLiveBuilder(
  chain: DevChain,
  { slots = ETHEREUM_SLOTS, landing = 'with-trade', ...serverOptions }: LiveBuilderOptions = {},
): Promise<MockLiveBuilder> {
  await chain.client.setAutomine(false);
  const pending = new PendingUpdates(blockAfter(await chain.client.getBlock(), slots));
  let currentLanding = landing;
  const buildBlock: MockLiveBuilder['buildBlock'] = async ({ trades = [] } = {}) => {
    const built = await mineBlock(chain, pending, { landing: currentLanding, trades });
    pending.startBlock(blockAfter({ number: built.number, timestamp: built.timeSecs }, slots));
    return built;
  };
  // From now on the head has the time of a slot, as every block after it.
  await buildBlock();
  const server = await startFormServer(pending, serverOptions);
  return {
    ...server,
    block: () => pending.block,
    submit: (update) => pending.submit(update),
    cancel: (feed) => pending.cancel(feed),
    async followHead() {
      const head = await chain.client.getBlock();
      const { number, timeSecs } = pending.block;
      if (head.number + 1n !== number || head.timestamp >= timeSecs) pending.startBlock(blockAfter(head, slots));
    },
    setLanding(next) {
      currentLanding = next;
    },
    buildBlock,
  };
}
