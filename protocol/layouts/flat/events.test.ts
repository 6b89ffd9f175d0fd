import {
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  type Hex,
  parseAbiParameters,
  toEventSelector,
} from 'viem';
import { describe, expect, it } from 'vitest';
import { decodeFlatPoolLog } from '../../../test/protocol/flat-log.ts';
import { factoryEvents } from '../../abi/factory.ts';
import { normalisePoolCreated } from '../common-events.ts';
import { flatEvents } from './events.ts';
import { flatPoolEvents } from './pool-abi.ts';

const a = '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const b = '0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';
const A = getAddress(a);
const B = getAddress(b);

/** A log as a node gives it: topics from viem, data from the given parameters. */
function log(topics: ReturnType<typeof encodeEventTopics>, types: string, values: readonly unknown[]) {
  const flat = topics.filter((topic) => typeof topic === 'string');
  return { topics: flat, data: encodeAbiParameters(parseAbiParameters(types), values) };
}

const topicsOf = (eventName: string, args?: Record<string, unknown>) =>
  encodeEventTopics({ abi: flatPoolEvents, eventName, ...(args && { args }) } as Parameters<
    typeof encodeEventTopics
  >[0]);

describe('topics', () => {
  it('are those of the deployed contracts', () => {
    const selectorOf = (name: string, abi: readonly (typeof flatPoolEvents | typeof factoryEvents)[number][]) =>
      abi.filter((event) => event.name === name).map((event) => toEventSelector(event))[0];
    expect(selectorOf('Swap', flatPoolEvents)).toBe(
      '0x87d25816ca01843f551b4caa5eea03b5173c84c383573c63081fb7575378276e',
    );
    expect(selectorOf('PoolCreated', factoryEvents)).toBe(
      '0x4b36a0ddce54edb36597ee7d496df06c53fe875aba9d7257534a38d5177899aa',
    );
  });
});

