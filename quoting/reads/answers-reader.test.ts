import fc from 'fast-check';
import {
  concatHex,
  decodeDeployData,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  type Hex,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  size,
  sliceHex,
  zeroHash,
} from 'viem';
import { expect, test } from 'vitest';
import { type FakeNode, fakeNodes } from '../../chain/fake-nodes.fixture.ts';
import type { CodeOverrides } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { BOUNDED_CALLS_CODE } from '../../protocol/bounded-calls/bounded-calls-code.ts';
import { poolStateOf } from '../../protocol/layouts/flat/pool-state.fixture.ts';
import { PROPERTY_SEED } from '../../test/harness/property-seed.ts';
import { encodeBin, encodeSlot0 } from '../../test/protocol/flat-storage.ts';
import { TransferProver } from '../guards/transfer-prover.ts';
import { flatPool, numberedAddress } from '../pools/served-pool.fixture.ts';
import { AnswersReader } from './answers-reader.ts';

const AGGREGATE = parseAbi([
  'function aggregate3((address target, bool mayFail, bytes data)[] calls) returns ((bool success, bytes data)[])',
]);
const BOUNDED = parseAbi(['constructor(uint256 answerBytes, bytes calls)']);
const SUCCEEDED = 2;
const CANARY_CODE = '0x602a5f5260205ff3';
const multicall3 = numberedAddress(0xca11);
const pool = flatPool(9);
const word = (value: bigint | number): Hex => numberToHex(value, { size: 32 });
const [state] = fc.sample(poolStateOf(pool.immutables), { numRuns: 1, seed: PROPERTY_SEED });
const storage = state ? [encodeSlot0(state), zeroHash, zeroHash, zeroHash, ...state.bins.map(encodeBin)] : [];

const refuse = (): never => {
  throw new RpcFailure('refused', 'too many requests');
};

/** A node that refuses the calls with overrides that are for this. */
function nodeThat(refuses: 'quotes' | 'transfers', sent: string[]): FakeNode {
  return async (_method, [call, _block, overrides]) => {
    const { to, data } = call as { to?: Hex; data: Hex };
    const given = overrides as Readonly<Record<Hex, { code: Hex }>> | undefined;
    const code: CodeOverrides | undefined =
      given && new Map(Object.entries(given).map(([account, { code: own }]) => [account as Hex, own]));
    // What shows that a node applies overrides.
    if (code && data === '0x') return word(42n);
    const kind = to ? 'quotes' : 'transfers';
    if (code) sent.push(kind);
    if (code && kind === refuses) refuse();
    return to ? aggregate(data, code) : bounded(data, code);
  };
}

function aggregate(data: Hex, code: CodeOverrides | undefined): Hex {
  const [calls] = decodeFunctionData({ abi: AGGREGATE, data }).args;
  const results = calls.map(({ target, data: called }) => {
    const own = code?.get(target.toLowerCase() as Hex);
    const isStorage = size(called) > 4;
    if (target.toLowerCase() === multicall3) return word(1n);
    if (own === CANARY_CODE) return word(42n);
    return isStorage
      ? encodeAbiParameters(parseAbiParameters('bytes32[]'), [storage])
      : concatHex([word(1n), word(2n)]);
  });
  return encodeFunctionResult({
    abi: AGGREGATE,
    functionName: 'aggregate3',
    result: results.map((result) => ({ success: true, data: result })),
  });
}

/** Every call succeeds with two words, cut to what is kept. */
function bounded(data: Hex, code: CodeOverrides | undefined): Hex {
  const { args } = decodeDeployData({ abi: BOUNDED, bytecode: BOUNDED_CALLS_CODE, data });
  const [, calls] = args as readonly [bigint, Hex];
  const results: Hex[] = [];
  for (let offset = 0; offset < size(calls); ) {
    const kept = Math.min(Number(sliceHex(calls, offset + 24, offset + 25)), 64);
    const isCanary = code?.get(sliceHex(calls, offset, offset + 20)) === CANARY_CODE;
    const answer = sliceHex(concatHex([word(isCanary ? 42n : 5n), word(6n)]), 0, kept);
    results.push(
      concatHex([
        numberToHex(1, { size: 2 }),
        numberToHex(SUCCEEDED, { size: 1 }),
        numberToHex(kept, { size: 1 }),
        answer,
      ]),
    );
    offset += 27 + Number(sliceHex(calls, offset + 25, offset + 27));
  }
  const shape = parseAbiParameters('uint256, uint256, uint256, bytes');
  return encodeAbiParameters(shape, [1n, 1n, 1n, concatHex(results)]);
}

/** What is sent with overrides when a pool is read at two blocks. */
async function sentWithOverrides(refuses: 'quotes' | 'transfers'): Promise<string[]> {
  const sent: string[] = [];
  const logger = { info: () => undefined, warn: () => undefined };
  const target = { chainId: 1, multicall3, rpc: fakeNodes([nodeThat(refuses, sent)], () => 0) };
  const common = { target, logger };
  const prover = new TransferProver(common);
  const reader = new AnswersReader({ ...common, prover, searcher: { known: () => undefined } });
  for (const number of [1n, 20n])
    await reader.read({ block: { number, hash: word(number), timestamp: number } }, [pool]);
  return sent;
}

test('a refusal of the calls that try transfers stops no quotes', async () => {
  expect(await sentWithOverrides('transfers')).toEqual(['quotes', 'transfers', 'quotes']);
});

test('a refusal of the calls for quotes stops no calls that try transfers', async () => {
  expect(await sentWithOverrides('quotes')).toEqual(['quotes', 'transfers', 'transfers']);
});
