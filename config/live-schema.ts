import { z } from 'zod';
import { Name, PositiveInt, RpcUrlOrEnv, WsUrlOrEnv } from './scalars.ts';

/** Whether takers get the state overrides of a source. Default: they do not. */
const republish = z.boolean().optional();

/** What takers know it as. Default: its kind. */
const name = Name.optional();

/** A service that publishes pending state over the network. It needs a URL of either kind. */
const remoteSource = <const K extends string>(kind: K) =>
  z
    .strictObject({
      kind: z.literal(kind),
      wsUrls: z.array(WsUrlOrEnv).default([]),
      rpcUrls: z.array(RpcUrlOrEnv).default([]),
      apiKeyEnv: Name.optional(),
      name,
      republish,
    })
    .refine(({ wsUrls, rpcUrls }) => wsUrls.length + rpcUrls.length > 0, 'needs a URL in wsUrls or rpcUrls');

/** The quote updates that pass through this service, of keys that publish them. */
const OwnSourceConfig = z.strictObject({ kind: z.literal('own'), name, republish });

/**
 * Nodes that follow the parts of a block as its sequencer shows them:
 * their tag `pending` is the state after the newest part.
 */
const PartSourceConfig = z.strictObject({
  kind: z.literal('preconfirmed'),
  rpcUrls: z.array(RpcUrlOrEnv).min(1),
  wsUrls: z.array(WsUrlOrEnv).default([]),
  /** A part that was not seen for so long is not used. */
  maxAgeMs: PositiveInt.default(600),
});

/** One source of pending state, told apart by `kind`: each names the form of its messages. */
const LiveSourceConfig = z.discriminatedUnion('kind', [
  remoteSource('builder-overrides'),
  remoteSource('relayer'),
  OwnSourceConfig,
  PartSourceConfig,
]);

/** Where prices come from that live with block builders before they land. */
export const LiveConfig = z
  .strictObject({
    maxAgeMs: PositiveInt.optional(),
    sources: z
      .array(LiveSourceConfig)
      .min(1)
      .refine((sources) => sources.length === 1 || sources.every(({ kind }) => kind !== 'preconfirmed'), {
        error: 'a source of kind preconfirmed must be the only one: its state cannot be merged with overrides',
      }),
  })
  .describe(
    "Sources of [live prices](configure.md#live-prices). `sources`: each has `kind` (`builder-overrides`, a builder's stream; `relayer`, BAP-710; `own`, quote updates that [makers publish](../use/pamm.md#published-updates); `preconfirmed`, nodes that [follow parts](configure.md#parts-of-blocks), alone, with `rpcUrls`, perhaps `wsUrls`, and `maxAgeMs`, 600 by default); all but the last two have `wsUrls` or `rpcUrls` or both (`env:NAME` as above), and may have `apiKeyEnv`; `name` is what `basis.sources` of quotes call it, by default its kind; `republish: true` passes their state overrides on. `maxAgeMs`: older state is not used; unset: two thirds of a block time, 1 s to 8 s. Without `live` quotes know committed blocks alone.",
  );

const MIN_AGE_MS = 1_000;
const MAX_AGE_MS = 8_000;

/** How long pending state is used after a source last sent it, in milliseconds. */
export const liveMaxAgeMs = ({ maxAgeMs, sources = [] }: Partial<LiveConfig>, blockTimeMs: number): number =>
  partSource({ sources })?.maxAgeMs ??
  maxAgeMs ??
  Math.min(MAX_AGE_MS, Math.max(MIN_AGE_MS, Math.round((blockTimeMs * 2) / 3)));

/** The nodes that follow the parts of blocks, on a chain with such a source. */
export const partSource = (live: Pick<LiveConfig, 'sources'> | undefined): PartSourceConfig | undefined =>
  live?.sources.find((source) => source.kind === 'preconfirmed');

/** Whether quote updates that makers publish are a source. */
export const hasOwnSource = ({ live }: { readonly live?: LiveConfig | undefined }): boolean =>
  live?.sources.some(({ kind }) => kind === 'own') ?? false;

export type LiveSourceConfig = z.infer<typeof LiveSourceConfig>;
export type PartSourceConfig = Extract<LiveSourceConfig, { kind: 'preconfirmed' }>;
export type RemoteSourceConfig = Exclude<LiveSourceConfig, { kind: 'own' | 'preconfirmed' }>;
export type LiveConfig = z.infer<typeof LiveConfig>;
