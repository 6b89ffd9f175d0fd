import { ResponseError } from 'pool-trading-data-client/rest';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { client, type RoutePlan, serverNow } from '../api.ts';
import { chains } from '../chains.ts';
import { curlOf } from '../curl.ts';
import { go, here } from '../location.ts';
import { AgeBadge, PRICE_LIMITS } from '../parts/age.tsx';
import { CopyButton, CurlBox } from '../parts/copy.tsx';
import { Notice, Skeleton } from '../parts/notice.tsx';
import { tokensOf } from '../parts/token.tsx';
import { usePolled } from '../polling.ts';
import { RouteForm } from './route-form.tsx';
import { bodyOf, hrefOf, type RouteBody, type RouteView, usualAmount, viewOf } from './route-order.ts';
import { PlanView } from './route-plan.tsx';
import { SinglePools } from './single-pools.tsx';

const EVERY_MS = 5_000;
const TOKENS_EVERY_MS = 60_000;
/** Number of pools, by highest TVL, whose tokens can be chosen. */
const POOLS = 200;

/** Shows what a trade would pay: the best route, its worst case, and the request for it. */
export function RoutePage() {
  const requested = viewOf(here.value.searchParams);
  const view = { ...requested, chain: requested.chain ?? chains.value?.[0]?.chainId ?? null };
  const { data: market, failure } = useMarket(view);
  // Before the form is shown: later, it would replace an amount that is typed meanwhile.
  useLayoutEffect(() => {
    const usual = market?.mostTraded;
    if (!usual || view.tokenIn !== '' || view.tokenOut !== '') return;
    const [tokenIn, tokenOut] = tokensOf(usual);
    const amount = view.amount || usualAmount(tokenIn, usual.token0FiatPrice);
    go(hrefOf({ ...view, tokenIn: tokenIn.address, tokenOut: tokenOut.address, amount }), true);
  }, [market]);
  return (
    <>
      <h1>Quote a trade</h1>
      {failure && <Notice tone="bad">{failure}</Notice>}
      {market ? <RouteForm view={view} tokens={market.tokens} /> : !failure && <Skeleton lines={3} />}
      {market && view.chain !== null && <Answer view={view} chainId={view.chain} market={market} />}
    </>
  );
}

function useMarket({ chain, tokenIn, tokenOut }: RouteView) {
  // Tokens that are chosen later are among those that are known.
  const named = useMemo(() => [tokenIn, tokenOut].filter((address) => address !== ''), [chain]);
  const load = () => loadMarket(chain ?? 0, named);
  return usePolled(chain === null ? null : `${chain}:${named}`, load, TOKENS_EVERY_MS);
}

type Market = Awaited<ReturnType<typeof loadMarket>>;

/**
 * Loads the largest pools, and the tokens, by symbol, of these, of the most traded pool, and that the address names.
 * Anyone can trade with themselves in a pool of a token that looks like another one: it is red.
 */
async function loadMarket(chainId: number, named: readonly string[]) {
  const list = async (query: { count: number; search?: string; sortBy: 'tvl' | 'volume'; tier?: string }) =>
    (await client.listPools({ chainId, ...query, minTvlFiat: 0 })).data;
  const [pools, traded, ...others] = await Promise.all([
    list({ count: POOLS, sortBy: 'tvl' }),
    list({ count: 1, sortBy: 'volume', tier: 'green,yellow' }),
    ...named.map((search) => list({ count: 1, sortBy: 'tvl', search })),
  ]);
  const tokens = [...pools, ...traded, ...others.flat()].flatMap(tokensOf);
  const byAddress = new Map(tokens.map((token) => [token.address, token]));
  const bySymbol = [...byAddress.values()].sort((one, other) => (one.symbol ?? '~').localeCompare(other.symbol ?? '~'));
  return { pools, tokens: bySymbol, mostTraded: traded[0] };
}

type AnswerProps = { readonly view: RouteView; readonly chainId: number; readonly market: Market };

function Answer({ view, chainId, market }: AnswerProps) {
  const body = bodyOf(view, market.tokens);
  const path = `/public/v1/evm/${chainId}/route`;
  const request = typeof body === 'string' ? null : body;
  const key = request && `${path}:${JSON.stringify(request)}`;
  const { data, failure } = usePolled(key, () => findRoute(chainId, request), EVERY_MS);
  if (typeof body === 'string') return <Notice>{body}</Notice>;
  const line = curlOf(location.origin, path, body);
  const tokens = new Map(market.tokens.map((token) => [token.address, token]));
  return (
    <section aria-live="polite" aria-busy={data === null}>
      {failure && <Notice tone="bad">{failure}</Notice>}
      {data === null && !failure && <Skeleton lines={4} />}
      {data && 'reason' in data && <Notice tone="bad">{data.reason}</Notice>}
      {data && 'plan' in data && (
        <>
          <div class="title">
            <AgeBadge at={data.at} limits={PRICE_LIMITS} of="quoted" />
            <CopyButton text={line} label="Copy the call" isNamed />
          </div>
          <PlanView {...{ chainId, plan: data.plan, slippageBps: view.slippageBps, tokens, pools: market.pools }} />
          <SinglePools {...{ chainId, plan: data.plan, tokens, pools: market.pools }} />
        </>
      )}
      <h2>The same from a terminal</h2>
      <CurlBox line={line} />
    </section>
  );
}

/** Why there is no plan, by code of the error. */
const NO_PLAN: Readonly<Record<string, string>> = {
  no_route: 'No pool that can be traded on leads from one token to the other, directly or over one token between.',
  insufficient_liquidity: 'No path is deep enough for this amount. Try a smaller one.',
};

/** A plan and when it was found, Unix seconds, or why there is none. */
type Found = { readonly plan: RoutePlan; readonly at: number } | { readonly reason: string };

/** @throws any other error of the service */
async function findRoute(chainId: number, body: RouteBody | null): Promise<Found> {
  if (body === null) throw new Error('nothing is asked');
  try {
    const plan = await client.findRoute({ chainId, ...body });
    return { plan, at: serverNow() };
  } catch (error) {
    const reason = error instanceof ResponseError ? NO_PLAN[error.code ?? ''] : undefined;
    if (reason === undefined) throw error;
    return { reason };
  }
}
