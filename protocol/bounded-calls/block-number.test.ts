import { type Hex, zeroAddress } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { startAnvil } from '../../devnet/anvil.ts';
import { connectDevChain, type DevChain } from '../../devnet/dev-chain.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { decodeBoundedCalls, encodeBoundedCalls } from './bounded-calls.ts';

const ARB_SYS = '0x0000000000000000000000000000000000000064';
const HEIGHT = 5n;
const anvil = startedWorld(() => startAnvil({ chainId: 31_337 }));
let chain: DevChain;

beforeAll(async () => {
  chain = await connectDevChain(anvil.url);
  await chain.client.mine({ blocks: Number(HEIGHT) });
});

/** The number of the block, as isolated calls tell it. */
async function numberOfBlock(): Promise<bigint> {
  const call = { target: zeroAddress, data: '0x', gasLimit: 30_000, keptBytes: 0, likelyGas: 0 } as const;
  const { data } = await chain.client.call({ data: encodeBoundedCalls([call]) });
  const { blockNumber, results } = decodeBoundedCalls(data ?? '0x', 1);
  expect(results).toMatchObject([{ success: true }]);
  return blockNumber;
}

/** Code of the address at which Arbitrum tells the number of its own block. */
test.each<[string, Hex, bigint]>([
  ['nothing', '0x', HEIGHT],
  // If the selector of `arbBlockNumber()` comes: the number 7.
  ['Arbitrum', '0x5f3560e01c63a3b1b31d14600f57005b60075f5260205ff3', 7n],
  ['what returns too much', '0x60075f5260405ff3', HEIGHT],
  ['what reverts with a word', '0x60075f5260205ffd', HEIGHT],
  ['what burns all gas, as a precompile of BNB Chain', '0x5b5f56', HEIGHT],
])('where %s is, a block has the number of its own chain', async (_, bytecode, number) => {
  await chain.client.setCode({ address: ARB_SYS, bytecode });
  expect(await numberOfBlock()).toBe(number);
});
