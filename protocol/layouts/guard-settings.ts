import { type Address, type Hex, toFunctionSelector } from 'viem';
import { addressWord, wordAt } from '../abi-words.ts';
import type { GuardRole, GuardSettingsReader } from '../layout.ts';

const STOP_LOSS = toFunctionSelector('oracleStopLossConfig(address)');
const VELOCITY = toFunctionSelector('priceVelocityState(address)');

/**
 * Makes the readers of settings at guards. Stop losses of all layouts give theirs in the same words.
 *
 * @param velocityWord the word of a velocity guard's state that has the most change per block
 */
export const guardSettingsReaders = (velocityWord: number): Readonly<Record<GuardRole, GuardSettingsReader>> => ({
  stopLoss: reader(STOP_LOSS, [0, 1, 2]),
  priceVelocityGuard: reader(VELOCITY, [velocityWord]),
});

const reader = (selector: Hex, words: readonly number[]): GuardSettingsReader => ({
  call: (pool: Address) => `${selector}${addressWord(pool)}`,
  decode: (answer) => words.map((word) => wordAt(answer, word)),
});
