import type { ServedChain } from '../chains-config.ts';
import type { LivePool } from '../live/live-pools.ts';
import type { ScenarioPool } from '../scenario/plan.ts';

export interface ExampleContext {
  readonly api: string;
  readonly apiKey: string;
  readonly market: ServedChain;
  readonly pool: ScenarioPool;
  /** One whose price lives with the builder. */
  readonly livePool: Pick<LivePool, 'address'>;
  /** File with the body of a quote update. */
  readonly quoteUpdate: string;
  /** Base address of the mock builder that is looked at. */
  readonly builder: string;
}

export interface Example {
  readonly shows: string;
  /** A line for any shell. */
  readonly line: string;
}

/** Whole tokens to sell: more than the best price alone takes. */
const AMOUNT = 10n;
const JSON_BODY = `-H 'Content-Type: application/json'`;

/** One request of each kind, to be copied from a terminal. */
export function examples({ api, apiKey, market, pool, livePool, ...context }: ExampleContext): readonly Example[] {
  const { quoteUpdate, builder } = context;
  const { tokens, pools } = market.scenario;
  const base = `${api}/public/v1/evm/${market.chainId}`;
  const batch = {
    pools: pools
      .filter(({ busy }) => busy)
      .slice(0, 3)
      .map(({ address }) => address),
    depth: false,
  };
  const decimals = tokens.find(({ address }) => address === pool.token0)?.decimals ?? 0;
  const order = { tokenIn: pool.token0, tokenOut: pool.token1, amountIn: String(AMOUNT * 10n ** BigInt(decimals)) };
  return [
    { shows: 'the chains', line: `curl -s ${api}/public/v1/chains` },
    {
      shows: 'the two best pools by tier and liquidity, with what they did in 24 hours',
      line: `curl -s '${base}/metadata?count=2&include24h=true'`,
    },
    { shows: 'what one pool pays and asks, bin by bin', line: `curl -s ${base}/${pool.address}/bid_ask` },
    {
      shows: 'what a pool pays in the block that is being built: its price lives with a builder until it lands',
      line: `curl -s '${base}/${livePool.address}/bid_ask?depth=false&basis=live'`,
    },
    {
      shows: 'the best prices of three pools at once',
      line: `curl -s ${JSON_BODY} -d '${JSON.stringify(batch)}' ${base}/bid_ask/batch`,
    },
    {
      shows: `the best way to sell ${AMOUNT} tokens, over several pools when that pays`,
      line: `curl -s ${JSON_BODY} -d '${JSON.stringify(order)}' ${base}/route`,
    },
    {
      shows: "a market maker's signed price, sent to five builders",
      line: `curl -s -H 'Authorization: Bearer ${apiKey}' ${JSON_BODY} -d @${quoteUpdate} ${base}/pamm-quote`,
    },
    { shows: 'what one of the builders has received', line: `curl -s ${builder}/received` },
  ];
}
