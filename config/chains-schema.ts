import { z } from 'zod';
import { LAYOUT_NAMES } from '../protocol/layouts/event-layouts.ts';
import { LimitsConfig } from './limits-schema.ts';
import { LiveConfig } from './live-schema.ts';
import { PammConfig } from './pamm-schema.ts';
import { QuotesConfig } from './quotes-schema.ts';
import { ReadBudgetConfig, WarmBudgetConfig } from './read-budget-schema.ts';
import { HexAddress, HexBytes32, Name, NaturalInt, PositiveInt, RpcUrlOrEnv, WsUrlOrEnv } from './scalars.ts';
import { StreamConfig } from './stream-schema.ts';

/** Address of Multicall3 on nearly every chain. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';

const optionalAddress = HexAddress.optional();

/** Interpretations of what is not public about packed pools. Those set here hold, whatever calibration decides. */
export const PackedInterpretations = z.strictObject({
  details: z.enum(['flagsFirst', 'positionFirst']).optional(),
  fees: z.enum(['token', 'kind']).optional(),
  platformFees: z.enum(['token', 'kind']).optional(),
  notional: z.enum(['input', 'unspecified']).optional(),
});

/** One factory and its contracts. Required is what they are read by: release, layout, first block, factory. */
export const DeploymentConfig = z
  .strictObject({
    contractVersion: Name.describe('Contract release as clients see it, such as `v1`.'),
    enabled: z.boolean().default(true).describe('`false` neither indexes nor serves it.'),
    layout: Name.describe(
      `Event and storage layout: ${LAYOUT_NAMES.map((name) => `\`${name}\``).join(' or ')}; a deployment of another must be disabled.`,
    ),
    fromBlock: NaturalInt.describe('Block that created the factory, where indexing starts.'),
    poolFactory: HexAddress.describe('The pool factory.'),
    discover: z
      .boolean()
      .optional()
      .describe(
        'Whether the indexer looks for contracts that are missing here when it begins an index ([discovery](configure.md#discovery)). Default: for `packed` only.',
      ),
    poolDeployer: optionalAddress.describe(
      'Pool deployer, as pool records show it. A contract that is missing here has no field there.',
    ),
    liquidityAdder: optionalAddress.describe('Liquidity adder, likewise.'),
    dataProvider: optionalAddress.describe('Data provider, likewise.'),
    quoter: optionalAddress.describe('Swap quoter, likewise.'),
    router: optionalAddress.describe(
      'Router of the standard face (`IPropAMM`) that swaps of its pools may be sent to: pool records, `/tokens` and [quotes for takers](../use/takers.md#json-rpc) name it.',
    ),
    depositAllowlist: optionalAddress.describe('Standard extension, by which extensions of pools are recognised.'),
    stopLoss: optionalAddress.describe('Likewise.'),
    stopLossMark: z
      .enum(['mid', 'mean', 'bidAsk'])
      .optional()
      .describe(
        'Price at which that stop loss values bins: `mid` (geometric mean of bid and ask), `mean` (arithmetic) or `bidAsk` (bid in token0, ask in token1). Default: `mean` for flat pools, for packed ones what [calibration](operate.md#calibration) finds. With a wrong one offered depth may not fill; the log names the one that fits.',
      ),
    priceVelocityGuard: optionalAddress.describe('Standard extension.'),
    swapAllowlist: optionalAddress.describe('Standard extension.'),
    packed: PackedInterpretations.optional().describe(
      'Interpretations of packed pools that hold whatever [calibration](operate.md#calibration) decides; each may be left out: `details` (`flagsFirst`, `positionFirst`), `fees` and `platformFees` (`token`, `kind`), `notional` (`input`, `unspecified`: the token of the notional fee).',
    ),
    anchoredProviderFactories: z.array(HexAddress).default([]).describe('Factories of anchored price providers.'),
    providerFactories: z
      .array(z.strictObject({ address: HexAddress, l2: z.boolean().default(false) }))
      .default([])
      .describe(
        'Factories of regular price providers: `{ "address": …, "l2": true }` for the kind of layer-2 chains, without `l2` for the other.',
      ),
  })
  .refine((d) => !d.enabled || LAYOUT_NAMES.includes(d.layout), {
    error: `this build supports the layouts ${LAYOUT_NAMES.join(', ')} only: set "enabled": false`,
    path: ['layout'],
  });

/** What listing sites read of a chain. */
const AdaptersConfig = z
  .strictObject({
    lagBlocks: NaturalInt.describe('How far `latest-block` is behind the index, instead of final.'),
  })
  .describe('What [listing sites](../use/listing-sites.md#the-newest-block) read; optional.');

export const ChainConfig = z.strictObject({
  chainId: PositiveInt.describe('EVM chain id, each once.'),
  name: Name.describe('The `chain` of pool records.'),
  rpcUrls: z
    .array(RpcUrlOrEnv)
    .min(1)
    .describe(
      '`http(s)` URLs of nodes, in order; redirections are not followed; `env:NAME` takes one from the environment.',
    ),
  wsUrls: z
    .array(WsUrlOrEnv)
    .optional()
    .describe(
      '`ws(s)` URLs of nodes that push new heads (`eth_subscribe`, `newHeads`); without any the chain is polled. `env:NAME` as above.',
    ),
  blockTimeMs: PositiveInt.describe(
    'Usual time between blocks, milliseconds: sets polling and how long a snapshot is fresh. A process that starts warns when headers differ by more than a third, and goes by these.',
  ),
  explorerUrl: z
    .url({ protocol: /^https$/, error: 'not an https:// URL' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe(
      '`https` address of a block explorer: clients get it, and the web page links `/tx/…` and `/address/…` below it.',
    ),
  multicall3: HexAddress.default(MULTICALL3).describe('Address of Multicall3, the usual one by default.'),
  deployments: z
    .array(DeploymentConfig)
    .describe(
      'Factories on this chain; may be empty. Each needs `contractVersion`, `layout`, `fromBlock` and `poolFactory`.',
    ),
  pamm: PammConfig.optional(),
  live: LiveConfig.optional(),
  v0FromBlock: NaturalInt.optional().describe(
    'Block from which trades of the [oldest generation](configure.md#the-oldest-generation) of pools are indexed; none without it.',
  ),
  adapters: AdaptersConfig.optional(),
  readBudget: ReadBudgetConfig.prefault({}).describe(
    "What capture's scheduled reads may cost the nodes of the chain ([read budget](operate.md#read-budget)). The defaults suit a free node and a thousand funded pools.",
  ),
  warmBudget: WarmBudgetConfig.prefault({}).describe(
    'What reading [requested pools](../use/quotes.md#requested-pools) at each new block may cost the nodes, for each API process.',
  ),
});

export const TokenConfig = z.strictObject({
  chainId: PositiveInt.describe('Chain of the token.'),
  address: HexAddress.describe('The token.'),
  logoUrl: z.url().optional().describe('Picture of it in pool records.'),
  brandColor: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/)
    .optional()
    .describe('Its colour in pool records, as `#rrggbb`.'),
  usdPegged: z.boolean().default(false).describe('`true` counts as one US dollar where a feed is quoted in dollars.'),
  feedIds: z.array(HexBytes32).default([]).describe('32-byte ids of the oracle feeds known to price this token.'),
  multiplierOracle: HexAddress.optional().describe(
    "Marks a tokenized stock: the only oracle that knows the issuer's multiplier.",
  ),
});

