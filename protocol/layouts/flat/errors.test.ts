import { encodeErrorResult, type Hex, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { poolErrors, priceVelocityGuardAbi } from '../../../devnet/protocol-abi.ts';
import { swapOutcome } from './errors.ts';
import { stopLossAbi } from './extension-abi.ts';

const foreign = parseAbi(['error NotRegistered(address provider)']);
const oracleError = encodeErrorResult({
  abi: foreign,
  errorName: 'NotRegistered',
  args: ['0x1111111111111111111111111111111111111111'],
});
const notAllowed = encodeErrorResult({ abi: poolErrors, errorName: 'NotAllowedToSwap' });
const PANIC = `0x4e487b71${'11'.padStart(64, '0')}` as const;

describe('swapOutcome', () => {
  const simulated = encodeErrorResult({ abi: poolErrors, errorName: 'SimulateSwap', args: [1n, -2n] });
  const velocity = encodeErrorResult({
    abi: priceVelocityGuardAbi,
    errorName: 'PriceVelocityExceeded',
    args: [2n, 1n],
  });
  const stopLoss = encodeErrorResult({
    abi: stopLossAbi,
    errorName: 'OracleStopLossTriggered',
    args: [-1, true, 1n, 2n],
  });

  it.each([
    ['a swap', simulated, 'fills'],
    ['a velocity guard', velocity, 'velocity'],
    ['a stop loss', stopLoss, 'refused'],
    ['a swap allowlist', notAllowed, 'refused'],
    ['a custom extension', oracleError, 'refused'],
    ['a panic', PANIC, 'refused'],
  ] as const)('reads %s off the selector', (_, revertData, outcome) => {
    expect(swapOutcome({ success: false, data: revertData.slice(0, 10) as Hex })).toBe(outcome);
  });

  it('takes no answer for silence', () => {
    expect(swapOutcome({ success: false, data: '0x' })).toBe('silence');
    expect(swapOutcome({ success: true, data: simulated })).toBe('silence');
  });
});
