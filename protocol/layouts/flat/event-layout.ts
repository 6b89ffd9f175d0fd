import { decodeFunctionResult, encodeFunctionData } from 'viem';
import type { EventLayout } from '../../layout.ts';
import { flatEvents, normalisePoolCreated } from './events.ts';
import {
  depositAllowlistEvents,
  priceVelocityGuardEvents,
  stopLossEvents,
  swapAllowlistEvents,
} from './extension-abi.ts';
import { flatPoolEvents, flatPoolFunctions } from './pool-abi.ts';

/** What the indexer takes of pools of the flat layout. */
export const flatEventLayout = {
  abi: {
    pool: flatPoolEvents,
    stopLoss: stopLossEvents,
    priceVelocityGuard: priceVelocityGuardEvents,
    depositAllowlist: depositAllowlistEvents,
    swapAllowlist: swapAllowlistEvents,
  },
  poolCreated: normalisePoolCreated,
  poolEvents: flatEvents,
  scaleCall: encodeFunctionData({ abi: flatPoolFunctions, functionName: 'getImmutables' }),
  decodeScale(answer) {
    const immutables = decodeFunctionResult({ abi: flatPoolFunctions, functionName: 'getImmutables', data: answer });
    return { multiplier0: immutables.token0ScaleMultiplier, multiplier1: immutables.token1ScaleMultiplier };
  },
} as const satisfies EventLayout;
