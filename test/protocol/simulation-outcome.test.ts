import { encodeErrorResult, type Hex, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { poolErrors, priceVelocityGuardAbi, stopLossAbi } from '../../devnet/protocol-abi.ts';
import { decodeSimulation } from './simulation-outcome.ts';

const oracleError = encodeErrorResult({
  abi: parseAbi(['error NotRegistered(address provider)']),
  args: ['0x1111111111111111111111111111111111111111'],
});
const poolError = (errorName: 'PoolPaused' | 'NotAllowedToSwap' | 'InvalidAmount') =>
  encodeErrorResult({ abi: poolErrors, errorName });
const PANIC = `0x4e487b71${'11'.padStart(64, '0')}` as const;

describe('decodeSimulation', () => {
  it.each([
    [1n, -2n],
    [-(2n ** 127n), 2n ** 127n - 1n],
    [0n, 0n],
  ])('reads the deltas %d and %d', (amount0Delta, amount1Delta) => {
    const data = encodeErrorResult({ abi: poolErrors, errorName: 'SimulateSwap', args: [amount0Delta, amount1Delta] });
    expect(decodeSimulation(data)).toEqual({ kind: 'simulated', amount0Delta, amount1Delta });
  });

  const stopLoss = encodeErrorResult({
    abi: stopLossAbi,
    errorName: 'OracleStopLossTriggered',
    args: [-1, true, 1n, 2n],
  });
  const velocity = encodeErrorResult({
    abi: priceVelocityGuardAbi,
    errorName: 'PriceVelocityExceeded',
    args: [2n, 1n],
  });

  it.each([
    ['stop loss', stopLoss, { kind: 'refused', by: 'stopLoss' }],
    ['velocity guard', velocity, { kind: 'refused', by: 'priceVelocity' }],
    ['swap allowlist', poolError('NotAllowedToSwap'), { kind: 'refused', by: 'swapAllowlist' }],
    ['custom extension', oracleError, { kind: 'refused', by: 'other' }],
    ['amount that the pool cannot count', poolError('InvalidAmount'), { kind: 'invalidAmount' }],
    ['silence', '0x', { kind: 'unexplained' }],
    ['panic', PANIC, { kind: 'unexplained' }],
    ['pool error that no simulation gives', poolError('PoolPaused'), { kind: 'unexplained' }],
    ['truncated result', '0xdeadbeef', { kind: 'refused', by: 'other' }],
  ] as const)('explains a %s', (_, revertData, outcome) => {
    expect(decodeSimulation(revertData)).toEqual(outcome);
  });

  it('takes a result cut short for a fault', () => {
    const data = encodeErrorResult({ abi: poolErrors, errorName: 'SimulateSwap', args: [1n, 1n] });
    expect(decodeSimulation(data.slice(0, -2) as Hex)).toEqual({ kind: 'unexplained' });
  });
});
