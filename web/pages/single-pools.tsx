import { client, type Pool, type RoutePlan } from '../api.ts';
import { fillOf } from '../fill.ts';
import { bps, NOTHING } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { PairName, type Token } from '../parts/token.tsx';
import { usePolled } from '../polling.ts';
import { priceBetween, rawText } from './route-plan.tsx';

const EVERY_MS = 5_000;
/** Most pools that are shown. */
const SHOWN = 5;

type Props = {
  readonly plan: RoutePlan;
  readonly chainId: number;
  readonly tokens: ReadonlyMap<string, Token>;
  /** By TVL. */
  readonly pools: readonly Pool[];
};

/** Shows what each of the largest pools of both tokens would give for the whole order, beside the plan. */
export function SinglePools({ plan, chainId, tokens, pools }: Props) {
  const isExactIn = plan.tradeType === 'exact_in';
  const pair = [plan.tokenIn, plan.tokenOut].sort().join();
  const direct = pools.filter(({ token0, token1 }) => [token0, token1].sort().join() === pair).slice(0, SHOWN);
  const addresses = direct.map(({ poolAddress }) => poolAddress);
  const load = () => client.getBidAskBatch({ chainId, pools: addresses, depth: true });
  const { data, failure } = usePolled(addresses.length === 0 ? null : `${chainId}:${addresses}`, load, EVERY_MS);
  const [tokenIn, tokenOut] = [tokens.get(plan.tokenIn), tokens.get(plan.tokenOut)];
  // Quotes from before a failure have no age here, and are not of the plan beside them.
  if (!data || failure || !tokenIn || !tokenOut) return null;
  const given = BigInt(isExactIn ? plan.amountIn : plan.amountOut);
  return (
    <Scroll label="Single pools">
      <table class="singles">
        <caption>The whole order in one pool</caption>
        <thead>
          <tr>
            <th scope="col">Pool</th>
            {[isExactIn ? 'You receive' : 'You pay', 'Price', 'Beside the route'].map((title) => (
              <th key={title} scope="col" class="figure">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {direct.map((pool, index) => {
            const result = data.results[index];
            const quote = result && 'quote' in result ? result.quote : null;
            const fill = fillOf(quote, pool.token0 === plan.tokenIn, plan.tradeType, given);
            const [paid, received] = isExactIn ? [given, fill?.computed] : [fill?.computed, given];
            const x64 = paid && received ? (received << 64n) / paid : null;
            return (
              <tr key={pool.poolAddress}>
                <th scope="row">
                  <a href={`/pool/${chainId}/${pool.poolAddress}`}>
                    <PairName pool={pool} />
                  </a>
                </th>
                <td class="figure">
                  {fill ? rawText(String(fill.computed), isExactIn ? tokenOut : tokenIn) : 'not deep enough'}
                </td>
                <td class="figure">{x64 ? priceBetween(String(x64), tokenIn, tokenOut) : NOTHING}</td>
                <td class="figure">
                  {bps(x64 === null ? null : (Number(x64) / Number(plan.effectivePriceX64) - 1) * 10_000)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}
