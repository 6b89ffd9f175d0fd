import { z } from 'zod';
import { LimitsConfig } from './limits-schema.ts';
import { QuotesConfig } from './quotes-schema.ts';
import { ReadBudgetConfig, WarmBudgetConfig } from './read-budget-schema.ts';
import { RoutingConfig } from './routing-schema.ts';
import { EnvReference, HexAddress, HexBytes32, RpcUrl, WsUrl } from './scalars.ts';
import { StreamConfig } from './stream-schema.ts';

/** Names of the event layouts that this build can decode: a deployment of another layout must be disabled. */
export const SUPPORTED_LAYOUTS = ['flat', 'packed'] as const;

/** Where Multicall3 is on nearly every chain. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';

const optionalAddress = HexAddress.optional();

/** Readings of what is not publicly known of packed pools: those that are named here are not asked of the chain. */
export const PackedReadings = z.strictObject({
  details: z.enum(['flagsFirst', 'positionFirst']).optional(),
  fees: z.enum(['token', 'kind']).optional(),
  platformFees: z.enum(['token', 'kind']).optional(),
  deltaScale: z.enum(['scaled', 'raw']).optional(),
  /** Token of the notional fee: the one that comes in, or the one whose amount a trader does not name. */
  notional: z.enum(['input', 'unspecified']).optional(),
});

/** One factory and the contracts that came with it. Only the first four fields are required. */
export const DeploymentConfig = z
  .strictObject({
    contractVersion: z.string().min(1),
    enabled: z.boolean().default(true),
    layout: z.string().min(1),
    fromBlock: z.number().int().nonnegative(),
    poolFactory: HexAddress,
    poolDeployer: optionalAddress,
    liquidityAdder: optionalAddress,
    dataProvider: optionalAddress,
    quoter: optionalAddress,
    depositAllowlist: optionalAddress,
    stopLoss: optionalAddress,
    /** The price at which this stop loss values bins: a fact about the deployed contract. Default: by the layout. */
    stopLossMark: z.enum(['mid', 'mean', 'bidAsk']).optional(),
    priceVelocityGuard: optionalAddress,
    swapAllowlist: optionalAddress,
    packed: PackedReadings.optional(),
    anchoredProviderFactories: z.array(HexAddress).default([]),
    providerFactories: z.array(z.strictObject({ address: HexAddress, l2: z.boolean().default(false) })).default([]),
  })
  .refine((d) => !d.enabled || (SUPPORTED_LAYOUTS as readonly string[]).includes(d.layout), {
    error: `this build supports the layouts ${SUPPORTED_LAYOUTS.join(', ')} only: set "enabled": false`,
    path: ['layout'],
  });

export const BuilderConfig = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'a builder id has lowercase letters, digits, "-" and "_" only'),
  transport: z.enum(['quote-stream', 'bundle']),
  url: z.url({ protocol: /^(wss?|https?)$/ }),
  /** Name of the environment variable that holds the key; a builder whose variable is unset is off. */
  apiKeyEnv: z.string().min(1).optional(),
});

export const PammConfig = z.strictObject({
  kind: z.enum(['ethereum', 'bsc']),
  builders: z.array(BuilderConfig),
});

export const ChainConfig = z.strictObject({
  chainId: z.number().int().positive(),
  name: z.string().min(1),
  /** Tried in order; `env:NAME` takes the URL from the environment. */
  rpcUrls: z
    .array(z.union([RpcUrl, EnvReference], { error: 'not an http(s) URL without a user and password, nor env:NAME' }))
    .min(1),
  /** All of them tell new heads, and the first to tell wins; `env:NAME` takes the URL from the environment. */
  wsUrls: z
    .array(z.union([WsUrl, EnvReference], { error: 'not a ws(s) URL without a user and password, nor env:NAME' }))
    .optional(),
  blockTimeMs: z.number().int().positive(),
  /** Pause between two looks for a new head while no socket tells any; without it looks come when blocks are due. */
  pollMs: z.number().int().min(100).optional(),
  /** Page that people look transactions up on, without a final slash. */
  explorerUrl: z
    .url({ protocol: /^https$/, error: 'not an https:// URL' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  multicall3: HexAddress.default(MULTICALL3),
  deployments: z.array(DeploymentConfig),
  pamm: PammConfig.optional(),
  readBudget: ReadBudgetConfig.prefault({}),
  warmBudget: WarmBudgetConfig.prefault({}),
});

export const TokenConfig = z.strictObject({
  chainId: z.number().int().positive(),
  address: HexAddress,
  logoUrl: z.url().optional(),
  brandColor: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/)
    .optional(),
  usdPegged: z.boolean().default(false),
  /** Feeds known to price this token. */
  feedIds: z.array(HexBytes32).default([]),
  /** Set for a tokenized stock: the only oracle that knows the issuer's multiplier. */
  multiplierOracle: HexAddress.optional(),
});

export const FiatPricesConfig = z.strictObject({
  source: z.enum(['static', 'defillama']),
  /** USD per whole token, by `chainId:address`; answers first, whatever the source. */
  prices: z
    .record(
      z
        .string()
        .regex(/^\d+:0x[0-9a-fA-F]{40}$/)
        .transform((key) => key.toLowerCase()),
      z.number().nonnegative(),
    )
    .default({}),
});

/** The web page that the API serves. */
export const ExplorerConfig = z.strictObject({
  /** What the page calls itself. */
  name: z.string().trim().min(1).max(60).default('Pool Trading Data'),
});

/** The file named by `CHAINS_CONFIG`. */
export const ChainsFile = z
  .strictObject({
    chains: z.array(ChainConfig).min(1),
    tokens: z.array(TokenConfig).default([]),
    explorer: ExplorerConfig.prefault({}),
    fiatPrices: FiatPricesConfig.prefault({ source: 'static' }),
    limits: LimitsConfig.prefault({}),
    quotes: QuotesConfig.prefault({}),
    routing: RoutingConfig.prefault({}),
    stream: StreamConfig.prefault({}),
  })
  .superRefine((file, ctx) => {
    const seen = new Set<number>();
    file.chains.forEach((chain, index) => {
      if (seen.has(chain.chainId)) {
        ctx.addIssue({ code: 'custom', message: `chain ${chain.chainId} is listed twice`, path: ['chains', index] });
      }
      seen.add(chain.chainId);
    });
  });

export type DeploymentConfig = z.infer<typeof DeploymentConfig>;
export type BuilderConfig = z.infer<typeof BuilderConfig>;
export type PammConfig = z.infer<typeof PammConfig>;
export type ChainConfig = z.infer<typeof ChainConfig>;
export type TokenConfig = z.infer<typeof TokenConfig>;
export type FiatPricesConfig = z.infer<typeof FiatPricesConfig>;
export type ExplorerConfig = z.infer<typeof ExplorerConfig>;
export type ChainsFile = z.infer<typeof ChainsFile>;
