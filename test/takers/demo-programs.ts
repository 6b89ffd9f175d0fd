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
  type TransactionReceipt,
  toFunctionSelector,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import type { components } from '../../client/schema.d.ts';
import { routerAbi } from '../../devnet/abi.ts';
import { noPriceLimit } from '../../devnet/actions.ts';
import { MNEMONIC } from '../../devnet/demo/quote-update.ts';
import { type Order, PROGRAMS, type TakerWorld } from './programs.ts';
import { faceCalls, faceCode, QUOTER, quoteThroughFace } from './prop-amm-face.ts';
import { rpcClient } from './rpc-client.ts';

export type ListedPool = components['schemas']['MetadataPage']['data'][number];

const CHAIN_ID = 31_337;
const SLOT_SECS = 4n;
/** `taker` of the devnet. */
const TAKER = mnemonicToAccount(MNEMONIC, { addressIndex: 9 });
const DEADLINE_SECS = 600n;
/** Prices move between a quote and the block of the swap: by the bounds of the demo's walk at most. */
const MIN_PERCENT = 99n;

/**
 * Runs each program of the table against a demo that printed this, in its pools with live prices: each swap that a
 * program decides on is signed and sent to the demo's builder, and fills on its node.
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
  /** Sends calls of the taker to the builder, in this order. */
  const send = async (calls: readonly Call[]): Promise<readonly Hex[]> => {
    const nonce = await node.getTransactionCount({ address: TAKER.address });
    const hashes: Hex[] = [];
    for (const call of calls) {
      const { result } = await builder.ask('eth_sendRawTransaction', [await signed(call, nonce + hashes.length)]);
      hashes.push(result ?? expect.fail('the builder refuses a transaction'));
    }
    return hashes;
  };
  /** Waits for a swap to fill. */
  const expectFilled = async (name: string, hash: Hex | undefined, token: Address, amountOut: bigint) => {
    const paid = paidTo(await receiptOf(node, hash), token);
    expect(paid >= (amountOut * MIN_PERCENT) / 100n, `${name}: ${paid} of ${amountOut}`).toBe(true);
  };
  const routers = await routersOf(node, world);
  for (const [name, run] of Object.entries(PROGRAMS)) {
    const orders = await run(world);
    expect(orders.length, name).toBeGreaterThanOrEqual(2);
    const hashes = await send(orders.map((order) => swapOf(order, routers.get(order.pool))));
    for (const [index, { pool, zeroForOne, amountOut }] of orders.entries())
      await expectFilled(`${name}, ${pool}`, hashes[index], zeroForOne ? world.token1 : world.token0, amountOut);
  }
  const [pool, venue] = [...routers][0] ?? expect.fail('there is no pool');
  const [created] = await send([{ data: faceCode(pool, world.token0, world.token1) }]);
  const face = (await receiptOf(node, created)).contractAddress ?? expect.fail('the router is no contract');
  const order = await quoteThroughFace({ ...world, face, venue });
  const { timeSecs } = await world.block();
  const terms = {
    minAmountOut: (order.amountOut * MIN_PERCENT) / 100n,
    recipient: TAKER.address,
    deadline: timeSecs + DEADLINE_SECS,
  };
  const [, swapped] = await send(faceCalls(face, order, terms));
  await expectFilled(QUOTER, swapped, order.tokenOut, order.amountOut);
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

interface Call {
  /** Absent: `data` creates a contract. */
  readonly to?: Address;
  readonly data: Hex;
}

function swapOf({ pool, zeroForOne, amountIn }: Order, router: Address | undefined): Call {
  const args = [pool, zeroForOne, amountIn, noPriceLimit(zeroForOne)] as const;
  return {
    to: router ?? expect.fail(`the demo names no contract that trades in ${pool}`),
    data: encodeFunctionData({ abi: routerAbi, functionName: 'swap', args }),
  };
}

const signed = (call: Call, nonce: number): Promise<Hex> =>
  TAKER.signTransaction({
    type: 'eip1559',
    chainId: CHAIN_ID,
    nonce,
    gas: 2_000_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 1n,
    ...call,
  });

/** The receipt of a transaction once a block has it: it must not revert. */
async function receiptOf(node: PublicClient, hash: Hex | undefined): Promise<TransactionReceipt> {
  const read = () => node.getTransactionReceipt({ hash: hash ?? expect.fail('there is no transaction') });
  const status = () =>
    read().then(
      (receipt) => receipt.status,
      () => null,
    );
  await expect.poll(status, { timeout: 60_000 }).toBe('success');
  return read();
}

/** What the taker got of a token in a transaction. */
function paidTo({ logs }: TransactionReceipt, token: Address): bigint {
  const transfers = parseEventLogs({ abi: erc20Abi, logs, eventName: 'Transfer' });
  return transfers
    .filter(
      ({ address, args }) => address.toLowerCase() === token.toLowerCase() && args.to === getAddress(TAKER.address),
    )
    .reduce((sum, { args }) => sum + args.value, 0n);
}