export const FiatPricesConfig = z.strictObject({
  source: z
    .enum(['static', 'defillama'])
    .describe('`static` (only `prices`) or `defillama` (asks DefiLlama for the others).'),
  prices: z
    .record(
      z
        .string()
        .regex(/^\d+:0x[0-9a-fA-F]{40}$/)
        .transform((key) => key.toLowerCase()),
      z.number().nonnegative(),
    )
    .default({})
    .describe('USD per whole token, by `chainId:address`; comes first, whatever the source.'),
});

/** The web page that the API serves. */
export const ExplorerConfig = z.strictObject({
  name: z.string().trim().min(1).max(60).default('Pool Trading Data').describe('What the page calls itself.'),
});

/** How long capture keeps quotes of pools. It drops whole days. */
export const HistoryConfig = z.strictObject({
  quoteMinuteDays: PositiveInt.default(7).describe('Days of samples of each minute.'),
  quoteHourDays: PositiveInt.default(90).describe('Days of bars of each hour.'),
  persistencePools: NaturalInt.default(200).describe(
    'Pools of a chain, the most valuable ones, whose depth is read and whose quotes are [compared](../use/ranking.md) once a minute while the read budget has calls to spare.',
  ),
});

/** The file named by `CHAINS_CONFIG`. */
export const ChainsFile = z
  .strictObject({
    chains: z.array(ChainConfig).min(1).describe('The chains that are served.'),
    tokens: z.array(TokenConfig).default([]).describe('What the operator knows about tokens.'),
    explorer: ExplorerConfig.prefault({}).describe('The web page that the API serves.'),
    fiatPrices: FiatPricesConfig.prefault({ source: 'static' }).describe('Where USD prices come from.'),
    history: HistoryConfig.prefault({}).describe('What is kept of quotes of funded pools.'),
    limits: LimitsConfig.prefault({}).describe(
      'Request rates, counted per client address (`anonymous`) or valid key (`keyed`). A batch counts once whatever it names; a key does not raise listings.',
    ),
    quotes: QuotesConfig.prefault({}).describe(
      'How the API reads pools from the chains. The defaults fit public chains.',
    ),
    stream: StreamConfig.prefault({}).describe(
      'Connections of [streams](../use/stream.md), SSE and WebSocket together, for each API process. Clients do not see the values.',
    ),
  })
  .superRefine(({ chains }, ctx) => {
    const ids = chains.map(({ chainId }) => chainId);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice !== undefined) ctx.addIssue(`chain ${twice} is listed twice`);
  });

export type DeploymentConfig = z.infer<typeof DeploymentConfig>;
export type ChainConfig = z.infer<typeof ChainConfig>;
export type TokenConfig = z.infer<typeof TokenConfig>;
export type FiatPricesConfig = z.infer<typeof FiatPricesConfig>;
export type HistoryConfig = z.infer<typeof HistoryConfig>;
export type ExplorerConfig = z.infer<typeof ExplorerConfig>;
export type ChainsFile = z.infer<typeof ChainsFile>;
