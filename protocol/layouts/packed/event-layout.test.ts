import { encodeAbiParameters, encodeEventTopics, encodeFunctionResult, getAddress, parseEventLogs } from 'viem';
import { describe, expect, it } from 'vitest';
import type { PoolEvent } from '../../pool-events.ts';
import { decodeScale, immutablesAbi } from '../immutables.ts';
import { packedPoolEvents } from './abi.ts';
import { packedEventLayout } from './event-layout.ts';

const a = '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const b = '0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';

/** What the layout makes of a log. */
function normalised(eventName: string, args: Record<string, unknown>): PoolEvent {
  const event = packedPoolEvents.find(({ name }) => name === eventName);
  if (event === undefined) throw new Error(eventName);
  const inData = event.inputs.filter((input) => !('indexed' in input && input.indexed));
  const data = encodeAbiParameters(
    inData,
    inData.map(({ name }) => args[name ?? '']),
  );
  const topics = encodeEventTopics({ abi: [event], eventName, args } as Parameters<typeof encodeEventTopics>[0]);
  const [log] = parseEventLogs({ abi: packedPoolEvents, logs: [{ topics, data }] as never });
  const normalise = packedEventLayout.poolEvents[log?.eventName ?? 'Swap'] as (args: unknown) => PoolEvent;
  return normalise(log?.args);
}

describe('events of the packed layout', () => {
  it('have a normaliser each', () => {
    const names = packedPoolEvents.map(({ name }) => name);
    expect(Object.keys(packedEventLayout.poolEvents).sort()).toEqual(names.sort());
  });

  it('report a swap by its raw amounts and its words', () => {
    const amountDeltas = (7n << 128n) | BigInt.asUintN(128, -5n);
    const words = { details: 12_345n, amountDeltas, platformFees: (3n << 128n) | 4n };
    expect(normalised('Swap', { sender: getAddress(a), recipient: getAddress(b), ...words })).toEqual({
      kind: 'packedSwapped',
      sender: a,
      recipient: b,
      amount0Delta: 7n,
      amount1Delta: -5n,
      details: 12_345n,
      platformFees: { high: 3n, low: 4n },
    });
  });

  it("report a bin's part of a swap", () => {
    const binDeltas = (BigInt.asUintN(128, -9n) << 128n) | 8n;
    expect(normalised('BinSwapped', { binIdx: -300n, binDeltas, fees: (1n << 128n) | 2n })).toEqual({
      kind: 'packedBinSwapped',
      bin: -300,
      delta0: -9n,
      delta1: 8n,
      fees: { high: 1n, low: 2n },
    });
  });

  it('report liquidity as those of every layout', () => {
    const lists = { binIdxs: [-129n], binBalanceDeltas: [{ delta0Scaled: 1n, delta1Scaled: 2n }], shares: [3n] };
    expect(normalised('LiquidityRemoved', { provider: getAddress(a), salt: 9n, ...lists })).toEqual({
      kind: 'liquidityChanged',
      direction: 'removed',
      provider: a,
      salt: 9n,
      changes: [{ bin: -129, delta0Scaled: -1n, delta1Scaled: -2n, sharesDelta: -3n }],
    });
  });

  it.each([
    ['BinAdditionalFeesUpdated', { bin: -300, addFeeBuyE6: 1, addFeeSellE6: 2 }, 'binFeesUpdated'],
    ['BidAskRefAsymmetryUpdated', { bidAskRefAsymmetryX8: 513 }, 'asymmetryUpdated'],
    ['SpreadFeeUpdated', { spreadFeeE6: 7 }, 'spreadFeeUpdated'],
  ] as const)('report settings: %s', (name, args, kind) => {
    expect(normalised(name, args)).toMatchObject({ kind });
  });
});

it('reads the scale of a pool off its immutables', () => {
  const [output] = immutablesAbi[0].outputs;
  const numbers = output.components.map(({ name, type }) => [name, type === 'address' ? a : 0n]);
  const result = { ...Object.fromEntries(numbers), token0ScaleMultiplier: 10n ** 12n, token1ScaleMultiplier: 1n };
  const answer = encodeFunctionResult({ abi: immutablesAbi, functionName: 'getImmutables', result });
  expect(decodeScale(answer)).toEqual({ multiplier0: 10n ** 12n, multiplier1: 1n });
});
