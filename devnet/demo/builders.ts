import type { Part } from '../../local/processes/supervisor.ts';
import type { BuilderEntry } from '../chains-config.ts';
import { startMockBuilder, urlFor } from '../mock-builders/mock-builder.ts';

export interface BuildersPart extends Part {
  /** Base address of one that takes the updates of Ethereum. */
  readonly firstUrl: string;
  /** Entries of the chains file, by the kind of chain that they serve. */
  readonly byKind: Readonly<Record<'ethereum' | 'bsc', readonly BuilderEntry[]>>;
}

/** As on the real chains: five builders take quote streams of one chain, one of each transport serves the other. */
const BUILDERS = [
  ...['a', 'b', 'c', 'd', 'e'].map(
    (name) => ({ kind: 'ethereum', id: `mock-${name}`, transport: 'quote-stream' }) as const,
  ),
  { kind: 'bsc', id: 'mock-stream', transport: 'quote-stream' },
  { kind: 'bsc', id: 'mock-bundle', transport: 'bundle' },
  { kind: 'bsc', id: 'mock-relayer', transport: 'relayer' },
] as const;

/** Mock builders in this process. */
export async function startBuilders(): Promise<BuildersPart> {
  const running = await Promise.all(BUILDERS.map(async (entry) => ({ ...entry, builder: await startMockBuilder() })));
  const ofKind = (kindOf: 'ethereum' | 'bsc') =>
    running
      .filter(({ kind }) => kind === kindOf)
      .map(({ id, transport, builder }) => ({
        id,
        transport,
        url: urlFor(builder, transport),
      }));
  return {
    firstUrl: running[0] ? `http://127.0.0.1:${running[0].builder.port}` : '',
    byKind: { ethereum: ofKind('ethereum'), bsc: ofKind('bsc') },
    note: running.map(({ builder }) => `:${builder.port}`).join(' '),
    stop: async () => {
      await Promise.all(running.map(({ builder }) => builder.stop()));
    },
  };
}
