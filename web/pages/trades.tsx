import { client, type Trade } from '../api.ts';
import { explorerPage } from '../chains.ts';
import { age, count, moment, NOTHING, priceExact, priceText, tokenAmount } from '../format.ts';
import { now } from '../parts/age.tsx';
import { Hex } from '../parts/copy.tsx';
import { Notice, Skeleton } from '../parts/notice.tsx';
import { nameOf, type Token } from '../parts/token.tsx';
import { usePolled } from '../polling.ts';
import { priceOfX64, wholeTokens } from '../quantities.ts';

const EVERY_MS = 3_000;
const SHOWN = 50;

type Props = { readonly chainId: number; readonly pool: string; readonly tokens: readonly [Token, Token] };

/** The last trades of a pool. */
export function Trades({ chainId, pool, tokens }: Props) {
  const load = (signal: AbortSignal) => client.listTrades({ chainId, poolAddress: pool, limit: SHOWN }, { signal });
  const { data, failure } = usePolled(`${chainId}:${pool}`, load, EVERY_MS);
  if (!data) return failure ? <Notice tone="bad">{failure}</Notice> : <Skeleton lines={5} />;
  if (data.data.length === 0) return <Notice>Nobody has traded here yet.</Notice>;
  return (
    <>
      {failure && <Notice tone="bad">{failure}</Notice>}
      <table class="trades">
        <caption class="offscreen">Last {count(SHOWN)} trades, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Side</th>
            <th scope="col" class="figure">
              Price
            </th>
            {tokens.map((token) => (
              <th key={token.address} scope="col" class="figure">
                <bdi>{nameOf(token)}</bdi>
              </th>
            ))}
            <th scope="col" class="figure">
              Age
            </th>
            <th scope="col" class="wide">
              Transaction
            </th>
          </tr>
        </thead>
        <tbody>
          {data.data.map((trade) => (
            <TradeRow key={`${trade.blockNumber}-${trade.logIndex}`} chainId={chainId} trade={trade} tokens={tokens} />
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Names the side of a trade as a trader of token0 does. */
const sideOf = (zeroForOne: boolean | null) => (zeroForOne === null ? NOTHING : zeroForOne ? 'sell' : 'buy');

function TradeRow({
  chainId,
  trade,
  tokens,
}: {
  readonly chainId: number;
  readonly trade: Trade;
  readonly tokens: Props['tokens'];
}) {
  const { zeroForOne, priceX64, amount0Raw, amount1Raw, timestamp, transactionHash } = trade;
  const price = priceX64 === null ? null : priceOfX64(priceX64);
  const tone = zeroForOne === null ? 'mute' : zeroForOne ? 'bad' : 'good';
  return (
    <tr>
      <td class={`tone ${tone}`}>{sideOf(zeroForOne)}</td>
      <td class="figure" title={priceExact(price)}>
        {priceText(price)}
      </td>
      <Amount raw={amount0Raw} token={tokens[0]} />
      <Amount raw={amount1Raw} token={tokens[1]} />
      <td class="figure" title={moment(timestamp)}>
        {age(now.value - timestamp)}
      </td>
      <td class="wide">
        <Hex value={transactionHash} href={explorerPage(chainId, 'tx', transactionHash)} label="transaction" />
      </td>
    </tr>
  );
}

function Amount({ raw, token: { decimals } }: { readonly raw: string; readonly token: Token }) {
  if (decimals === null) return <td class="figure">{NOTHING}</td>;
  const whole = wholeTokens(BigInt(raw.replace('-', '')), decimals);
  return (
    <td class="figure" title={whole}>
      {tokenAmount(whole)}
    </td>
  );
}
