import { OwnSource, type OwnSourceDeps, type OwnSourceOptions } from '../../quoting/live/own-source.ts';
import { pause } from '../../runtime/pause.ts';
import { wordsOf } from './virtual-source.ts';

const TRACE_MS = 25;

/** The transaction of an update that sets the price of a pool. */
export const txOf = (pool: number, price: bigint): `0x${string}` =>
  `0x${pool.toString(16).padStart(2, '0')}${price.toString(16).padStart(16, '0')}`;

/** Opens the source of published updates. Their transactions are not signed, which takes longer than all else. */
export const openOwnUpdates = (
  options: Pick<OwnSourceOptions, 'blockTimeMs' | 'heads' | 'listen' | 'onFrame'>,
): OwnSource =>
  new OwnSource({
    ...options,
    find,
    canTrace: () => true,
    count: () => undefined,
    now: () => performance.now(),
    wallClock: () => Date.now(),
  });

const find: OwnSourceDeps['find'] = async ({ update: { tx } }, signal) => {
  await pause(TRACE_MS, signal);
  return wordsOf(Number(tx.slice(0, 4)), BigInt(`0x${tx.slice(4)}`));
};
