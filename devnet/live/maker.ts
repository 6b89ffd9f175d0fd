import { type Address, encodeFunctionData, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type DevChain, mined } from '../dev-chain.ts';
import { request } from '../json-rpc.ts';
import type { PendingBlock } from './pending-block.ts';
import { type FeedPrice, feedWords, priceRegistryAbi, type StateDiff } from './registry.ts';

/** A price of one feed for one block, and the transaction that writes it. */
export interface QuoteUpdate {
  /** The name under which builders publish the words: a router. */
  readonly venue: Address;
  readonly feedId: Hex;
  /** The only block that the price is good for. */
  readonly block: PendingBlock;
  /** The account whose storage the transaction writes, and the words after it. */
  readonly account: Address;
  readonly words: StateDiff;
  /** Signed. Its nonce is the next one of the maker: of updates for the same block, one can land. */
  readonly transaction: Hex;
}

/** A market maker of one feed: two feeds of one account would have to land in the order of their nonces. */
export interface Maker {
  readonly address: Address;
  /** Gives the account ether, and registers it as the maker of its feed. The node must mine at once. */
  register(): Promise<void>;
  /** Signs a price for a block that is being built. */
  sign(block: PendingBlock, price: FeedPrice): Promise<QuoteUpdate>;
}

export interface MakerSpec {
  readonly privateKey: Hex;
  readonly registry: Address;
  readonly venue: Address;
  readonly feedId: Hex;
}

const FUNDS_WEI = 10n ** 24n;
const GAS = 200_000n;
/** A thousand gwei: far above any base fee of the devnet. */
const MAX_FEE_WEI = 10n ** 12n;

export function createMaker(chain: DevChain, { privateKey, registry, venue, feedId }: MakerSpec): Maker {
  const account = privateKeyToAccount(privateKey);
  const signCall = async (data: Hex): Promise<Hex> =>
    account.signTransaction({
      type: 'eip1559',
      chainId: chain.chainId,
      // Counts the updates that wait in the node: a builder that lands them late put them there.
      nonce: await chain.client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
      gas: GAS,
      maxFeePerGas: MAX_FEE_WEI,
      maxPriorityFeePerGas: 1n,
      to: registry,
      data,
    });
  return {
    address: account.address.toLowerCase() as Address,
    async register() {
      await chain.client.setBalance({ address: account.address, value: FUNDS_WEI });
      const args = [feedId] as const;
      const transaction = await signCall(encodeFunctionData({ abi: priceRegistryAbi, functionName: 'register', args }));
      const { status } = await mined(chain, await sendSigned(chain, transaction));
      if (status !== 'success') throw new Error(`feed ${feedId} has a maker already`);
    },
    async sign(block, price) {
      const args = [feedId, block.timeSecs, price.bidX64, price.askX64] as const;
      const transaction = await signCall(encodeFunctionData({ abi: priceRegistryAbi, functionName: 'update', args }));
      const words = feedWords(feedId, block.timeSecs, price);
      return { venue, feedId, block, account: registry, words, transaction };
    },
  };
}

/** Hands a signed transaction to the node and returns its hash. */
export function sendSigned(chain: DevChain, transaction: Hex): Promise<Hex> {
  return request<Hex>(chain.rpcUrl, 'eth_sendRawTransaction', [transaction]);
}
