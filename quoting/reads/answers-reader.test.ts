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
import { CLOCK, clockAt } from '../../chain/override-checks.ts';
import type { StateOverrides, TargetBlock } from '../../chain/pending-state.ts';
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

/**
 * A node that refuses calls with overrides.
 *
 * @param isRefused called with what they are for
 */
function nodeThat(isRefused: (kind: string) => boolean, sent: string[]): FakeNode {
  return async (_method, [call, _block, overrides]) => {
    const { to, data } = call as { to?: Hex; data: Hex };
    const given = overrides as Readonly<Record<Hex, { code: Hex }>> | undefined;
    const code: CodeOverrides | undefined =
      given && new Map(Object.entries(given).map(([account, { code: own }]) => [account as Hex, own]));
    // What shows that a node applies overrides.
    if (code && data === '0x') return word(42n);
    const kind = to ? 'quotes' : 'transfers';
    if (code) sent.push(kind);
    if (code && isRefused(kind)) refuse();
    return to ? aggregate(data, code) : bounded(data, code);
  };
}

function aggregate(data: Hex, code: CodeOverrides | undefined, clock = 0n): Hex {
  const [calls] = decodeFunctionData({ abi: AGGREGATE, data }).args;
  const results = calls.map(({ target, data: called }) => {
    const own = code?.get(target.toLowerCase() as Hex);
    const isStorage = size(called) > 4;
    if (target.toLowerCase() === multicall3) return word(1n);
    if (own === CANARY_CODE) return word(42n);
    if (own === CLOCK.code) return word(clock);
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
function bounded(data: Hex, code: CodeOverrides | undefined, clock = 42n): Hex {
  const { args } = decodeDeployData({ abi: BOUNDED, bytecode: BOUNDED_CALLS_CODE, data });
  const [, calls] = args as readonly [bigint, Hex];
  const results: Hex[] = [];
  for (let offset = 0; offset < size(calls); ) {
    const kept = Math.min(Number(sliceHex(calls, offset + 24, offset + 25)), 64);
    const isCheck = [CANARY_CODE, CLOCK.code].some((own) => own === code?.get(sliceHex(calls, offset, offset + 20)));
    const answer = sliceHex(concatHex([word(isCheck ? clock : 5n), word(6n)]), 0, kept);
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

function readerOf(nodes: readonly FakeNode[]) {
  const logger = { info: () => undefined, warn: () => undefined };
  const rpc = fakeNodes(nodes, () => 0);
  const common = { target: { chainId: 1, multicall3, rpc }, logger };
  const prover = new TransferProver(common);
  return { rpc, reader: new AnswersReader({ ...common, prover, searcher: { known: () => undefined } }) };
}

/** Reads a pool at two blocks. @returns whether it had a quote at each, and the nodes */
async function readTwice(nodes: readonly FakeNode[]) {
  const { rpc, reader } = readerOf(nodes);
  const isQuoted: boolean[] = [];
  for (const number of [1n, 20n]) {
    const [answers] = await reader.read({ block: { number, hash: word(number), timestamp: number } }, [pool]);
    isQuoted.push(answers?.quote !== undefined);
  }
  return { isQuoted, endpoints: rpc.endpoints };
}

/** What is sent with overrides when a pool is read at two blocks. */
async function sentWithOverrides(refuses: 'quotes' | 'transfers'): Promise<string[]> {
  const sent: string[] = [];
  await readTwice([nodeThat((kind) => kind === refuses, sent)]);
  return sent;
}

test('a refusal of the calls that try transfers stops no quotes', async () => {
  expect(await sentWithOverrides('transfers')).toEqual(['quotes', 'transfers', 'transfers', 'quotes']);
});

test('a refusal of the calls for quotes stops no calls that try transfers', async () => {
  expect(await sentWithOverrides('quotes')).toEqual(['quotes', 'quotes', 'transfers', 'transfers']);
});

test('a node that gets the block only after it was asked is asked again, and lacks nothing', async () => {
  const sent: string[] = [];
  const { isQuoted } = await readTwice([nodeThat(() => sent.length === 1, sent)]);
  expect(isQuoted).toEqual([true, true]);
  expect(sent).toEqual(['quotes', 'quotes', 'transfers', 'quotes', 'transfers']);
});

test('a node that gets the block only after it was asked for prices is asked for them again', async () => {
  const able = nodeThat(() => false, []);
  let asked = 0;
  const { reader } = readerOf([
    async (...request) => {
      asked += 1;
      // Storage and prices are asked for at once.
      return asked <= 2 ? refuse() : able(...request);
    },
  ]);
  const [answers] = await reader.read({ block: { number: 1n, hash: word(1), timestamp: 1n } }, [pool]);
  expect([answers?.storage?.success, answers?.quote?.success, answers?.prices?.[0]?.success]).toEqual([
    true,
    true,
    true,
  ]);
});

test('of nodes that refuse quotes, only one that answers without them lacks them', async () => {
  const sent: string[] = [];
  const { isQuoted, endpoints } = await readTwice([async () => refuse(), nodeThat((kind) => kind === 'quotes', sent)]);
  expect(isQuoted).toEqual([false, false]);
  expect(endpoints.map((endpoint) => endpoint.isLacking({ ability: 'quotes' }))).toEqual([false, true]);
  expect(sent).toEqual(['quotes', 'quotes', 'transfers', 'transfers']);
});

test('quotes come from the node that does not refuse them', async () => {
  const refused: string[] = [];
  const answered: string[] = [];
  const { isQuoted } = await readTwice([
    nodeThat((kind) => kind === 'quotes', refused),
    nodeThat(() => false, answered),
  ]);
  expect(isQuoted).toEqual([true, true]);
  expect(refused).toEqual(['quotes', 'quotes', 'transfers', 'transfers']);
  expect(answered).toEqual(['quotes', 'quotes']);
});

/** A node that applies all overrides. @param storageReads takes the words of state overrides at each read of storage */
function ableNode(target: TargetBlock, storageReads: number[]): FakeNode {
  return async (_method, [call, _block, overrides]) => {
    const { to, data } = call as { to?: Hex; data: Hex };
    const given = Object.entries(overrides as Readonly<Record<Hex, { code?: Hex; stateDiff?: object }>>);
    const code: CodeOverrides = new Map(
      given.flatMap(([account, { code: own }]) => (own ? [[account as Hex, own]] : [])),
    );
    if (!to) return bounded(data, code, clockAt(target));
    const [calls] = decodeFunctionData({ abi: AGGREGATE, data }).args;
    const words = given.flatMap(([, { stateDiff = {} }]) => Object.keys(stateDiff));
    for (const { target: called, data: sent } of calls)
      if (called.toLowerCase() === pool.address && size(sent) > 4) storageReads.push(words.length);
    return aggregate(data, code, clockAt(target));
  };
}

test('the storage of a pool is read once for all frames of a block that is being built, without their overrides', async () => {
  const target = { blockNumber: 3n, timestamp: 36n };
  const storageReads: number[] = [];
  const { reader } = readerOf([ableNode(target, storageReads)]);
  const readAt = async (hash: Hex, frame: number) => {
    const overrides: StateOverrides = new Map([[numberedAddress(0xfeed), new Map([[word(0), word(frame)]])]]);
    const pending = { ...target, overrides, digest: `${frame}`, receivedAt: 0 };
    const [answers] = await reader.read({ block: { number: 2n, hash, timestamp: 24n, pending } }, [pool]);
    return answers;
  };
  const frames = [await readAt(word(2), 1), await readAt(word(2), 2), await readAt(word(2), 3)];
  expect(storageReads).toEqual([0]);
  for (const { storage, quote, committedQuote } of frames.map((frame) => frame ?? {})) {
    expect(storage).toEqual(frames[0]?.storage);
    expect([storage, quote, committedQuote].map((answer) => answer?.success)).toEqual([true, true, true]);
  }
  // After a reorganisation it may be another.
  await readAt(word(22), 3);
  expect(storageReads).toEqual([0, 0]);
});
