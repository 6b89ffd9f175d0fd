import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  http,
  type PublicClient,
  parseEventLogs,
  toFunctionSelector,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import type { components } from '../../client/schema.d.ts';
import { routerAbi } from '../../devnet/abi.ts';
import { noPriceLimit } from '../../devnet/actions.ts';
import { MNEMONIC } from '../../devnet/demo/quote-update.ts';
import { type Order, PROGRAMS, type TakerWorld } from './programs.ts';
import { rpcClient } from './rpc-client.ts';

export type ListedPool = components['schemas']['MetadataPage']['data'][number];

const CHAIN_ID = 31_337;
const SLOT_SECS = 4n;
/** `taker` of the devnet. */
const TAKER = mnemonicToAccount(MNEMONIC, { addressIndex: 9 });
/** Prices move between a quote and the block of the swap: by the bounds of the demo's walk at most. */
const MIN_PERCENT = 99n;

/**
 * Runs each program against a demo that printed this, in its pools with live prices: each swap that a program decides
 * on is signed and sent to the demo's builder, and fills on its node.
 *
 * @param live the pools with live prices, all of one pair
 */
export async function expectProgramsToTrade(output: string, live: readonly ListedPool[]): Promise<void> {
  const printed = (pattern: RegExp) => pattern.exec(output)?.[1] ?? expect.fail(`not printed: ${pattern}`);
  const api = printed(/API +(http:\S+)/);
  const nodeUrl = printed(/devnet-a +(http:\S+)/);
  const builder = rpcClient(() => `http://${printed(/ws:\/\/(\S+)\/ws\/pamm_quote_stream/)}/`);
  const node = createPublicClient({ transport: http(nodeUrl), cacheTime: 0 });
  const world: TakerWorld = {
    pools: live.map(({ poolAddress, quoterAddress }) => ({
      address: poolAddress as Address,
      quoter: quoterAddress as Address,
    })),
    token0: live[0]?.token0 as Address,
    token1: live[0]?.token1 as Address,
    nodeUrl,
    base: `${api}/public/v1/evm/${CHAIN_ID}`,
    rpc: rpcClient(() => `${api}/rpc/${CHAIN_ID}`),
    // Without a key there are fifty calls in ten seconds.
    pollMs: 500,
    async block() {
      const { number, timestamp } = await node.getBlock();
      return { number: number + 1n, timeSecs: timestamp + SLOT_SECS };
    },
  };
  const routers = await routersOf(node, world);
  for (const [name, run] of Object.entries(PROGRAMS)) {
    const orders = await run(world);
    expect(orders.length, name).toBeGreaterThanOrEqual(2);
    const nonce = await node.getTransactionCount({ address: TAKER.address });
    const hashes: Hex[] = [];
    for (const order of orders) {
      const transaction = await signedSwap(order, routers.get(order.pool), nonce + hashes.length);
      const { result } = await builder.ask('eth_sendRawTransaction', [transaction]);
      hashes.push(result ?? expect.fail('the builder refuses a swap'));
    }
    for (const [index, { pool, zeroForOne, amountOut }] of orders.entries()) {
      const paid = await paidTo(node, hashes[index] as Hex, zeroForOne ? world.token1 : world.token0);
      expect(paid >= (amountOut * MIN_PERCENT) / 100n, `${name}, ${pool}: ${paid} of ${amountOut}`).toBe(true);
    }
  }
}

/** The contracts that others swap through in pools, by what they sent in some of the last blocks. */
async function routersOf(node: PublicClient, { pools }: TakerWorld): Promise<ReadonlyMap<Address, Address>> {
  const selector = toFunctionSelector(routerAbi[0]);
  const routers = new Map<Address, Address>();
  const isWhole = async () => {
    const { number } = await node.getBlock();
    for (let blockNumber = number; blockNumber > number - 10n && routers.size < pools.length; blockNumber -= 1n) {
      const { transactions } = await node.getBlock({ blockNumber, includeTransactions: true });
      for (const { to, input } of transactions) {
        const pool = pools.find(({ address }) => input.startsWith(selector) && input.includes(address.slice(2)));
        if (to && pool) routers.set(pool.address, to);
      }
    }
    return routers.size;
  };
  // The builder has traded in each of them in about half of the blocks.
  await expect.poll(isWhole, { timeout: 60_000, interval: 1_000 }).toBe(pools.length);
  return routers;
}

function signedSwap({ pool, zeroForOne, amountIn }: Order, router: Address | undefined, nonce: number): Promise<Hex> {
  const args = [pool, zeroForOne, amountIn, noPriceLimit(zeroForOne)] as const;
  return TAKER.signTransaction({
    type: 'eip1559',
    chainId: CHAIN_ID,
    nonce,
    gas: 2_000_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 1n,
    to: router ?? expect.fail(`the demo names no contract that trades in ${pool}`),
    data: encodeFunctionData({ abi: routerAbi, functionName: 'swap', args }),
  });
}

/** What the taker got of a token in a transaction, once a block has it: it must not revert. */
async function paidTo(node: PublicClient, hash: Hex, token: Address): Promise<bigint> {
  const receiptOf = () => node.getTransactionReceipt({ hash });
  await expect
    .poll(
      () =>
        receiptOf().then(
          ({ status }) => status,
          () => null,
        ),
      { timeout: 60_000 },
    )
    .toBe('success');
  const transfers = parseEventLogs({ abi: erc20Abi, logs: (await receiptOf()).logs, eventName: 'Transfer' });
  return transfers
    .filter(({ address, args }) => address.toLowerCase() === token && args.to === getAddress(TAKER.address))
    .reduce((sum, { args }) => sum + args.value, 0n);
}
