import type { BuilderEntry } from '../chains-config.ts';
import { startMockBuilder } from '../mock-builders/mock-builder.ts';
import type { Part } from './supervisor.ts';

export interface BuildersPart extends Part {
  /** Entries of the chains file, by the kind of chain that they serve. */
  readonly byKind: Readonly<Record<'ethereum' | 'bsc', readonly BuilderEntry[]>>;
}

/** Mock builders in this process: two that take quote streams for one chain, one that takes bundles for the other. */
export async function startBuilders(): Promise<BuildersPart> {
  const [first, second, third] = await Promise.all([startMockBuilder(), startMockBuilder(), startMockBuilder()]);
  const all = [first, second, third];
  return {
    byKind: {
      ethereum: [
        { id: 'mock-stream-a', transport: 'quote-stream', url: first.streamUrl },
        { id: 'mock-stream-b', transport: 'quote-stream', url: second.streamUrl },
      ],
      bsc: [{ id: 'mock-bundle', transport: 'bundle', url: third.bundleUrl }],
    },
    note: all.map(({ port }) => `http://127.0.0.1:${port}`).join(' '),
    stop: async () => {
      await Promise.all(all.map((builder) => builder.stop()));
    },
  };
}
