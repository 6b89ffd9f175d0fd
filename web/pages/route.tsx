import { ResponseError } from 'pool-trading-data-client/rest';
import { client, type RoutePlan, serverNow } from '../api.ts';
import { chains } from '../chains.ts';
import { curlOf } from '../curl.ts';
import { here } from '../location.ts';
import { AgeBadge, PRICE_LIMITS } from '../parts/age.tsx';
import { CurlBox } from '../parts/copy.tsx';
import { Notice, Skeleton } from '../parts/notice.tsx';
import { type Token, tokensOf } from '../parts/token.tsx';
import { usePolled } from '../polling.ts';
import { RouteForm } from './route-form.tsx';
import { bodyOf, type RouteBody, type RouteView, viewOf } from './route-order.ts';
import { PlanView } from './route-plan.tsx';

const EVERY_MS = 5_000;
const TOKENS_EVERY_MS = 60_000;
/** Number of pools, by highest TVL, whose tokens can be chosen. */
const POOLS = 200;

/** Shows what a trade would pay: the best route, its worst case, and the request for it. */
export function RoutePage() {
  const requested = viewOf(here.value.searchParams);
  const view = { ...requested, chain: requested.chain ?? chains.value?.[0]?.chainId ?? null };
  const key = view.chain === null ? null : `${view.chain}:${requested.tokenIn}:${requested.tokenOut}`;
  const { data: tokens, failure } = usePolled(key, () => loadTokens(view), TOKENS_EVERY_MS);
  return (
    <>
      <h1>Quote a trade</h1>
      {failure && <Notice tone="bad">{failure}</Notice>}
      {tokens ? <RouteForm key={key} view={view} tokens={tokens} /> : !failure && <Skeleton lines={3} />}
      {tokens && view.chain !== null && <Answer view={view} chainId={view.chain} tokens={tokens} />}
    </>
  );
}

/** Loads the tokens of the largest pools and those that the address names, ordered by symbol. */
async function loadTokens({ chain, tokenIn, tokenOut }: RouteView): Promise<readonly Token[]> {
  if (chain === null) return [];
  const pools = async (query: { count: number; search?: string }) =>
    (await client.listPools({ chainId: chain, ...query, sortBy: 'tvl', minTvlFiat: 0 })).data;
  const named = [tokenIn, tokenOut].filter((address) => address !== '').map((search) => pools({ count: 1, search }));
  const found = (await Promise.all([pools({ count: POOLS }), ...named])).flat().flatMap(tokensOf);
  const byAddress = new Map(found.map((token) => [token.address, token]));
  return [...byAddress.values()].sort((one, other) => (one.symbol ?? '~').localeCompare(other.symbol ?? '~'));
}

type AnswerProps = { readonly view: RouteView; readonly chainId: number; readonly tokens: readonly Token[] };

function Answer({ view, chainId, tokens }: AnswerProps) {
  const body = bodyOf(view, tokens);
  const path = `/public/v1/evm/${chainId}/route`;
  const request = typeof body === 'string' ? null : body;
  const key = request && `${path}:${JSON.stringify(request)}`;
  const { data, failure } = usePolled(key, () => findRoute(chainId, request), EVERY_MS);
  if (typeof body === 'string') return <Notice>{body}</Notice>;
  return (
    <section aria-live="polite" aria-busy={data === null}>
      {failure && <Notice tone="bad">{failure}</Notice>}
      {data === null && !failure && <Skeleton lines={4} />}
      {data && 'reason' in data && <Notice tone="bad">{data.reason}</Notice>}
      {data && 'plan' in data && (
        <>
          <AgeBadge at={data.at} limits={PRICE_LIMITS} of="quoted" />
          <PlanView {...{ chainId, plan: data.plan, slippageBps: view.slippageBps }} tokens={byAddress(tokens)} />
        </>
      )}
      <h2>The same from a terminal</h2>
      <CurlBox line={curlOf(location.origin, path, body)} />
    </section>
  );
}

const byAddress = (tokens: readonly Token[]) => new Map(tokens.map((token) => [token.address, token]));

/** Why there is no plan, by code of the error. */
const NO_PLAN: Readonly<Record<string, string>> = {
  no_route: 'No pool that can be traded on leads from one token to the other, directly or over one token between.',
  insufficient_liquidity: 'No path is deep enough for this amount. Try a smaller one.',
};

type Found = { readonly plan: RoutePlan; readonly at: number } | { readonly reason: string };

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
