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
import { compileCode } from '../../devnet/compile-code.ts';
import { connectTexts } from './levels-client.ts';
import { integerBlock } from './program-readers.ts';
import { found, type TakerWorld } from './programs.ts';

/*
 * The last program of the table: it quotes contracts with the standard face of proprietary AMMs under the overrides of
 * the block being built, and swaps there with a pushed input.
 */

export const QUOTER = "gattaca's propamm quoter";

export const FACE = parseAbi([
  'constructor(address pool, address token0, address token1)',
  'struct TokenPair { address token0; address token1; }',
  'function getPairs() view returns (TokenPair[])',
  'function quote(address tokenIn, address tokenOut, uint256 amountIn) returns (uint256)',
  'function swap(address tokenIn, address tokenOut, uint256 amountIn, uint256 minAmountOut, address recipient, uint256 deadline) returns (uint256)',
]);
const AMOUNT = 10n ** 17n;

/** A contract with the face, and the venue of its pool's overrides: the program knows both. */
export interface FaceWorld extends Pick<TakerWorld, 'base' | 'nodeUrl' | 'pollMs' | 'block'> {
  readonly face: Address;
  readonly venue: Address;
}

/** A swap through the face, and what its quote says. */
export interface FaceOrder {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** Creates the face of a pool. */
export const faceCode = (pool: Address, token0: Address, token1: Address): Hex =>
  encodeDeployData({
    abi: FACE,
    bytecode: compileCode(new URL('./PropAmmFace.sol', import.meta.url).pathname),
    args: [pool, token0, token1],
  });

/** Runs the program until it has a quote of its first pair for the block being built. */
export async function quoteThroughFace(world: FaceWorld): Promise<FaceOrder> {
  const { base, nodeUrl, face, venue } = world;
  const node = createPublicClient({ transport: http(nodeUrl) });
  const ask = async (data: Hex, ...overrides: unknown[]) => {
    const params = [{ to: face, data }, 'latest', ...overrides];
    return (await node.request({ method: 'eth_call', params } as never)) as Hex;
  };
  const listed = await ask(encodeFunctionData({ abi: FACE, functionName: 'getPairs' }));
  const [pair] = decodeFunctionResult({ abi: FACE, functionName: 'getPairs', data: listed });
  if (!pair) throw new Error('the router has no pair');
  const order = { tokenIn: pair.token0, tokenOut: pair.token1, amountIn: AMOUNT };
  const data = encodeFunctionData({
    abi: FACE,
    functionName: 'quote',
    args: [order.tokenIn, order.tokenOut, AMOUNT],
  });
  // Its own token stands in the header without `Bearer`.
  const client = await connectTexts(`${base}/ws/pamm_quote_stream`, { Authorization: 'of a builder' });
  const amountOut = await found(world, 'a quote of the router', async () => {
    const frame = JSON.parse(client.texts.at(-1)?.text ?? '{}');
    const { number, timeSecs } = await world.block();
    const stateOverride = frame[venue]?.stateOverride;
    if (integerBlock(frame.blockNumber) !== number || !stateOverride) return null;
    const blockOverrides = { number: `0x${number.toString(16)}`, time: `0x${timeSecs.toString(16)}` };
    // A block that came meanwhile makes it revert.
    const quoted = await ask(data, stateOverride, blockOverrides).catch(() => null);
    return quoted && decodeFunctionResult({ abi: FACE, functionName: 'quote', data: quoted });
  });
  return { ...order, amountOut };
}

/** The two calls of a swap: the input is pushed, then swapped. */
export function faceCalls(
  face: Address,
  { tokenIn, tokenOut, amountIn }: FaceOrder,
  { minAmountOut, recipient, deadline }: { minAmountOut: bigint; recipient: Address; deadline: bigint },
): readonly { readonly to: Address; readonly data: Hex }[] {
  const args = [tokenIn, tokenOut, amountIn, minAmountOut, recipient, deadline] as const;
  return [
    { to: tokenIn, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [face, amountIn] }) },
    { to: face, data: encodeFunctionData({ abi: FACE, functionName: 'swap', args }) },
  ];
}
