import { type Address, type Hex, toFunctionSelector } from 'viem';
import { addressWord, wordAt } from '../abi-words.ts';
import type { GuardRole, GuardSettingsReader } from '../layout.ts';
import { stopLossConfigCall } from './stop-loss-reader.ts';

const VELOCITY = toFunctionSelector('priceVelocityState(address)');

/**
 * Makes the readers of settings at guards. All layouts' stop losses answer with the same words.
 *
 * @param velocityWord the word of a velocity guard's state that has the most change per block
 */
export const guardSettingsReaders = (velocityWord: number): Readonly<Record<GuardRole, GuardSettingsReader>> => ({
  stopLoss: { call: stopLossConfigCall, decode: wordsAt([0, 1, 2]) },
  priceVelocityGuard: {
    call: (pool: Address): Hex => `${VELOCITY}${addressWord(pool)}`,
    decode: wordsAt([velocityWord]),
  },
});

const wordsAt = (words: readonly number[]) => (answer: Hex) => words.map((word) => wordAt(answer, word));
