import {
  type Address,
  createPublicClient,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  parseAbi,
} from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { compileCode } from '../../devnet/compile-code.ts';
import { startedWorld } from '../harness/open-world.ts';
import { batchesOf, paidBy, startLiveWorld, updateAll, waitForUpdates } from '../live/live-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { startStreamApi } from '../stream/stream-api.ts';
import { wordsOfVenues } from './program-readers.ts';
import { rpcClient, until } from './rpc-client.ts';

/*
 * A quoter of contracts with the standard face of proprietary AMMs trades a pool through the router that the service
 * names for it: it reads the pairs, quotes under the overrides of the block being built, pushes the input and swaps.
 */

const FACE = parseAbi([
  'constructor(address pool, address token0, address token1)',
  'struct TokenPair { address token0; address token1; }',
  'function getPairs() view returns (TokenPair[])',
  'function quote(address tokenIn, address tokenOut, uint256 amountIn) returns (uint256)',
  'function swap(address tokenIn, address tokenOut, uint256 amountIn, uint256 minAmountOut, address recipient, uint256 deadline) returns (uint256)',
]);
const AMOUNT = 10n ** 17n;

const world = startedWorld(() => startLiveWorld({ flatPools: 1, packedPools: 0, guards: ['none'] }));

/** Deploys the router of a pool in a block of its own. */
async function deployFace(): Promise<Address> {
  const { market } = world;
  const [pool] = market.pools;
  const bytecode = compileCode(new URL('./PropAmmFace.sol', import.meta.url).pathname);
  const args = [pool?.address ?? '0x', market.token0, market.token1] as const;
  const transaction = { from: market.chain.roles.trader, data: encodeDeployData({ abi: FACE, bytecode, args }) };
  const { trades } = await market.builder.buildBlock({ trades: [{ transaction, feedIds: [] }] });
  return trades[0]?.contractAddress?.toLowerCase() as Address;
}

test('a pool is traded through its router, by the calls of the standard face alone', async () => {
  const { market, config, served } = world;
  const [pool] = market.pools;
  if (!pool) throw new Error('there is no pool');
  const router = await deployFace();
  const sources = config.live?.sources.map((source) => ({ ...source, republish: true })) ?? [];
  const chain = { ...config, live: { ...config.live, sources } };
  const api = await startStreamApi({ chain, directory: fixedDirectory(served.map((each) => ({ ...each, router }))) });
  onTestFinished(() => api.stop());
  await market.builder.buildBlock();
  await waitForUpdates(world, await updateAll(market, () => 203n), batchesOf(api));
  const rpc = rpcClient(() => `${new URL(api.base).origin}/rpc/${config.chainId}`);
  const resultOf = async (method: string, params: unknown[] = []) =>
    JSON.parse(await rpc.askText(method, params)) as Record<string, string>;
  const named = await resultOf('titan_getPammQuote', [market.token0, market.token1, `0x${AMOUNT.toString(16)}`]);
  expect([named.pamm, named.router]).toEqual([pool.address, router]);
  const node = createPublicClient({ transport: http(market.chain.rpcUrl) });
  const ask = async (data: Hex, ...more: unknown[]) =>
    (await node.request({
      method: 'eth_call',
      params: [{ to: named.router, data }, 'latest', ...more],
    } as never)) as Hex;
  const pairs = decodeFunctionResult({
    abi: FACE,
    functionName: 'getPairs',
    data: await ask(encodeFunctionData({ abi: FACE, functionName: 'getPairs' })),
  });
  const [pair] = pairs;
  if (!pair) throw new Error('the router has no pair');
  const { token0: tokenIn, token1: tokenOut } = pair;
  const data = encodeFunctionData({ abi: FACE, functionName: 'quote', args: [tokenIn, tokenOut, AMOUNT] });
  await expect(ask(data)).rejects.toThrow('inactive');
  let stateOverride = {};
  await until('overrides', async () => {
    const words = wordsOfVenues(await resultOf('titan_getPammStateOverrides'));
    stateOverride = Object.fromEntries(Object.entries(words).map(([account, stateDiff]) => [account, { stateDiff }]));
    return Object.keys(words).length > 0;
  });
  const { number, timeSecs } = market.builder.block();
  const blockOverrides = { number: `0x${number.toString(16)}`, time: `0x${timeSecs.toString(16)}` };
  const quoted = decodeFunctionResult({
    abi: FACE,
    functionName: 'quote',
    data: await ask(data, stateOverride, blockOverrides),
  });
  expect(quoted).toBeGreaterThanOrEqual(BigInt(named.amountOut ?? 0));
  const { trader } = market.chain.roles;
  const pushed = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [router, AMOUNT] });
  const args = [tokenIn, tokenOut, AMOUNT, quoted, trader, timeSecs] as const;
  const swapped = encodeFunctionData({ abi: FACE, functionName: 'swap', args });
  const { trades } = await market.builder.buildBlock({
    trades: [
      { transaction: { from: trader, to: tokenIn, data: pushed }, feedIds: [] },
      { transaction: { from: trader, to: router, data: swapped }, feedIds: [pool.feedId] },
    ],
  });
  expect(trades.map(({ status }) => status)).toEqual(['success', 'success']);
  expect(trades[1] && paidBy(market, trades[1], pool.address, true)).toBe(quoted);
});