describe('decodeFlatPoolLog', () => {
  it('reads a swap', () => {
    const swap = log(topicsOf('Swap', { sender: A, recipient: B }), 'bool, int256, int256, int8, uint104, uint256', [
      true,
      10n,
      -9n,
      -3,
      7n,
      2n,
    ]);
    expect(decodeFlatPoolLog(swap)).toEqual({
      kind: 'swapped',
      sender: a,
      recipient: b,
      exactInput: true,
      amount0Delta: 10n,
      amount1Delta: -9n,
      curBin: -3,
      posInBin: 7n,
      protocolFeeScaled: 2n,
    });
  });

  it("reads a bin's part of a swap", () => {
    const binSwapped = log(topicsOf('BinSwapped'), 'int256, (int256, int256), uint256', [-1n, [5n, -4n], 3n]);
    expect(decodeFlatPoolLog(binSwapped)).toEqual({
      kind: 'binSwapped',
      bin: -1,
      delta0Scaled: 5n,
      delta1Scaled: -4n,
      lpFeeScaled: 3n,
    });
  });

  const liquidity = 'int256[], (int256, int256)[], uint256[]';

  it.each([
    ['LiquidityAdded', [1n, 0n], { delta0Scaled: 1n, delta1Scaled: 0n, sharesDelta: 6n }],
    ['LiquidityRemoved', [1n, 2n], { delta0Scaled: -1n, delta1Scaled: -2n, sharesDelta: -6n }],
    ['LiquidityRemoved', [-1n, -2n], { delta0Scaled: -1n, delta1Scaled: -2n, sharesDelta: -6n }],
  ] as const)('reads %s with the sign of its direction, whatever the sign in the event', (eventName, delta, change) => {
    const event = log(topicsOf(eventName, { provider: A, salt: 9n }), liquidity, [[-2n], [delta], [6n]]);
    expect(decodeFlatPoolLog(event)).toEqual({
      kind: 'liquidityChanged',
      direction: eventName === 'LiquidityAdded' ? 'added' : 'removed',
      provider: a,
      salt: 9n,
      changes: [{ bin: -2, ...change }],
    });
  });

  it('refuses a liquidity event whose lists differ in length', () => {
    const event = log(topicsOf('LiquidityAdded', { provider: A, salt: 9n }), liquidity, [[-2n, -1n], [[1n, 1n]], [6n]]);
    expect(() => decodeFlatPoolLog(event)).toThrow(RangeError);
  });

  it.each([
    ['SpreadFeeUpdated', undefined, 'uint24', [7], { kind: 'spreadFeeUpdated', spreadFeeE6: 7 }],
    ['NotionalFeeUpdated', undefined, 'uint24', [8], { kind: 'notionalFeeUpdated', notionalFeeE8: 8 }],
    [
      'PauseLevelUpdated',
      undefined,
      'uint8, uint8',
      [0, 2],
      { kind: 'pauseLevelUpdated', previousLevel: 0, newLevel: 2 },
    ],
    ['PriceProviderUpdated', { newPriceProvider: B }, '', [], { kind: 'priceProviderUpdated', priceProvider: b }],
    [
      'BinAdditionalFeesUpdated',
      { bin: -4 },
      'uint16, uint16',
      [1, 2],
      { kind: 'binFeesUpdated', bin: -4, addFeeBuyE6: 1, addFeeSellE6: 2 },
    ],
    [
      'ProtocolFeesCollected',
      undefined,
      'uint256, uint256, uint256, uint256',
      [1n, 2n, 3n, 4n],
      { kind: 'feesCollected', amount0ToProtocol: 1n, amount1ToProtocol: 2n, amount0ToAdmin: 3n, amount1ToAdmin: 4n },
    ],
  ] as const)('reads %s', (eventName, indexed, types, values, expected) => {
    const data =
      types === '' ? '0x' : encodeAbiParameters(parseAbiParameters(types as string), values as readonly unknown[]);
    const topics = topicsOf(eventName, indexed).filter((topic) => typeof topic === 'string');
    expect(decodeFlatPoolLog({ topics, data })).toEqual(expected);
  });

  it('knows no other event', () => {
    const packedSwap: Hex = '0x9734819749a91fc3be03ea83205f924ee08479bd3f0da48efc91d94d050cac1e';
    expect(decodeFlatPoolLog({ topics: [packedSwap], data: '0x' })).toBeNull();
    expect(decodeFlatPoolLog({ topics: [], data: '0x' })).toBeNull();
  });

  it('names its events as the ABI does', () => {
    expect(Object.keys(flatEvents).sort()).toEqual(flatPoolEvents.map(({ name }) => name).sort());
  });
});

describe('normalisePoolCreated', () => {
  it('frees the event of its packing', () => {
    const creation = normalisePoolCreated({
      poolAddress: A,
      token0: A,
      token1: B,
      poolIdx: 1n,
      factory: B,
      admin: A,
      priceProvider: B,
      extensions: [A, B],
      extensionOrders: {
        beforeAddLiquidity: 0n,
        afterAddLiquidity: 0n,
        beforeRemoveLiquidity: 0n,
        afterRemoveLiquidity: 0n,
        beforeSwap: 2n,
        afterSwap: 1n,
      },
      priceProviderTimelock: 2n ** 256n - 1n,
      initialAmount0PerShareE18: 3n,
      initialAmount1PerShareE18: 4n,
      minimalMintableLiquidity: 5n,
      spreadProtocolFeeE6: 6,
      protocolNotionalFeeE8: 7,
      adminSpreadFeeE6: 8,
      adminNotionalFeeE8: 9,
      adminFeeDestination: B,
      curBinDistFromProvidedPriceE6: -10,
      nonNegativeBinDataArray: [100n],
      negativeBinDataArray: [200n],
    });
    expect(creation).toMatchObject({
      pool: a,
      token0: a,
      token1: b,
      factory: b,
      admin: a,
      priceProvider: b,
      extensions: [
        { address: a, phases: ['afterSwap'] },
        { address: b, phases: ['beforeSwap'] },
      ],
      protocolSpreadFeeE6: 6,
      adminFeeDestination: b,
      curBinDistE6: -10,
      bins: [
        { bin: -1, lengthE6: 200, addFeeBuyE6: 0, addFeeSellE6: 0 },
        { bin: 0, lengthE6: 100, addFeeBuyE6: 0, addFeeSellE6: 0 },
      ],
    });
  });
});
