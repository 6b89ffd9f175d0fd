import type { Address, Hex } from 'viem';
import { onTestFinished } from 'vitest';
import type { RemoteSourceConfig } from '../../config/live-schema.ts';
import type { Frame } from './frame.ts';
import { builderText } from './frames.fixture.ts';
import { type LiveServer, recordingLogger } from './live-server.fixture.ts';
import { LiveSource, type LiveSourceOptions } from './live-source.ts';

/** Opens a source until the test ends, with the block numbers of its frames and the faults that it counted. */
export function sourceOf(config: Partial<RemoteSourceConfig>, options: Partial<LiveSourceOptions> = {}) {
  const frames: Frame[] = [];
  const faults: string[] = [];
  const { logger, lines } = recordingLogger();
  const source = new LiveSource({
    chainId: 1,
    config: { kind: 'builder-overrides', wsUrls: [], rpcUrls: [], ...config },
    onFrame: (frame) => frames.push(frame) > 0,
    count: (fault) => faults.push(fault),
    logger,
    now: () => performance.now(),
    ...options,
  });
  onTestFinished(() => source.close());
  const numbers = () => frames.map(({ blockNumber }) => Number(blockNumber));
  return { source, frames, numbers, faults, lines };
}

/** One venue with one word. */
export const venues: Frame['venues'] = new Map([
  [
    `0x${'e7'.repeat(20)}` as Address,
    new Map([
      [`0x${'28'.repeat(20)}` as Address, new Map([[`0x${'1'.repeat(64)}` as Hex, `0x${'2'.repeat(64)}` as Hex]])],
    ]),
  ],
]);
/** A builder's frame of a block. */
export const builder = (number: number) => builderText(BigInt(number), venues);
/** Answers requests with this result. */
export const answerWith = (result: string) => (response: Parameters<LiveServer['answer']>[0]) =>
  response.end(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
/** More accounts than a frame may have, in less than 1 MiB. */
export const manyAccounts = `{"blockNumber":5,"0x${'e7'.repeat(20)}":{"stateOverride":{${Array.from(
  { length: 10_000 },
  (_, n) => `"0x${String(n).padStart(40, '0')}":{"stateDiff":{"0x1":"0x1"}}`,
).join()}}}}`;
